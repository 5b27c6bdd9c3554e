// SPDX-License-Identifier: BSD-3-Clause
//
// The policies `tree` and `block` against what Slurm's own plugins chose: tests/fixtures/slurm-24.11/*.json, recorded
// from a stock slurmctld by tests/slurm/record-decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slurm_policies.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/import.hpp"

namespace weft::placement {
namespace {

using nlohmann::json;
using topology::Fabric;
using topology::NodeId;

std::vector<std::string> names(const std::string& hostlist) {
  auto out = config::expand_hostlist(hostlist);
  if (!out) throw std::runtime_error("bad hostlist " + hostlist);
  std::sort(out->begin(), out->end());
  return *out;
}

std::vector<std::filesystem::path> records() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/tests/fixtures/slurm-24.11"))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// The names chosen, sorted; nullopt where the policy finds none.
std::optional<std::vector<std::string>> choose(const Fabric& fabric, bool block, const json& decision) {
  Eligible eligible;
  eligible.mask.assign(fabric.node_count(), false);
  const auto id = [&](const std::string& name) { return fabric.find_node(name).value(); };
  for (const std::string& name : names(decision.at("free"))) {
    eligible.mask[topology::index(id(name))] = true;
    ++eligible.count;
  }
  if (decision.contains("required"))
    for (const std::string& name : names(decision.at("required"))) eligible.required.push_back(id(name));
  const std::uint32_t nodes = decision.at("nodes");
  const auto chosen =
      block ? slurm_block(fabric, eligible, nodes, decision.value("segment", 0U)) : slurm_tree(fabric, eligible, nodes);
  if (!chosen) return std::nullopt;
  std::vector<std::string> out;
  for (const NodeId n : *chosen) out.emplace_back(fabric.node_name(n));
  std::sort(out.begin(), out.end());
  return out;
}

class SlurmRecords : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(SlurmRecords, ThePolicyChoosesWhatSlurmChose) {
  std::ifstream in(GetParam());
  const json record = json::parse(in);
  const auto source =
      std::make_shared<const SourceText>("topology.conf", record.at("topology_conf").get<std::string>());
  const auto imported = topology::read_fabric(source);
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  const bool block = record.at("plugin") == "topology/block";
  std::size_t compared = 0;
  for (const json& decision : record.at("decisions")) {
    std::optional<std::vector<std::string>> wanted;
    if (!decision.at("chosen").is_null()) wanted = names(decision.at("chosen"));
    const auto got = choose(*fabric, block, decision);
    EXPECT_EQ(got.has_value(), wanted.has_value()) << decision;
    if (got && wanted) {
      EXPECT_EQ(config::compress_hostlist(*got), config::compress_hostlist(*wanted)) << decision;
    }
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SlurmRecords, testing::ValuesIn(records()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace weft::placement
