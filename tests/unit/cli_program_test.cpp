// SPDX-License-Identifier: BSD-3-Clause
//
// What the program promises whatever the command: help, exit codes, whole output or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace weft::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFixtures = WEFT_SOURCE_DIR "/tests/fixtures/";

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

const std::vector<std::string> kCommands{"place",  "score",    "compare", "check", "show",
                                         "import", "generate", "replay",  "stats"};
const std::vector<std::string> kKinds{"fat-tree",  "rail",           "multi-plane", "nvl72",
                                      "dragonfly", "dragonfly-plus", "torus"};

TEST(CliHelp, OverviewNamesEveryCommandAndExitCode) {
  const ProgramRun run = run_weft({"--help"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  for (const std::string& command : kCommands) EXPECT_THAT(run.out, HasSubstr("  " + command + " "));
  EXPECT_THAT(run.out, HasSubstr("Exit codes: 0 done; 1 no legal placement"));
  EXPECT_EQ(run_weft({"help"}).out, run.out);
}

TEST(CliHelp, EveryCommandHasAnExampleAndBothWaysSayTheSame) {
  for (const std::string& command : kCommands) {
    const ProgramRun run = run_weft({command, "--help"});
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_EQ(run.err, "") << command;
    EXPECT_THAT(run.out, AllOf(HasSubstr("Usage: weft " + command), HasSubstr("Example:\n  "))) << command;
    EXPECT_EQ(run_weft({"help", command}).out, run.out) << command;
  }
}

// The examples are part of the product: each must run as printed and give a fabric that checks.
TEST(CliHelp, WorkedExamplesOfGenerateWork) {
  const TempDir dir;
  for (const std::string& kind : kKinds) {
    const ProgramRun help = run_weft({"help", "generate", kind});
    ASSERT_EQ(help.code, 0) << kind;
    const std::size_t begin = help.out.find("\n  weft generate ");
    ASSERT_NE(begin, std::string::npos) << kind;
    std::vector<std::string> line = words(help.out.substr(begin + 1, help.out.find('\n', begin + 1) - begin - 1));
    line.erase(line.begin());
    const ProgramRun run = run_weft(line, {.directory = dir.path()});
    EXPECT_EQ(run.code, 0) << kind << ": " << run.err;
    EXPECT_EQ(run.out, "") << kind;
    const ProgramRun check = run_weft({"check", line.back()}, {.directory = dir.path()});
    EXPECT_EQ(check.code, 0) << kind << ": " << check.err;
    EXPECT_THAT(check.out, StartsWith(line.back() + ": ok: fabric.yaml, ")) << kind;
  }
}

TEST(CliHelp, VersionIsOneLine) {
  const ProgramRun run = run_weft({"--version"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, testing::MatchesRegex("weft [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CliUsage, NothingAskedIsAnError) {
  const ProgramRun run = run_weft({});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("weft: error: "));
}

TEST(CliUsage, NumbersOutOfRangeAreRefused) {
  for (const char* bad : {"-1", "4294967296", "1e3", "", "0x"}) {
    const ProgramRun run = run_weft({"generate", "rail", "--nodes", bad});
    EXPECT_EQ(run.code, 2) << bad;
    EXPECT_EQ(run.out, "") << bad;
    EXPECT_NE(run.err, "") << bad;
  }
}

TEST(CliOutput, FileHoldsWhatStandardOutputWould) {
  const TempDir dir;
  const std::string target = dir.file("f.yaml");
  const ProgramRun run = run_weft({"import", kFixtures + "topology.conf", "-o", target});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(slurp(target), run_weft({"import", kFixtures + "topology.conf"}).out);
  // Nothing else stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(CliOutput, ImportIsAFixedPoint) {
  const TempDir dir;
  ASSERT_EQ(run_weft({"import", kFixtures + "topology.conf", "-o", dir.file("a.yaml")}).code, 0);
  ASSERT_EQ(run_weft({"import", dir.file("a.yaml"), "-o", dir.file("b.yaml")}).code, 0);
  const auto show = [&](const std::string& path) {
    auto json = nlohmann::json::parse(run_weft({"show", path, "--format", "json"}).out);
    for (const char* key : {"format", "assumptions", "warnings"}) json.erase(key);
    return json;
  };
  EXPECT_EQ(show(kFixtures + "topology.conf"), show(dir.file("a.yaml")));
  EXPECT_EQ(show(dir.file("a.yaml")), show(dir.file("b.yaml")));
}

TEST(CliOutput, AnImportedFabricFindsItsNodeFilesFromWhereItIsWritten) {
  const TempDir dir;
  std::filesystem::create_directories(dir.file("deep/er"));
  ASSERT_EQ(run_weft({"import", "-q", kFixtures + "inside.yaml", "-o", dir.file("deep/er/f.yaml")}).code, 0);
  const ProgramRun moved = run_weft({"show", dir.file("deep/er/f.yaml")});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_EQ(run_weft({"import", "-q", dir.file("deep/er/f.yaml"), "-o", dir.file("g.yaml")}).code, 0);
  EXPECT_EQ(run_weft({"show", dir.file("g.yaml")}).code, 0);
  EXPECT_EQ(slurp(dir.file("deep/er/f.yaml")).find("hwloc: node/"), std::string::npos);
}

TEST(CliOutput, AnErrorLeavesTheOldFileAlone) {
  const TempDir dir;
  spill(dir.file("f.yaml"), "precious\n");
  EXPECT_EQ(run_weft({"import", kFixtures + "unit-error.yaml", "-o", dir.file("f.yaml")}).code, 2);
  EXPECT_EQ(slurp(dir.file("f.yaml")), "precious\n");
}

TEST(CliOutput, ReplacingKeepsModeAndLink) {
  const TempDir dir;
  spill(dir.file("real.yaml"), "old\n");
  ASSERT_EQ(::chmod(dir.file("real.yaml").c_str(), 0640), 0);
  std::filesystem::create_symlink("real.yaml", dir.file("link.yaml"));
  ASSERT_EQ(run_weft({"import", kFixtures + "topology.conf", "-q", "-o", dir.file("link.yaml")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(dir.file("link.yaml")));
  EXPECT_THAT(slurp(dir.file("real.yaml")), HasSubstr("weft: 1"));
  EXPECT_EQ(std::filesystem::status(dir.file("real.yaml")).permissions(), std::filesystem::perms(0640));
}

TEST(CliOutput, BadPlacesAreNamed) {
  const TempDir dir;
  const auto import_to = [&](const std::string& target) {
    return run_weft({"import", "-q", kFixtures + "topology.conf", "-o", target});
  };
  const ProgramRun nowhere = import_to(dir.file("no/such/f.yaml"));
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.err, dir.file("no/such/f.yaml") + ": error: cannot write: No such file or directory\n");
  const ProgramRun directory = import_to(dir.path());
  EXPECT_EQ(directory.code, 2);
  EXPECT_EQ(directory.err, dir.path().string() + ": error: cannot write: Is a directory\n");
}

TEST(CliOutput, FullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string file = kFixtures + "fabric.yaml";
  const ProgramRun redirected = run_weft({"show", file}, {.out_device = "/dev/full"});
  EXPECT_EQ(redirected.code, 2);
  EXPECT_EQ(redirected.err, "<stdout>: error: cannot write: No space left on device\n");
  const ProgramRun named = run_weft({"import", "-q", file, "-o", "/dev/full"});
  EXPECT_EQ(named.code, 2);
  EXPECT_EQ(named.err, "/dev/full: error: cannot write: No space left on device\n");
}

TEST(CliInput, UnreadableFileIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TempDir dir;
  spill(dir.file("f.yaml"), "weft: 1\n");
  ASSERT_EQ(::chmod(dir.file("f.yaml").c_str(), 0), 0);
  const ProgramRun run = run_weft({"check", dir.file("f.yaml")});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err, dir.file("f.yaml") + ": error: cannot read: Permission denied\n");
}

TEST(CliPlace, FreeNodesFromStandardInput) {
  const ProgramRun run = run_weft(
      {"place", "-f", kFixtures + "fabric.yaml", "-j", kFixtures + "job.yaml", "--free", "@-", "--format", "hostfile"},
      {.input = "gpu05,gpu06 # unit 2\r\n\n gpu[07-08]\n"});
  EXPECT_EQ(run.code, 0) << run.err;
  std::vector<std::string> hosts = words(run.out);
  std::sort(hosts.begin(), hosts.end());
  EXPECT_EQ(hosts, (std::vector<std::string>{"gpu05", "gpu06", "gpu07", "gpu08"}));
}

TEST(CliPlace, ErrorInAFileOfNodesShowsItsLine) {
  const ProgramRun run =
      run_weft({"place", "-f", kFixtures + "fabric.yaml", "-j", kFixtures + "job.yaml", "--busy", "@-"},
               {.input = "gpu01\n  gpu99\n"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err,
            "<stdin>:2:3: error: the fabric has no node \"gpu99\"; expected names of its nodes\n"
            "    gpu99\n"
            "    ^^^^^\n");
}

// A file in the working directory that is called like a node must not hide the node.
TEST(CliPlace, NodeNameWinsOverFileOfThatName) {
  const TempDir dir;
  spill(dir.file("gpu01"), "gpu[02-08]\n");
  const ProgramRun run = run_weft({"place", "-f", kFixtures + "fabric.yaml", "-j", kFixtures + "job.yaml", "--busy",
                                   "gpu01", "--format", "hostfile"},
                                  {.directory = dir.path()});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST(CliPlace, JsonIsAPlacementThatScoreReadsBack) {
  const TempDir dir;
  const std::vector<std::string> common{"-f", kFixtures + "fabric.yaml", "-j", kFixtures + "job.yaml"};
  const auto with = [&](std::vector<std::string> command, const std::vector<std::string>& more) {
    command.insert(command.end(), common.begin(), common.end());
    command.insert(command.end(), more.begin(), more.end());
    return run_weft(command);
  };
  ASSERT_EQ(with({"place"}, {"--format", "json", "-o", dir.file("p.json")}).code, 0);
  const auto placement = nlohmann::json::parse(slurp(dir.file("p.json")));
  EXPECT_EQ(placement.at("weft"), 1);
  EXPECT_EQ(placement.at("job"), "small-llm");
  EXPECT_EQ(placement.at("fabric"), "two-units");
  EXPECT_EQ(placement.at("nodes").size(), 4U);
  EXPECT_EQ(placement.at("ranks").size(), 16U);
  const ProgramRun score = with({"score"}, {"--placement", dir.file("p.json"), "--format", "json"});
  ASSERT_EQ(score.code, 0) << score.err;
  const auto terms = nlohmann::json::parse(score.out);
  for (const char* key :
       {"tier_bytes", "cross_spine_bytes", "hop_bytes", "hops", "spread", "fragmentation", "exposure"}) {
    ASSERT_TRUE(terms.contains(key)) << key;
    EXPECT_EQ(terms.at(key), placement.at("score").at(key)) << key;
  }
  // The plain hostfile of the same placement means the same ranks.
  ASSERT_EQ(with({"place"}, {"--format", "hostfile", "-o", dir.file("hosts")}).code, 0);
  EXPECT_EQ(with({"score"}, {"--placement", dir.file("hosts"), "--format", "json"}).out, score.out);
}

// Env lines are sourced by shells; a job's name must not run.
TEST(CliPlace, EnvironmentIsSafeToSource) {
  const TempDir dir;
  spill(dir.file("job.yaml"), "weft: 1\nname: \"it's $(touch pwned)\"\nnodes: 2\n");
  const ProgramRun run = run_weft({"place", "-f", kFixtures + "fabric.yaml", "-j", dir.file("job.yaml"), "--format",
                                   "env", "-o", dir.file("env.sh")});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string shell = "cd '" + dir.path().string() + "' && . ./env.sh && printf '%s' \"$WEFT_JOB\" > said";
  ASSERT_EQ(std::system(shell.c_str()), 0);
  EXPECT_EQ(slurp(dir.file("said")), "it's $(touch pwned)");
  EXPECT_FALSE(std::filesystem::exists(dir.file("pwned")));
}

TEST(CliDeterminism, SameBytesTwice) {
  const std::vector<std::string> compare{
      "compare", "-f", kFixtures + "fabric.yaml", "-j", kFixtures + "job.yaml", "--seed", "7", "--format", "json"};
  const ProgramRun first = run_weft(compare);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(run_weft(compare).out, first.out);
}

}  // namespace
}  // namespace weft::test
