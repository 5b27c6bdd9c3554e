// SPDX-License-Identifier: BSD-3-Clause
//
// What `weft affinity` writes, in the hands of those who read it: a shell, Open MPI, a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "support/program.hpp"

namespace weft::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kFixtures = WEFT_SOURCE_DIR "/tests/fixtures/node/";

struct Shell {
  int status = -1;
  std::string out;
};

Shell shell(const std::string& command) {
  Shell result;
  FILE* in = popen((command + " 2>&1").c_str(), "r");
  if (in == nullptr) return result;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), in)) > 0;)
    result.out.append(buffer.data(), n);
  result.status = pclose(in);
  return result;
}

TEST(AffinityCommand, EnvIsAShellScriptForEachRank) {
  const TempDir dir;
  const std::string script = dir.file("env.sh");
  ASSERT_EQ(run_weft({"affinity", kFixtures + "hwloc2.xml", "--format", "env", "-o", script}).code, 0);
  const auto rank = [&](const std::string& variable, int local) {
    return shell(variable + "=" + std::to_string(local) + " sh -euc '. " + script +
                 "; echo $CUDA_VISIBLE_DEVICES $NCCL_IB_HCA $UCX_NET_DEVICES $WEFT_CPU_MASK $WEFT_CPU_LIST'")
        .out;
  };
  EXPECT_EQ(rank("SLURM_LOCALID", 0), "0 =mlx5_0:1 mlx5_0:1 0x11 0,4\n");
  EXPECT_EQ(rank("OMPI_COMM_WORLD_LOCAL_RANK", 3), "3 =mlx5_3:1 mlx5_3:1 0x88 3,7\n");
}

// A name that would be more than a name in a shell is left out.
TEST(AffinityCommand, NamesOfAFileAreNoCode) {
  const TempDir dir;
  spill(dir.file("topo"), "\tGPU0\tNIC0\nGPU0\tX\tPIX\n\nNIC Legend:\n  NIC0: $(reboot)\n");
  const ProgramRun run = run_weft({"affinity", dir.file("topo"), "--format", "env"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, Not(HasSubstr("reboot")));
  EXPECT_THAT(run.out, HasSubstr("export CUDA_VISIBLE_DEVICES=0 ;;"));
}

TEST(AffinityCommand, OpenMpiBindsRanksByTheRankfile) {
  const Shell version = shell("mpirun --version");
  if (version.status != 0) GTEST_SKIP() << "no mpirun (package openmpi-bin) to ask";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU here, and the rankfile wants two cores";
  const TempDir dir;
  const ProgramRun made =
      run_weft({"affinity", kFixtures + "two-cores.xml", "--format", "rankfile", "-o", dir.file("ranks")});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(slurp(dir.file("ranks")), "rank 0=localhost slot=0:0\nrank 1=localhost slot=0:1\n");
  // Version 5 spells the option and the report anew, deprecates --rankfile to the point of refusing it, and takes no
  // path with a hyphen.
  const bool old = version.out.find("(Open MPI) 4.") != std::string::npos;
  const Shell run =
      shell("cd " + dir.file("") + " && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun " +
            (old ? "--rankfile ranks" : "--map-by rankfile:file=ranks") + " -np 2 --report-bindings true");
  EXPECT_EQ(run.status, 0) << run.out;
  for (const std::string rank : {"0", "1"}) {
    const std::string bound = old ? "rank " + rank + " bound to socket 0\\[core " + rank
                                  : "Rank " + rank + " bound to package\\[0\\]\\[core:" + rank + "\\]";
    EXPECT_THAT(run.out, ContainsRegex(bound));
  }
}

TEST(AffinityCommand, ColoursAreForTerminalsAlone) {
  EXPECT_THAT(run_weft({"affinity", kFixtures + "hwloc2.xml"}).out, Not(HasSubstr("\x1b[")));
  if (shell("script --version").status != 0) GTEST_SKIP() << "no script(1) to make a terminal";
  const std::string command = std::string(WEFT_PROGRAM) + " affinity -q " + kFixtures + "hwloc2.xml";
  EXPECT_THAT(shell("TERM=xterm script -qec '" + command + "' /dev/null").out, HasSubstr("\x1b[32mPIX"));
  EXPECT_THAT(shell("TERM=xterm NO_COLOR=1 script -qec '" + command + "' /dev/null").out, Not(HasSubstr("\x1b[")));
}

TEST(AffinityCommand, JsonHasTheKeysOfTheContract) {
  const ProgramRun run = run_weft({"affinity", kFixtures + "nccl.xml", "--format", "json", "-q"});
  ASSERT_EQ(run.code, 0);
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["gpus"].size(), 4U);
  EXPECT_EQ(json["gpus"][2]["index"], 2);
  EXPECT_EQ(json["gpus"][2]["pci"], "0000:53:00.0");
  EXPECT_EQ(json["gpus"][2]["numa"], 1);
  EXPECT_EQ(json["gpus"][2]["nic"], 2);
  EXPECT_EQ(json["nics"][2]["name"], "mlx5_2");
  EXPECT_EQ(json["nics"][2]["guid"], "0xb8cef60300001002");
  EXPECT_EQ(
      json["paths"],
      nlohmann::json::parse(
          R"([["PIX","PHB","SYS","SYS"],["PHB","PIX","SYS","SYS"],["SYS","SYS","PIX","PHB"],["SYS","SYS","PHB","PIX"]])"));
}

TEST(AffinityCommand, LiveMachineIsRead) {
  // hwloc's PCI plugin keeps what libpciaccess gave it; the sanitizer of a dev build would call that ours.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const ProgramRun run = run_weft({"affinity", "--live", "--format", "json"});
  unsetenv("ASAN_OPTIONS");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["kind"], "live machine");
}

// A job of half the GPUs on nodes of which other jobs hold some: the same rails on all, and what is free.
TEST(AffinityCommand, PartNodeJobsGetTheSameRails) {
  const ProgramRun run = run_weft(
      {"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state", "nodes.txt", "--format", "json", "-q"},
      {.directory = WEFT_SOURCE_DIR "/tests/fixtures"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["score"]["cross_rail_bytes"], 0);
  EXPECT_EQ(json["score"]["shared_nics"], 0);
  EXPECT_EQ(json["score"]["numa_detour_bytes"], 0);
  for (const auto& rank : json["ranks"]) EXPECT_EQ(rank["gpu"], 2 + rank["rank"].get<int>() % 2) << rank;
  const ProgramRun slurm = run_weft({"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state",
                                     "nodes.txt", "--policy", "first-fit", "--format", "json", "-q"},
                                    {.directory = WEFT_SOURCE_DIR "/tests/fixtures"});
  ASSERT_EQ(slurm.code, 0) << slurm.err;
  EXPECT_GT(nlohmann::json::parse(slurm.out)["score"]["cross_rail_bytes"], 0);
}

}  // namespace
}  // namespace weft::test
