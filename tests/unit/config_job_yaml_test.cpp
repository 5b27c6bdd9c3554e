// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/config.hpp"

namespace weft::config {
namespace {

using ::testing::ElementsAre;

Source text(std::string value) { return std::make_shared<const SourceText>("j.yaml", std::move(value)); }

JobSpec job(const std::string& body) {
  const auto got = parse_job_yaml(text("weft: 1\n" + body));
  EXPECT_TRUE(got.has_value()) << got.error().to_string();
  return got.value_or(JobSpec());
}

TEST(JobYaml, ReadsTheExampleWhole) {
  const auto source = read_source(WEFT_SOURCE_DIR "/config/examples/llama3-70b.yaml");
  ASSERT_TRUE(source.has_value());
  const auto got = parse_job_yaml(*source);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(got->name, "llama3-70b");
  EXPECT_EQ(got->nodes, 8U);
  EXPECT_EQ(got->ranks_per_node, 8U);
  ASSERT_TRUE(got->layout.has_value());
  EXPECT_THAT(got->layout->size, ElementsAre(8, 1, 1, 4, 2));
  EXPECT_THAT(got->layout->order, ElementsAre(Dim::tp, Dim::cp, Dim::ep, Dim::dp, Dim::pp));
  ASSERT_EQ(got->traffic.size(), 4U);
  EXPECT_EQ(got->traffic[0].dim, Dim::tp);
  EXPECT_EQ(got->traffic[0].bytes, Bytes{12ULL << 30});
  EXPECT_EQ(got->traffic[1].collective, Collective::reduce_scatter);
  EXPECT_EQ(got->traffic[2].collective, Collective::allgather);
  EXPECT_EQ(got->traffic[2].dim, Dim::dp);
  EXPECT_EQ(got->traffic[3].collective, Collective::neighbour);
  EXPECT_EQ(got->constraints.segment, 4U);
  EXPECT_EQ(got->constraints.segment_level, LevelName::leaf);
  EXPECT_EQ(got->constraints.max_leaves, 2U);
  EXPECT_FALSE(got->constraints.max_pods.has_value());
  EXPECT_EQ(got->constraints.excluded_nodes->value, "gpu[30-32]");
}

TEST(JobYaml, ReadsAModel) {
  const auto source = read_source(WEFT_SOURCE_DIR "/config/examples/moe-model.yaml");
  ASSERT_TRUE(source.has_value());
  const auto got = parse_job_yaml(*source);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  ASSERT_TRUE(got->model.has_value());
  EXPECT_DOUBLE_EQ(got->model->parameters.value(), 46.7e9);
  EXPECT_EQ(got->model->experts, 8U);
  EXPECT_EQ(got->model->precision, "bf16");
  EXPECT_EQ(got->model->sequence_parallel, true);
  EXPECT_FALSE(got->dp_given);
  EXPECT_EQ(got->cross_rail, CrossRail::pxn);
  EXPECT_EQ(got->constraints.exclusive, LevelName::leaf);
}

TEST(JobYaml, TheJobsAlgorithmIsWhatTermsTakeThatNameNone) {
  const JobSpec got =
      job("nodes: 2\nalgorithm: tree\ntraffic:\n  dp: {collective: allreduce, bytes: 1B}\n"
          "  tp: {collective: allreduce, bytes: 1B, algorithm: ring}\n");
  EXPECT_EQ(got.algorithm, Algorithm::tree);
  EXPECT_EQ(got.traffic[0].algorithm, Algorithm::tree);
  EXPECT_EQ(got.traffic[1].algorithm, Algorithm::ring);
}

TEST(JobYaml, AnOrderMayLeaveOutAnEpOfOne) {
  EXPECT_THAT(job("nodes: 2\nlayout: {tp: 2, order: pp-dp-cp-tp}\n").layout->order,
              ElementsAre(Dim::pp, Dim::ep, Dim::dp, Dim::cp, Dim::tp));
}

TEST(ResolveLayout, FillsDpIn) {
  const JobSpec got = job("nodes: 64\nlayout: {tp: 8, pp: 4, ep: 8}\n");
  const auto layout = resolve_layout(got, 512);
  ASSERT_TRUE(layout.has_value()) << layout.error().to_string();
  EXPECT_THAT(layout->size, ElementsAre(8, 1, 8, 4, 16));
  EXPECT_EQ(
      resolve_layout(got, 96).error().to_string(),
      "j.yaml:3:1: error: ep 8 does not divide dp 3 x cp 1 = 3; expected an ep that cuts dp x cp into equal runs\n"
      "  layout: {tp: 8, pp: 4, ep: 8}\n"
      "  ^^^^^^");
}

TEST(ResolveLayout, WithoutALayoutAllRanksAreDataParallel) {
  const auto layout = resolve_layout(job("nodes: 3\n"), 24);
  ASSERT_TRUE(layout.has_value());
  EXPECT_THAT(layout->size, ElementsAre(1, 1, 1, 1, 24));
}

TEST(ResolveLayout, ShowsTheArithmetic) {
  const JobSpec got = job("nodes: 60\nlayout: {tp: 8, cp: 1, pp: 4, dp: 16}\n");
  EXPECT_EQ(resolve_layout(got, 480).error().message,
            "tp 8 x cp 1 x pp 4 x dp 16 = 512 ranks, but 60 nodes x 8 ranks = 480");
  EXPECT_EQ(resolve_layout(got, 481).error().message, "tp 8 x cp 1 x pp 4 x dp 16 = 512 ranks, but the job has 481");
}

}  // namespace
}  // namespace weft::config
