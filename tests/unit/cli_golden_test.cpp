// SPDX-License-Identifier: BSD-3-Clause
//
// Whole answers of the program against files in tests/golden/cli: exit code, standard output, standard error.
// WEFT_REGENERATE=1 rewrites them; read the difference before it is committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace weft::test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> arguments;
  std::string input = {};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string transcript(const Case& c, const ProgramRun& run) {
  std::string text = "$ weft";
  for (const std::string& argument : c.arguments) text += ' ' + (argument.empty() ? "''" : argument);
  text += "\n--- exit " + std::to_string(run.code) + "\n--- stdout\n" + run.out;
  return text + "--- stderr\n" + run.err;
}

std::vector<Case> cases() {
  const auto on_demo = [](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), {"--fabric", "fabric.yaml", "--job", "job.yaml"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  return {
      {"check", {"check", "fabric.yaml", "job.yaml", "topology.conf"}},
      {"check_quiet", {"check", "--quiet", "topology.conf"}},
      {"check_beside",
       {"check", "times.yaml", "bad-times.yaml", "pairs.csv", "nodes.txt", "decisions.jsonl", "node/hwloc2.xml",
        "running.json", "weft.yaml"}},
      {"check_matrix", {"check", "-"}, "0 1\n2 0 3\n"},
      {"check_tables", {"check", "-"}, "Unicast lids [0x1-0x4] of switch DR path slid 0; dlid 0; 0 guid 0x1:\n"},
      {"check_goes_on_after_a_bad_file", {"check", "unit-error.yaml", "missing.yaml", "fabric.yaml"}},
      {"check_stdin", {"check", "-"}, "SwitchName=s1 Nodes=n[1-3]\n"},
      {"check_empty", {"check", "-"}, ""},
      {"check_directory", {"check", "."}},
      {"check_health", {"check", "--health", "health.yaml", "fabric.yaml"}},
      {"check_bad_health", {"check", "--health", "bad-health.yaml", "fabric.yaml"}},
      {"show", {"show", "fabric.yaml"}},
      {"show_json", {"show", "fabric.yaml", "--format", "json"}},
      {"show_topology_conf", {"show", "topology.conf", "--node-type", "gpus=4,nics=4", "--bandwidth", "200Gb/s"}},
      {"show_bad_bandwidth", {"show", "topology.conf", "--bandwidth", "200"}},
      {"show_job", {"show", "job.yaml"}},
      {"import", {"import", "topology.conf"}},
      {"generate_rail", {"generate", "rail", "--nodes", "8", "--nodes-per-unit", "4"}},
      {"generate_multi_plane", {"generate", "multi-plane", "--gpus", "131072", "--planes", "8"}},
      {"place", on_demo({"place"}, {})},
      {"place_json", on_demo({"place"}, {"--format", "json"})},
      {"place_hostfile", on_demo({"place"}, {"--format", "hostfile"})},
      {"place_rankfile", on_demo({"place"}, {"--format", "rankfile"})},
      {"place_env", on_demo({"place"}, {"--format", "env"})},
      {"place_busy_file", on_demo({"place"}, {"--busy", "@busy.txt", "--format", "hostfile"})},
      {"place_none_busy", on_demo({"place"}, {"--busy", "", "--format", "hostfile"})},
      {"place_too_few_free", on_demo({"place"}, {"--free", "gpu[01-03]"})},
      {"place_too_large", {"place", "--fabric", "fabric.yaml", "--job", "too-large.yaml"}},
      {"place_unknown_node", on_demo({"place"}, {"--busy", "gpu[01-12]"})},
      {"place_bad_hostlist", on_demo({"place"}, {"--free", "gpu[01-"})},
      {"place_free_and_busy", on_demo({"place"}, {"--free", "gpu01", "--busy", "gpu02"})},
      {"score_hostfile", on_demo({"score"}, {"--placement", "hosts.txt"})},
      {"score_json", on_demo({"score"}, {"--placement", "hosts.txt", "--format", "json"})},
      {"score_ecmp", on_demo({"score"}, {"--placement", "hosts.txt", "--routing", "ecmp"})},
      {"score_slow_cable", on_demo({"score"}, {"--placement", "slow.json"})},
      {"score_static_without_tables", on_demo({"score"}, {"--placement", "hosts.txt", "--routing", "static"})},
      {"score_tables_without_static", on_demo({"score"}, {"--placement", "hosts.txt", "--tables", "hosts.txt"})},
      {"score_static_without_ports", on_demo({"score"}, {"--placement", "hosts.txt", "--routing", "static", "--tables",
                                                         "../../config/examples/ib/fat-tree.opensm.fdbs"})},
      {"score_static_not_tables",
       on_demo({"score"}, {"--placement", "hosts.txt", "--routing", "static", "--tables", "hosts.txt"})},
      {"score_static",
       {"score", "--quiet", "--fabric", "../../config/examples/ib/fat-tree.ibnetdiscover.txt", "--job",
        "../../config/examples/ib/fat-tree.job.yaml", "--placement", "../../config/examples/ib/fat-tree.hosts",
        "--routing", "static", "--tables", "../../config/examples/ib/fat-tree.opensm-lfts.dump", "--format", "json"}},
      {"score_static_without_lids",
       {"score", "--quiet", "--fabric", "../../config/examples/ib/fat-tree.ibnetdiscover.txt", "--job",
        "../../config/examples/ib/fat-tree.job.yaml", "--placement", "../../config/examples/ib/fat-tree.hosts",
        "--routing", "static", "--tables", "../../config/examples/ib/fat-tree.opensm.fdbs"}},
      {"score_time_model",
       on_demo({"score"}, {"--placement", "hosts.txt", "--time-model", "times.yaml", "--overlap", "dp=0.5,pp=1"})},
      {"score_matrix", {"score", "--fabric", "fabric.yaml", "--job", "matrix-job.yaml", "--placement", "hosts.txt"}},
      {"score_running", on_demo({"score"}, {"--placement", "hosts.txt", "--running", "running.json"})},
      {"score_running_json", on_demo({"score"}, {"--placement", "hosts.txt", "--running", "hosts-b.txt:matrix-job.yaml",
                                                 "--format", "json"})},
      {"score_running_same_gpu", on_demo({"score"}, {"--placement", "hosts.txt", "--running", "slow.json:job.yaml"})},
      {"score_running_says_no_traffic", on_demo({"score"}, {"--placement", "hosts.txt", "--running", "slow.json"})},
      {"score_bad_overlap", on_demo({"score"}, {"--placement", "hosts.txt", "--overlap", "dp=0.5,pp=2"})},
      {"score_bad_time_model", on_demo({"score"}, {"--placement", "hosts.txt", "--time-model", "bad-times.yaml"})},
      {"place_running", on_demo({"place"}, {"--running", "running.json"})},
      {"compare_running", on_demo({"compare"}, {"--running", "running.json", "--policy", "weft"})},
      {"compare", on_demo({"compare"}, {"--busy", "gpu02,gpu05"})},
      {"compare_json", on_demo({"compare"}, {"--busy", "gpu02,gpu05", "--format", "json"})},
      {"traffic", on_demo({"traffic"}, {})},
      {"traffic_model", {"traffic", "--job", "model-job.yaml"}},
      {"traffic_model_json", {"traffic", "--job", "model-job.yaml", "--format", "json"}},
      {"traffic_matrix", {"traffic", "--job", "matrix-job.yaml"}},
      {"traffic_without_ranks", {"traffic", "--job", "too-large.yaml"}},
      {"traffic_uneven", {"traffic", "--job", "-"}, "weft: 1\nname: j\nnodes: 3\nlayout: {tp: 4, dp: 2}\n"},
      {"affinity", {"affinity", "node/hwloc2.xml"}},
      {"affinity_json", {"affinity", "node/hwloc2.xml", "--format", "json"}},
      {"affinity_views", {"affinity", "node/hwloc1.xml", "node/topo-m.txt", "node/nccl.xml"}},
      {"affinity_contradiction", {"affinity", "node/hwloc2.xml", "node/showtopo.txt"}},
      {"affinity_gres", {"affinity", "node/hwloc2.xml", "--format", "gres.conf", "--nodes", "gpu[01-08]"}},
      {"affinity_gres_of_table", {"affinity", "node/topo-m.txt", "--format", "gres.conf"}},
      {"affinity_env", {"affinity", "node/hwloc2.xml", "--format", "env", "--quiet"}},
      {"affinity_env_amd", {"affinity", "node/showtopo.txt", "--format", "env"}},
      {"affinity_rankfile",
       {"affinity", "node/hwloc2.xml", "--format", "rankfile", "--nodes", "gpu[01-02]", "--quiet"}},
      {"affinity_srun", {"affinity", "node/hwloc2.xml", "--format", "srun", "--quiet"}},
      {"affinity_of_nothing", {"affinity"}},
      {"affinity_of_a_fabric", {"affinity", "fabric.yaml"}},
      {"place_state", {"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state", "nodes.txt"}},
      {"place_state_json",
       {"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state", "nodes.txt", "--format", "json"}},
      {"place_state_first_fit",
       {"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state", "nodes.txt", "--policy", "first-fit"}},
      {"place_state_bad", {"place", "--fabric", "inside.yaml", "--job", "part-job.yaml", "--state", "job.yaml"}},
      {"unknown_command", {"plaice"}},
      {"unknown_option", {"show", "fabric.yaml", "--colour"}},
      {"missing_option", {"place", "--fabric", "fabric.yaml"}},
      {"bad_number", on_demo({"place"}, {"--seed", "seven"})},
      {"bad_format", {"show", "fabric.yaml", "--format", "xml"}},
      {"help_of_nothing", {"help", "plaice"}},
  };
}

class CliGolden : public testing::TestWithParam<Case> {};

TEST_P(CliGolden, AnswersAsRecorded) {
  const Case& c = GetParam();
  const ProgramRun run = run_weft(c.arguments, {.directory = WEFT_SOURCE_DIR "/tests/fixtures", .input = c.input});
  const std::filesystem::path golden = std::filesystem::path(WEFT_SOURCE_DIR "/tests/golden/cli") / (c.name + ".txt");
  const std::string got = transcript(c, run);
  if (std::getenv("WEFT_REGENERATE") != nullptr) {
    spill(golden, got);
    GTEST_SKIP() << "regenerated " << golden;
  }
  ASSERT_TRUE(std::filesystem::exists(golden)) << "no " << golden << "; WEFT_REGENERATE=1 makes it";
  EXPECT_EQ(got, slurp(golden));
}

INSTANTIATE_TEST_SUITE_P(All, CliGolden, testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace weft::test
