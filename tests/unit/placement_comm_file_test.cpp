// SPDX-License-Identifier: BSD-3-Clause
//
// Communication files: own small ones, faults, and every shared one. A shared file that no table names fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weft/placement.hpp"

namespace weft::placement::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

Source text(std::string body) { return std::make_shared<const SourceText>("m", std::move(body)); }

std::string fault(std::string body) {
  const auto file = parse_comm_file(text(std::move(body)));
  return file ? "no error" : file.error().to_string();
}

std::vector<std::string> terms(const CommFile& file) {
  std::vector<std::string> out;
  for (const config::TrafficTerm& t : file.terms)
    out.push_back(std::string(to_string(t.dim)) + " " + std::string(to_string(t.collective)) + " " +
                  std::to_string(t.bytes.value));
  return out;
}

TEST(PlacementCommFile, DenseMatrix) {
  for (const char* body : {"0,5,6\n7,2,0\n1e1,0,0\n", "# bytes\n0 5\t6\n\n7 2 0.0\n10 0 0"}) {
    const auto file = parse_comm_file(text(body));
    ASSERT_TRUE(file) << file.error().to_string();
    EXPECT_EQ(file->ranks, 3U);
    EXPECT_THAT(file->flows, ElementsAre(RankFlow{0, 1, 5}, RankFlow{0, 2, 6}, RankFlow{1, 0, 7}, RankFlow{2, 0, 10}));
    ASSERT_EQ(file->notes.size(), 2U);
    EXPECT_EQ(file->notes[1].message, "2 bytes from ranks to themselves are left out");
  }
}

TEST(PlacementCommFile, ListJoinsPairs) {
  const auto file = parse_comm_file(text("from,to,bytes\n3,1,10\n0,2,5\n3,1,1\n2,2,9\n"));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->ranks, 4U);
  EXPECT_THAT(file->flows, ElementsAre(RankFlow{0, 2, 5}, RankFlow{3, 1, 11}));
}

TEST(PlacementCommFile, FaultsNameTheirPlace) {
  EXPECT_EQ(fault("0,1\n2\n"),
            "m:2:1: error: row 2 has 1 numbers, the first has 2; expected as many on each line\n  2\n  ^");
  EXPECT_EQ(fault("0,-1\n2,0\n"), "m:1:3: error: row 1, column 2 is -1; expected 0 bytes or more\n  0,-1\n    ^^");
  EXPECT_EQ(fault("0,1\nnan,0\n"),
            "m:2:1: error: row 2, column 1 is \"nan\", not a number; expected a number of bytes\n  nan,0\n  ^^^");
  EXPECT_EQ(fault("0,x\n1,0\n"),
            "m:1:3: error: row 1, column 2 is \"x\", not a number; expected a number of bytes\n  0,x\n    ^");
  EXPECT_EQ(fault("0,1.5\n1,0\n"),
            "m:1:3: error: row 1, column 2 is 1.5, not whole; expected a whole number of bytes\n  0,1.5\n    ^^^");
  EXPECT_EQ(fault("0,1e300\n1,0\n"),
            "m:1:3: error: row 1, column 2 is 1e300; expected at most 36028797018963968\n  0,1e300\n    ^^^^^");
  EXPECT_EQ(fault("0,1\n"),
            "m:1:1: error: the matrix ends after 1 of 2 rows; expected as many lines as columns\n"
            "  0,1\n  ^");
  EXPECT_EQ(fault("from,to,bytes\n0,1\n"), "m:2:3: error: 2 fields; expected from,to,bytes\n  0,1\n    ^");
}

TEST(PlacementCommFile, SizeAgainstRanksShowsTheArithmetic) {
  config::JobSpec job;
  job.nodes = 2;
  config::Layout layout;
  layout[config::Dim::dp] = 8;
  const auto file = parse_comm_file(text("0,1\n1,0\n"));
  ASSERT_TRUE(file);
  const auto ok = check_comm_file(*file, job, layout);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().to_string(),
            "m:1:1: error: the matrix is of 2 ranks, the job of 2 nodes x 4 ranks = 8; expected 8 ranks\n  0,1\n  ^");
}

constexpr const char* kAicb =
    "[rank0 ~ rank7]\n"
    "comm_type,comm_group,comm_group_size,msg_size,stage,additional,count\n"
    "CommType.all_reduce,CommGroup.dp_group,4,8,init.model_setup,,1\n"
    "CommType.epoch_end,None,None,0,,,1\n"
    "CommType.all_reduce,CommGroup.tp_group,2,100,forward,,3\n"
    "CommType.epoch_end,None,None,0,,,1\n"
    "CommType.all_reduce,CommGroup.tp_group,2,100,forward,,2\n"
    "CommType.barrier,CommGroup.all,8,5,step,,1\n"
    "CommType.reduce_scatter,CommGroup.ep_dp_group,2,60,step,,1\n"
    "CommType.isend,CommGroup.pp_group,1,7,forward_step,send_next,2\n"
    "CommType.epoch_end,None,None,0,,,1\n";

TEST(PlacementCommFile, AicbTakesTheLastStepWithoutSetUp) {
  const auto file = parse_comm_file(text(kAicb));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->ranks, 8U);
  EXPECT_THAT(file->size, ElementsAre(2, 0, 0, 0, 4));
  // Replicas of experts: a ring of 2 moves 60 x 1/2 = 30; a ring of 4 moves as much with 40 x 3/4.
  EXPECT_THAT(terms(*file), ElementsAre("tp allreduce 200", "pp neighbour 14", "dp reduce_scatter 40"));
}

TEST(PlacementCommFile, SimaiReadsEachPassOnItsGroups) {
  const auto file = parse_comm_file(
      text("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 8 ga: 3 all_gpus: 16 "
           "checkpoints: 0 checkpoint_initiates: 0 pp_comm: 50\n2\n"
           "a -1 1 ALLREDUCE 10 1 ALLGATHER 20 1 REDUCESCATTER 30 100\n"
           "b -1 1 ALLTOALL_EP 40 1 NONE 9 1 ALLGATHER_DP_EP 60 100\n"));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_THAT(file->size, ElementsAre(2, 0, 2, 2, 4));
  EXPECT_THAT(terms(*file), ElementsAre("tp allreduce 10", "tp allgather 20", "ep alltoall 40", "pp neighbour 150",
                                        "dp reduce_scatter 30", "dp allgather 40"));
}

fs::path shared() {
  const char* set = std::getenv("WEFT_SHARED");
  return fs::path(set != nullptr ? set : WEFT_SHARED_DIR) / "data" / "comm";
}

struct Read {
  CommKind kind;
  std::uint64_t ranks;
  std::size_t flows;
  std::uint64_t bytes;  // of flows
  std::vector<std::string> terms;
};

// Counted by a Python script that sums columns.
const std::map<std::string, Read>& readable() {
  static const std::map<std::string, Read> kTable{
      {"aicb_physical/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv",
       {CommKind::aicb,
        128,
        0,
        0,
        {"tp allreduce 3397410820", "tp broadcast 17448", "dp allreduce 4", "dp reduce_scatter 6422958080",
         "dp allgather 3211479040"}}},
      {"aicb_physical/L13B-D1-C03_Llama13B_zero2_mbs1.csv",
       {CommKind::aicb, 128, 0, 0, {"dp allreduce 26031728641", "dp allgather 26031729152"}}},
      {"aicb_physical/L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv",
       {CommKind::aicb,
        128,
        0,
        0,
        {"tp allreduce 2181062660", "tp broadcast 17448", "dp allreduce 4", "dp reduce_scatter 10366697472",
         "dp allgather 5183348736"}}},
      {"simai_workload/G175B-M1-C03_GPT175B_megatron_tp8_pp1_mbs1_A100.txt",
       {CommKind::simai, 0, 0, 0, {"tp allreduce 7884066816", "dp reduce_scatter 11175321600", "dp allgather 1"}}},
      {"simai_workload/L7B-D1-C02_Llama7B_deepspeed_zero3_A100.txt",
       {CommKind::simai, 0, 0, 0, {"tp allgather 3496004", "dp reduce_scatter 1889785610"}}},
      {"simai_workload/L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.txt",
       {CommKind::simai,
        0,
        0,
        0,
        {"tp allreduce 9198133264", "tp allgather 6754926592", "tp broadcast 16384", "dp reduce_scatter 13509853184"}}},
      {"simai_workload/microAllReduce.txt", {CommKind::simai, 8, 0, 0, {"tp allreduce 83886080"}}},
      // Message counts, which nothing in the file tells from bytes.
      {"maplib/amg.p2p.count.csv", {CommKind::matrix, 64, 4002, 1256017, {}}},
      {"maplib/amg.p2p.size.csv", {CommKind::matrix, 64, 4002, 5431666584, {}}},
      {"maplib/btmz.p2p.count.csv", {CommKind::matrix, 64, 910, 182910, {}}},
      {"maplib/btmz.p2p.size.csv", {CommKind::matrix, 64, 910, 4785761760, {}}},
      {"maplib/cg.p2p.count.csv", {CommKind::matrix, 64, 248, 1263424, {}}},
      {"maplib/cg.p2p.size.csv", {CommKind::matrix, 64, 248, 73513503744, {}}},
  };
  return kTable;
}

const std::map<std::string, std::string>& refused() {
  static const std::map<std::string, std::string> kTable{
      {"chakra/astra_all_reduce_8npus_1MB.0.et", "this is a binary file"},
      {"chakra/astra_all_reduce_8npus_1MB.1.et", "this is a binary file"},
      {"chakra/astra_all_to_all_8npus_1MB.0.et", "this is a binary file"},
      {"chakra/astra_all_to_all_8npus_1MB.1.et", "this is a binary file"},
      {"chakra/chakra.0.json.xz", "this is an xz-compressed file"},
      {"chakra/small_chakra.0.json", "this is JSON, such as a Chakra execution trace"},
      {"htsim/incast_128.cm", "this is an htsim connection matrix"},
      {"htsim/perm_16n_16c_2MB.cm", "this is an htsim connection matrix"},
      {"mpi_liballprof/sweep3d-2x2-rank0.txt.gz", "this is a gzip-compressed file"},
      {"mpi_liballprof/sweep3d-2x2-rank1.txt.gz", "this is a gzip-compressed file"},
      {"simai_workload/workload_analytical.txt.gz", "this is a gzip-compressed file"},
      {"superbench/mpi_pattern.txt", "this is a list of node pairs"},
      {"superbench/nccl_allreduce.log", "this is a log of nccl-tests"},
      {"superbench/nccl_alltoall.log", "this is a log of nccl-tests"},
  };
  return kTable;
}

TEST(PlacementCommFile, EverySharedFileIsReadOrRefusedWithAReason) {
  if (!fs::exists(shared())) GTEST_SKIP() << "no shared data at " << shared();
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(shared())) {
    if (!entry.is_regular_file()) continue;
    ++seen;
    const std::string name = fs::relative(entry.path(), shared()).string();
    SCOPED_TRACE(name);
    const auto source = read_source(entry.path().string());
    ASSERT_TRUE(source);
    const auto file = parse_comm_file(*source);
    if (const auto want = readable().find(name); want != readable().end()) {
      ASSERT_TRUE(file) << file.error().to_string();
      std::uint64_t bytes = 0;
      for (const RankFlow& f : file->flows) bytes += f.bytes;
      EXPECT_EQ(file->kind, want->second.kind);
      EXPECT_EQ(file->ranks, want->second.ranks);
      EXPECT_EQ(file->flows.size(), want->second.flows);
      EXPECT_EQ(bytes, want->second.bytes);
      EXPECT_EQ(terms(*file), want->second.terms);
      continue;
    }
    const auto why = refused().find(name);
    ASSERT_NE(why, refused().end()) << "a file that no table names";
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, testing::StartsWith(why->second));
    EXPECT_THAT(file.error().expected, testing::Not(IsEmpty()));
  }
  EXPECT_EQ(seen, readable().size() + refused().size());
}

}  // namespace
}  // namespace weft::placement::test
