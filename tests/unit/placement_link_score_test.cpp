// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "link_fixtures.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using namespace links_test;
using Ends = std::pair<std::string, std::string>;

constexpr const char* kRing = "nodes: 4\nranks_per_node: 1\ntraffic: {dp: {collective: allreduce, bytes: 4GB}}\n";
constexpr const char* kPair2G = "nodes: 2\nranks_per_node: 1\ntraffic: {dp: {collective: allreduce, bytes: 2GB}}\n";
constexpr const char* kPair6G = "nodes: 2\nranks_per_node: 1\ntraffic: {dp: {collective: allreduce, bytes: 6GB}}\n";

ScoreOptions with(Routing routing) {
  ScoreOptions out;
  out.links.routing = routing;
  return out;
}

Score scored(const topology::Fabric& f, const Placement& p, const Job& j, const ScoreOptions& options) {
  auto out = score(f, p, j.traffic, options);
  EXPECT_TRUE(out.has_value()) << out.error().to_string();
  return std::move(*out);
}

TEST(LinkScore, RingOverTwoLeaves) {
  const auto f = build(two_tier());
  const Job j = job(f, kRing);
  const Score s = scored(f, on(f, {"a1", "a2", "b1", "b2"}), j, with(Routing::spray));
  // 2 * 4 GB * 3/4 = 6 GB on each edge a1>a2>b1>b2>a1: 6 s on each NIC of 1 GB/s, 3 s on each spine link.
  ASSERT_TRUE(s.links.has_value());
  const LinkScore& l = *s.links;
  EXPECT_EQ(end_names(f, l.bottleneck->link), (Ends{"a1", "l1"}));
  EXPECT_EQ(l.bottleneck->bytes, 6e9);
  EXPECT_EQ(l.bottleneck->seconds, 6);
  // 2 * 3 network steps, 3 switches at most: 8.4 + 6 * (14 + 0.9) = 97.8 us.
  ASSERT_EQ(l.dimensions.size(), 1U);
  EXPECT_EQ(l.dimensions[0].dim, config::Dim::dp);
  EXPECT_NEAR(l.dimensions[0].latency_seconds, 97.8e-6, 1e-12);
  EXPECT_NEAR(l.dimensions[0].seconds, 6.0000978, 1e-9);
  EXPECT_EQ(l.dimensions[0].slowest, l.bottleneck);
  EXPECT_FALSE(l.dimensions[0].nvlink_bound);
  EXPECT_NEAR(l.step_comm_seconds, 6.0000978, 1e-9);
  EXPECT_NEAR(l.max_utilisation, 6 / 6.0000978, 1e-9);
  EXPECT_FALSE(l.ecmp.has_value());
  EXPECT_FALSE(l.shared.has_value());
}

TEST(LinkScore, FlowsOfAMatrixLoadLinksAndTakeTime) {
  const auto f = build(two_tier());
  Job j = job(f, "nodes: 4\nranks_per_node: 1\n");
  j.traffic.direct = {{0, 1, 3'000'000'000}, {0, 2, 2'000'000'000}, {3, 0, 1'000'000'000}};
  const LinkScore l = *scored(f, on(f, {"a1", "a2", "b1", "b2"}), j, with(Routing::spray)).links;
  // a1 sends 5 GB over its one NIC of 1 GB/s; 8.4 + 14 + 3 * 0.3 us besides.
  ASSERT_TRUE(l.direct.has_value());
  EXPECT_TRUE(l.dimensions.empty());
  EXPECT_EQ(end_names(f, l.bottleneck->link), (Ends{"a1", "l1"}));
  EXPECT_EQ(l.direct->slowest, l.bottleneck);
  EXPECT_EQ(l.bottleneck->seconds, 5);
  EXPECT_NEAR(l.direct->latency_seconds, 23.3e-6, 1e-12);
  EXPECT_NEAR(l.direct->seconds, 5 + 23.3e-6, 1e-9);
  EXPECT_EQ(l.direct->exposed_seconds, l.direct->seconds);
  EXPECT_EQ(l.step_comm_seconds, l.direct->seconds);
  EXPECT_NEAR(l.max_utilisation, 5 / 5.0000233, 1e-9);
}

TEST(LinkScore, WithoutRoutingThereIsNone) {
  const auto f = build(two_tier());
  EXPECT_FALSE(scored(f, on(f, {"a1", "a2", "b1", "b2"}), job(f, kRing), {}).links.has_value());
}

TEST(LinkScore, ASlowCableHoldsUpAllAndIsNamed) {
  const auto f = build(two_tier("1", "health:\n  - {link: [l1, s1], bandwidth: 1Gb/s}\n"));
  const LinkScore l = *scored(f, on(f, {"a1", "a2", "b1", "b2"}), job(f, kRing), with(Routing::spray)).links;
  EXPECT_EQ(end_names(f, l.bottleneck->link), (Ends{"l1", "s1"}));
  EXPECT_EQ(l.bottleneck->bytes, 3e9);
  EXPECT_EQ(l.bottleneck->seconds, 24);
  EXPECT_EQ(l.dimensions[0].slowest, l.bottleneck);
}

TEST(LinkScore, EfficiencyOverlapAndLatencyComeFromTheModel) {
  const auto f = build(two_tier());
  ScoreOptions options = with(Routing::spray);
  options.links.time_model.efficiency.ring = 0.5;
  options.links.time_model.overlap[static_cast<std::size_t>(config::Dim::dp)] = 0.75;
  options.links.time_model.launch = {1};
  options.links.time_model.network_step = {0.5};
  options.links.time_model.hop = {0.125};
  const LinkScore l = *scored(f, on(f, {"a1", "a2", "b1", "b2"}), job(f, kRing), options).links;
  // 1 + 6 * (0.5 + 3 * 0.125) = 6.25 s of latency, 6 s / 0.5 of transfer; a quarter of it is exposed.
  EXPECT_EQ(l.dimensions[0].latency_seconds, 6.25);
  EXPECT_EQ(l.dimensions[0].seconds, 18.25);
  EXPECT_EQ(l.dimensions[0].exposed_seconds, 18.25 / 4);
  EXPECT_EQ(l.step_comm_seconds, 18.25 / 4);
  EXPECT_EQ(l.max_utilisation, 6 / 18.25);
}

// Two nodes of two GPUs on one leaf; NVLink 100 GB/s, or none.
std::string pairs(const std::string& nvlink) {
  return "weft: 1\nname: p\nnode_types:\n  t: {gpus: 2, nics: 2, nvlink: {domain: " + nvlink +
         "}}\nswitches:\n  - {name: l1}\nnodes:\n  - {name: \"a[1-2]\", type: t}\nlinks:\n"
         "  - {from: \"a[1-2]\", to: l1, pattern: all, bandwidth: 8Gb/s}\n";
}
constexpr const char* kTp =
    "nodes: 2\nranks_per_node: 2\nlayout: {tp: 2, dp: 2}\ntraffic: {tp: {collective: allreduce, bytes: 1GB}}\n";

TEST(LinkScore, NvlinkCarriesWhatStaysInside) {
  const auto f = build(pairs("node, bandwidth: 100GB/s"));
  const LinkScore l = *scored(f, on(f, {"a1", "a2"}, 2), job(f, kTp), with(Routing::spray)).links;
  EXPECT_FALSE(l.bottleneck.has_value());
  EXPECT_EQ(l.max_utilisation, 0);
  // 1 GB each way at 100 GB/s; two steps inside: 8.4 + 2 * 3.4 us.
  ASSERT_EQ(l.dimensions.size(), 1U);
  EXPECT_NEAR(l.dimensions[0].seconds, 0.01 + 15.2e-6, 1e-12);
  EXPECT_TRUE(l.dimensions[0].nvlink_bound);
  EXPECT_FALSE(l.dimensions[0].slowest.has_value());
  const auto without = build(pairs("none"));
  const LinkScore pcie = *scored(without, on(without, {"a1", "a2"}, 2), job(without, kTp), with(Routing::spray)).links;
  EXPECT_NEAR(pcie.dimensions[0].seconds, 1.0 / 64 + 15.2e-6, 1e-12);  // 64 GB/s
}

TEST(LinkScore, PxnForwardsOverNvlinkBeforeTheRail) {
  // NVLink slower than the NICs: a rank that sends over its neighbour's NIC waits for NVLink.
  const auto f = build(pairs("node, bandwidth: 1Gb/s"));
  const Job j = job(f,
                    "nodes: 2\nranks_per_node: 2\nlayout: {ep: 4, dp: 4}\n"
                    "traffic: {ep: {collective: alltoall, bytes: 4GB}}\n");
  // Each rank sends 1 GB to each other one: one inside, one on its own rail, one over the other rail by way of NVLink.
  const LinkScore l = *scored(f, on(f, {"a1", "a2"}, 2), j, with(Routing::spray)).links;
  EXPECT_TRUE(l.dimensions[0].nvlink_bound);
  EXPECT_NEAR(l.dimensions[0].seconds - l.dimensions[0].latency_seconds, 2 / 0.125, 1e-9);
  EXPECT_EQ(l.bottleneck->bytes, 2e9);
  EXPECT_EQ(l.bottleneck->seconds, 2);
}

TEST(LinkScore, RunningJobsAndThisOneSlowEachOther) {
  const auto f = build(two_tier());
  const Job small = job(f, kPair2G);
  const Job big = job(f, kPair6G);
  const Placement a = on(f, {"a1", "b1"});
  const Placement b = on(f, {"a2", "b2"});
  ScoreOptions options = with(Routing::spray);
  options.links.running = {{"big", &b, &big.traffic}};
  const LinkScore l = *scored(f, a, small, options).links;
  // Alone 2 GB on a NIC and 1 GB on each spine link; with the other's 3 GB, 4 GB there.
  EXPECT_EQ(l.bottleneck->seconds, 2);
  EXPECT_EQ(end_names(f, l.shared->link), (Ends{"l1", "s1"}));
  EXPECT_EQ(l.shared->bytes, 4e9);
  EXPECT_EQ(l.shared->seconds, 4);
  // The big job's own NICs, 6 s, stay what it waits for.
  ASSERT_EQ(l.running.size(), 1U);
  EXPECT_EQ(l.running[0].name, "big");
  EXPECT_EQ(end_names(f, l.running[0].before->link), (Ends{"a2", "l1"}));
  EXPECT_EQ(l.running[0].before, l.running[0].after);
  // The other way round, the small one suffers.
  options.links.running = {{"small", &a, &small.traffic}};
  const LinkScore other = *scored(f, b, big, options).links;
  EXPECT_EQ(other.running[0].before->seconds, 2);
  EXPECT_EQ(other.running[0].after->seconds, 4);
  EXPECT_EQ(end_names(f, other.running[0].after->link), (Ends{"l1", "s1"}));
}

TEST(LinkScore, EcmpReportsItsDrawAndTheMeanOfDraws) {
  const auto f = build(two_tier("2"));
  const Job j = job(f, kPair6G);
  const Placement p = on(f, {"a1", "b1"});
  ScoreOptions options = with(Routing::ecmp);
  options.links.ecmp_seed = 5;
  options.links.ecmp_draws = 3;
  const LinkScore l = *scored(f, p, j, options).links;
  const std::vector<NicFlow> flows{flow(f, "a1", "b1", 6e9), flow(f, "b1", "a1", 6e9)};
  double mean = 0;
  for (std::uint64_t seed = 5; seed < 8; ++seed) mean += draw_ecmp(f, flows, seed)->worst->seconds / 3;
  EXPECT_EQ(l.bottleneck, draw_ecmp(f, flows, 5)->worst);
  EXPECT_EQ(*l.ecmp, (LinkScore::Ecmp{5, 3, 6, mean}));
}

TEST(LinkScore, Refuses) {
  const auto f = build(two_tier());
  const Job j = job(f, kPair2G);
  const Placement p = on(f, {"a1", "b1"});
  const auto fixed = score(f, p, j.traffic, with(Routing::forwarding_tables));
  ASSERT_FALSE(fixed.has_value());
  EXPECT_EQ(fixed.error().to_string(), "error: static routing without forwarding tables; expected LinkOptions::tables");
  const Placement three = on(f, {"a1", "a2", "b1"});
  ScoreOptions options = with(Routing::spray);
  options.links.running = {{"old", &three, &j.traffic}};
  const auto misfit = score(f, p, j.traffic, options);
  ASSERT_FALSE(misfit.has_value());
  EXPECT_EQ(misfit.error().to_string(), "error: running job old: the placement has 3 ranks, the job 2");
}

TEST(LinkScore, JsonHasTheKeysOfTheContract) {
  const auto f = build(two_tier());
  const Job j = job(f, kPair2G);
  const Placement p = on(f, {"a1", "b1"});
  const Placement q = on(f, {"a2", "b2"});
  ScoreOptions options = with(Routing::spray);
  options.links.running = {{"other", &q, &j.traffic}};
  const auto json = nlohmann::json::parse(write_score_json(f, scored(f, p, j, options)));
  EXPECT_EQ(json["routing"], "spray");
  EXPECT_EQ(json["bottleneck"].dump(), R"({"bytes":2000000000,"link":["a1","l1"],"seconds":2.0,"slowed":false})");
  EXPECT_NEAR(json["step_comm_seconds"].get<double>(), 2.0000382, 1e-9);
  EXPECT_EQ(json["dimensions"]["dp"]["slowest_link"]["link"], (nlohmann::json{"a1", "l1"}));
  EXPECT_EQ(json["bottleneck_with_running"]["bytes"], 2000000000);
  EXPECT_EQ(json["running"][0]["job"], "other");
  EXPECT_EQ(json["running"][0]["after"]["seconds"], 2.0);
  EXPECT_FALSE(nlohmann::json::parse(write_score_json(f, scored(f, p, j, {}))).contains("bottleneck"));
}

TEST(LinkScore, TextNamesTheLinks) {
  const auto f = build(two_tier());
  const Job j = job(f, kPair2G);
  const std::string text = write_score_text(f, scored(f, on(f, {"a1", "b1"}), j, with(Routing::spray)));
  EXPECT_THAT(text, testing::HasSubstr("bottleneck (spray)                 a1 > l1, 1.86 GiB in 2.000 s\n"
                                       "communication a step               2.000 s, busiest link 100 % of it\n"
                                       "  dp                               2.000 s, waits for a1 > l1, 1.86 GiB in "
                                       "2.000 s\n"));
}

double latency(config::Collective c, config::Algorithm a, std::uint32_t ranks, std::uint32_t domains) {
  TimeModel unit;  // network steps count 1, NVLink steps 1000, the launch 1e6
  unit.launch = {1e6};
  unit.nvlink_step = {1000};
  unit.network_step = {1};
  unit.hop = {0};
  return latency_seconds(unit, c, a, {ranks, domains, 3}) - 1e6;
}

TEST(TimeModel, StepsOfEachAlgorithm) {
  using config::Algorithm;
  using config::Collective;
  // 32 ranks on 4 nodes: 8 each.
  EXPECT_EQ(latency(Collective::allreduce, Algorithm::ring, 32, 4), 2 * 3 + 2 * 28 * 1000);
  EXPECT_EQ(latency(Collective::allgather, Algorithm::ring, 32, 4), 3 + 28 * 1000);
  EXPECT_EQ(latency(Collective::broadcast, Algorithm::ring, 32, 4), 3 + 28 * 1000);
  EXPECT_EQ(latency(Collective::allreduce, Algorithm::tree, 32, 4), 2 * 2 + 2 * 7 * 1000);
  EXPECT_EQ(latency(Collective::allreduce, Algorithm::tree, 5, 5), 2 * 3);
  EXPECT_EQ(latency(Collective::allreduce, Algorithm::hierarchical, 32, 4), 2 * 3 + 2 * 7 * 1000);
  EXPECT_EQ(latency(Collective::reduce_scatter, Algorithm::hierarchical, 32, 4), 3 + 7 * 1000);
  EXPECT_EQ(latency(Collective::alltoall, Algorithm::ring, 33, 4), 4 * 0.75 + 4 * 0.25 * 1000);
  EXPECT_EQ(latency(Collective::alltoall, Algorithm::ring, 4, 4), 0.75 + 250);
  EXPECT_EQ(latency(Collective::neighbour, Algorithm::ring, 4, 4), 2);
  EXPECT_EQ(latency(Collective::neighbour, Algorithm::ring, 4, 1), 2000);
}

Result<TimeModel> parse(const std::string& text) {
  return parse_time_model_yaml(std::make_shared<SourceText>("m.yaml", text));
}

TEST(TimeModel, ReadsAFile) {
  EXPECT_EQ(*parse("weft: 1\n"), TimeModel{});
  TimeModel want;
  want.launch = {1e-6};
  want.hop = {150e-9};
  want.efficiency.tree = 0.5;
  want.overlap[static_cast<std::size_t>(config::Dim::dp)] = 1;
  want.nvlink_bandwidth = {7'200'000'000'000};
  want.alltoall_batch = 4;
  const auto got = parse(
      "weft: 1\nlatency: {launch: 1us, hop: 150ns}\nefficiency: {tree: 0.5}\noverlap: {dp: 1}\n"
      "nvlink_bandwidth: 900GB/s\nalltoall_batch: 4\n");
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(*got, want);
}

std::string refusal(const std::string& text) {
  const auto got = parse(text);
  return got ? "accepted" : got.error().to_string();
}

TEST(TimeModel, RefusesWithThePlace) {
  EXPECT_EQ(
      refusal("weft: 1\nefficiency: {ring: 0}\n"),
      "m.yaml:2:20: error: ring is 0; expected above 0, at most 1\n  efficiency: {ring: 0}\n                     ^");
  EXPECT_EQ(refusal("weft: 1\noverlap: {dp: 1.5}\n"),
            "m.yaml:2:15: error: dp is 1.5; expected 0 to 1\n  overlap: {dp: 1.5}\n                ^^^");
  EXPECT_EQ(refusal("efficiency: {ring: 1}\n").substr(0, 60),
            "m.yaml:1:1: error: a time model does not say \"weft: 1\"; expe");
  EXPECT_THAT(refusal("weft: 1\nlatency: {launch: 5}\n"), testing::HasSubstr("m.yaml:2:19: error: "));
  EXPECT_THAT(refusal("weft: 1\nlatency: {lunch: 5us}\n"), testing::HasSubstr("launch"));
}

}  // namespace
}  // namespace weft::placement
