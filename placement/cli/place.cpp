// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include "app.hpp"
#include "commands.hpp"
#include "job_input.hpp"
#include "output.hpp"
#include "policies.hpp"
#include "weft/placement/io.hpp"

namespace weft::cli {
namespace {

// A hostfile has no room for ranks that do not go node by node, GPU 0 first.
bool ranks_go_in_order(const placement::Placement& placement) {
  if (placement.nodes.empty() || placement.ranks.size() % placement.nodes.size() != 0) return false;
  const std::size_t per_node = placement.ranks.size() / placement.nodes.size();
  for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
    const placement::Slot& slot = placement.ranks[rank];
    if (slot.node != placement.nodes[rank / per_node] || slot.gpu != rank % per_node) return false;
  }
  return true;
}

std::string text_of(const Prepared& prepared, const placement::Placement& placement, const placement::Score& score) {
  const topology::Fabric& fabric = prepared.loaded.fabric;
  return placement::write_placement_text(fabric, placement, prepared.job, prepared.resolved.layout) + '\n' +
         placement::write_score_text(fabric, score);
}

Result<std::string> rendered(const PlaceArgs& args, const Prepared& prepared, const placement::Placement& placement) {
  const topology::Fabric& fabric = prepared.loaded.fabric;
  const placement::PlacementDoc doc = placement::to_doc(fabric, placement, prepared.job.name, &prepared.traffic);
  if (args.format == "hostfile") {
    if (!ranks_go_in_order(placement)) {
      say("warning: the ranks do not go node by node; a hostfile cannot say so, --format rankfile can");
    }
    return placement::write_hostfile(doc);
  }
  if (args.format == "rankfile") return placement::write_rankfile(doc);
  if (args.format == "env") return placement::write_env(doc);
  const auto score = score_of(prepared, placement);
  if (!score) return fail(score.error());
  if (args.format == "json") return placement::write_placement_json(doc, &fabric, &*score);
  return text_of(prepared, placement, *score);
}

}  // namespace

Result<int> run_place(const PlaceArgs& args) {
  const auto prepared = prepare(args.common, args.nodes, args.links);
  if (!prepared) return fail(prepared.error());
  const placement::LinkOptions links = prepared->links.options();
  const auto placed =
      placement::place(prepared->loaded.fabric, prepared->request(), place_options(args.policy, args.choice, links));
  if (!placed) return fail(placed.error());
  const auto text = rendered(args, *prepared, *placed);
  if (!text) return fail(text.error());
  const auto written = deliver(*text, args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

Result<int> run_score(const ScoreArgs& args) {
  const auto prepared = prepare(args.common, args.nodes, args.links);
  if (!prepared) return fail(prepared.error());
  const topology::Fabric& fabric = prepared->loaded.fabric;
  const auto source = read_source(args.placement);
  if (!source) return fail(source.error());
  const auto doc = placement::parse_placement(*source);
  if (!doc) return fail(doc.error());
  const auto placed = placement::resolve_placement(fabric, *doc, prepared->resolved.ranks_per_node);
  if (!placed) return fail(placed.error());
  const auto score = score_of(*prepared, *placed);
  if (!score) return fail(score.error());
  const bool json = args.format == "json";
  const auto written = deliver(
      json ? placement::write_score_json(fabric, *score) + '\n' : text_of(*prepared, *placed, *score), args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

}  // namespace weft::cli
