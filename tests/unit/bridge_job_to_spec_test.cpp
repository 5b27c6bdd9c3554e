// SPDX-License-Identifier: BSD-3-Clause
//
// --weft=@job.yaml, and the header from plain C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bridge_fixtures.hpp"

extern "C" const char* weft_bridge_c_test(const char* weft_yaml);

namespace weft::bridge::test {
namespace {

using ::testing::HasSubstr;

std::string spec_of(const std::string& job) {
  const Directory dir;
  dir.write("job.yaml", job);
  char spec[WEFT_SPEC_MAX + 1] = "", error[WEFT_ERROR_MAX] = "";
  const int status = weft_bridge_job_to_spec((dir / "job.yaml").c_str(), spec, sizeof(spec), error, sizeof(error));
  if (status != WEFT_OK)
    return std::string(error).substr(std::min(std::string(error).size(), dir.operator/("").size()));
  EXPECT_EQ(weft_bridge_check_spec(spec, std::string(spec).size(), error, sizeof(error)), WEFT_OK) << error;
  return spec;
}

TEST(JobToSpec, CarriesLayoutTrafficAndConstraints) {
  EXPECT_EQ(spec_of(R"(weft: 1
nodes: 16
ranks_per_node: 8
layout: {tp: 8, pp: 4, order: tp-pp-cp-ep-dp}
traffic:
  tp: {collective: allreduce, bytes: 12GiB}
  dp: [{collective: reduce_scatter, bytes: 4GiB, algorithm: hierarchical}, {collective: allgather, bytes: 1500B}]
constraints: {segment: 4, segment_level: pod, max_spread: {leaf: 8, pod: 2}, exclusive: leaf}
cross_rail: fabric
)"),
            "tp=8,pp=4,dp=4,order=tp-pp-cp-ep-dp,segment=4,segment_level=pod,max_leaves=8,max_pods=2,exclusive=leaf,"
            "tp_traffic=allreduce:12GiB,dp_traffic=reduce_scatter:4GiB:hierarchical+allgather:1500B,cross_rail=fabric");
}

TEST(JobToSpec, LeavesDpToSlurmWhereTheFileDoes) {
  EXPECT_EQ(spec_of("weft: 1\nnodes: 16\nlayout: {tp: 8}\n"), "tp=8");
}

TEST(JobToSpec, DerivesAModelsTraffic) {
  EXPECT_THAT(spec_of(R"(weft: 1
nodes: 16
ranks_per_node: 8
layout: {tp: 8, pp: 2}
model: {parameters: 8B, layers: 32, hidden: 4096, heads: 32, seq: 8192, microbatch: 1, global_batch: 64}
)"),
              HasSubstr("tp=8,pp=2,dp=8,tp_traffic="));
}

TEST(JobToSpec, RefusesWhatASpecCannotCarry) {
  EXPECT_THAT(spec_of("weft: 1\nnodes: 2\nmatrix: m.csv\n"),
              HasSubstr("a SPEC cannot carry a matrix; expected traffic or model"));
  EXPECT_THAT(spec_of("weft: 1\nnodes: 2\nlayout: {tp: 8}\nconstraints: {required_nodes: n1}\n"),
              HasSubstr("a SPEC names no nodes; expected --nodelist"));
  EXPECT_THAT(spec_of("weft: 1\nnodes: 2\nmodel: {parameters: 8B}\n"), HasSubstr("depends on dp"));
  EXPECT_THAT(spec_of("weft: 1\nnodes: 2\n"), HasSubstr("the job file says nothing that a SPEC could carry"));
  EXPECT_THAT(spec_of("weft: 1\nnods: 2\n"), HasSubstr("no key \"nods\""));
}

TEST(JobToSpec, AFileThatIsNotThereIsSaid) {
  char spec[8], error[WEFT_ERROR_MAX];
  EXPECT_EQ(weft_bridge_job_to_spec("/nonexistent/job.yaml", spec, sizeof(spec), error, sizeof(error)), WEFT_EFILE);
  EXPECT_STREQ(error, "/nonexistent/job.yaml: error: cannot read: No such file or directory");
  EXPECT_EQ(weft_bridge_job_to_spec(nullptr, spec, sizeof(spec), error, sizeof(error)), WEFT_EINVAL);
}

TEST(PlainC, TheHeaderAndTheTableWork) {
  const Rig rig;
  const char* fault = weft_bridge_c_test((rig.dir / "weft.yaml").c_str());
  EXPECT_STREQ(fault, nullptr);
}

}  // namespace
}  // namespace weft::bridge::test
