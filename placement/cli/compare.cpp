// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app.hpp"
#include "commands.hpp"
#include "job_input.hpp"
#include "json_text.hpp"
#include "output.hpp"
#include "policies.hpp"
#include "score_table.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/placement/io.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

// What one policy did.
struct Outcome {
  std::string policy;
  Result<std::pair<placement::Placement, placement::Score>> result;
};

Result<std::pair<placement::Placement, placement::Score>> try_policy(const Prepared& prepared, std::string_view policy,
                                                                     const CompareArgs& args) {
  const placement::LinkOptions links = prepared.links.options();
  auto placed = placement::place(prepared.loaded.fabric, prepared.request(), place_options(policy, args.choice, links));
  if (!placed) return fail(std::move(placed.error()));
  auto score = score_of(prepared, *placed);
  if (!score) return fail(std::move(score.error()));
  return std::pair(std::move(*placed), std::move(*score));
}

std::vector<Outcome> try_all(const Prepared& prepared, const CompareArgs& args) {
  std::vector<Outcome> out;
  for (const placement::Policy policy : all_policies()) {
    const std::string name(to_string(policy));
    const bool asked = std::find(args.policies.begin(), args.policies.end(), name) != args.policies.end();
    if (args.policies.empty() || asked) out.push_back({name, try_policy(prepared, name, args)});
  }
  return out;
}

std::string node_list(const topology::Fabric& fabric, const placement::Placement& placement) {
  std::vector<std::string> names;
  for (const topology::NodeId node : placement.nodes) names.push_back(fabric.node_name(node));
  return config::compress_hostlist(names);
}

std::string compare_text(const Prepared& prepared, const std::vector<Outcome>& outcomes) {
  const topology::Fabric& fabric = prepared.loaded.fabric;
  std::vector<std::pair<std::string, placement::Score>> columns;
  std::string nodes;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.result) {
      nodes += fmt::format("  {}: no placement: {}\n", outcome.policy, outcome.result.error().message);
      continue;
    }
    nodes += fmt::format("  {}: {}\n", outcome.policy, node_list(fabric, outcome.result->first));
    columns.emplace_back(outcome.policy, outcome.result->second);
  }
  return fmt::format("job {}: {}, {} on {}\n\n{}\nnodes in rank order\n{}", prepared.job.name,
                     counted(prepared.job.nodes, "node"), counted(prepared.resolved.layout.ranks(), "rank"),
                     fabric.name(), score_table(fabric, columns), nodes);
}

std::string compare_json(const Prepared& prepared, const std::vector<Outcome>& outcomes) {
  const topology::Fabric& fabric = prepared.loaded.fabric;
  Json policies = Json::array();
  for (const Outcome& outcome : outcomes) {
    Json one = {{"policy", outcome.policy}};
    if (outcome.result) {
      const auto doc = placement::to_doc(fabric, outcome.result->first, prepared.job.name, &prepared.traffic);
      one["placement"] = Json::parse(placement::write_placement_json(doc, &fabric, &outcome.result->second));
    } else {
      one["error"] = outcome.result.error().message;
    }
    policies.push_back(std::move(one));
  }
  return json_text({{"weft", 1}, {"job", prepared.job.name}, {"fabric", fabric.name()}, {"policies", policies}});
}

}  // namespace

Result<int> run_compare(const CompareArgs& args) {
  const auto prepared = prepare(args.common, args.nodes, args.links);
  if (!prepared) return fail(prepared.error());
  std::vector<Outcome> outcomes = try_all(*prepared, args);
  const bool any = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.result.has_value(); });
  // No policy has an answer: the first one's reason stands for all.
  if (!any) return fail(outcomes.front().result.error());
  // "Every policy" is every one that there is; one that the user named is answered for.
  if (args.policies.empty()) {
    std::erase_if(outcomes, [](const Outcome& o) {
      return !o.result.has_value() && o.result.error().code == ErrorCode::unsupported;
    });
  }
  for (const Outcome& outcome : outcomes) {
    if (!outcome.result) say(fmt::format("{}: {}", outcome.policy, outcome.result.error().to_string()));
  }
  const auto written = deliver(
      args.format == "json" ? compare_json(*prepared, outcomes) : compare_text(*prepared, outcomes), args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

}  // namespace weft::cli
