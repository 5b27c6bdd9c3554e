// SPDX-License-Identifier: BSD-3-Clause
#include "link_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "fabric_input.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/io.hpp"

namespace weft::cli {
namespace {

using placement::Slot;
using topology::Fabric;

constexpr std::array<std::string_view, config::kDims> kDims{"tp", "cp", "ep", "pp", "dp"};

Result<void> read_overlap(const std::string& word, placement::TimeModel& model) {
  const auto wrong = [&](std::string message) {
    return fail(option_error(ErrorCode::usage, "--overlap", word, std::move(message),
                             "DIM=PART, such as dp=0.5: tp, cp, ep, pp or dp, and 0 to 1"));
  };
  const std::size_t equals = word.find('=');
  const std::string_view text(word);
  const auto dim = std::find(kDims.begin(), kDims.end(), text.substr(0, std::min(equals, word.size())));
  if (equals == std::string::npos || dim == kDims.end()) return wrong("this is no part of a dimension");
  double part = 0;
  const char* end = word.data() + word.size();
  const auto [stop, fault] = std::from_chars(word.data() + equals + 1, end, part);
  if (fault != std::errc() || stop != end || !(part >= 0 && part <= 1)) return wrong("this is no part of one");
  model.overlap[static_cast<std::size_t>(dim - kDims.begin())] = part;
  return {};
}

Result<void> read_tables(const std::vector<std::string>& paths, placement::StaticTables& out) {
  for (const std::string& path : paths) {
    const auto source = read_source(path);
    if (!source) return fail(source.error());
    if (placement::is_forwarding_tables((*source)->text()) || out.subnets.empty()) {
      auto tables = placement::parse_forwarding_tables(*source);
      if (!tables) return fail(tables.error());
      out.subnets.push_back(std::move(*tables));
    } else if (auto ok = placement::read_guid2lid(*source, out.subnets.back()); !ok) {
      return ok;
    }
  }
  return {};
}

// "placement:job" where no file has the whole text for its name.
std::pair<std::string, std::string> split_running(const std::string& word) {
  std::error_code ignored;
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(word, ignored)) return {word, {}};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

// With the job file, as `weft score` reads the two.
Result<Neighbour> with_job(const Fabric& fabric, const placement::PlacementDoc& doc, const std::string& path) {
  const auto source = read_source(path);
  if (!source) return fail(source.error());
  const auto job = config::parse_job_yaml(*source);
  if (!job) return fail(job.error());
  const auto resolved = placement::resolve_job(fabric, *job);
  if (!resolved) return fail(resolved.error());
  auto traffic = placement::build_traffic(*job, resolved->layout);
  if (!traffic) return fail(traffic.error());
  auto placed = placement::resolve_placement(fabric, doc, resolved->ranks_per_node);
  if (!placed) return fail(placed.error());
  return Neighbour{job->name, std::move(*placed), std::move(*traffic)};
}

Result<Neighbour> read_running(const Fabric& fabric, const std::string& word) {
  const auto [path, job] = split_running(word);
  const auto source = read_source(path);
  if (!source) return fail(source.error());
  const auto doc = placement::parse_placement(*source);
  if (!doc) return fail(doc.error());
  if (!job.empty()) return with_job(fabric, *doc, job);
  auto traffic = placement::traffic_of(*doc);
  if (!traffic) {
    Error e = std::move(traffic.error());
    if (e.code == ErrorCode::missing) e.expected += fmt::format(", or --running {}:job.yaml", path);
    return fail(std::move(e));
  }
  auto placed = placement::resolve_placement(fabric, *doc, traffic->ranks_per_node);
  if (!placed) return fail(placed.error());
  return Neighbour{doc->job.empty() ? path : doc->job, std::move(*placed), std::move(*traffic)};
}

// Which job has which GPU.
using Owners = std::map<std::pair<topology::NodeId, std::uint32_t>, const std::string*>;

Result<void> claim(const Fabric& fabric, const placement::Placement& placement, const std::string& name,
                   Owners& owners) {
  for (const Slot& s : placement.ranks) {
    const auto [at, fresh] = owners.emplace(std::pair(s.node, s.gpu), &name);
    if (fresh || at->second == &name) continue;
    return fail(error(ErrorCode::conflict,
                      fmt::format("GPU {} of {} is used by running job {} and by {}", s.gpu, fabric.node_name(s.node),
                                  *at->second, name),
                      "a GPU for each rank of each job"));
  }
  return {};
}

}  // namespace

placement::LinkOptions LinkInput::options() const {
  placement::LinkOptions out;
  out.routing = routing;
  out.tables = &tables;
  out.time_model = time_model;
  for (const Neighbour& each : running) out.running.push_back({each.name, &each.placement, &each.traffic});
  return out;
}

Result<LinkInput> read_links(const LoadedFabric& loaded, const LinkArgs& args) {
  const Fabric& fabric = loaded.fabric;
  LinkInput out;
  const auto routing = placement::parse_routing(args.routing);
  if (!routing) return fail(routing.error());
  out.routing = *routing;
  const bool is_static = out.routing == placement::Routing::forwarding_tables;
  if (is_static == args.tables.empty())
    return fail(error(ErrorCode::usage,
                      is_static ? "--routing static goes by forwarding tables" : "--tables is for --routing static",
                      is_static ? "--tables FILE..." : "--routing static --tables FILE..."));
  if (auto ok = read_tables(args.tables, out.tables); !ok) return fail(ok.error());
  if (is_static) out.tables.ports = loaded.ports;
  if (!args.time_model.empty()) {
    const auto source = read_source(args.time_model);
    if (!source) return fail(source.error());
    const auto model = placement::parse_time_model_yaml(*source);
    if (!model) return fail(model.error());
    out.time_model = *model;
  }
  for (const std::string& word : args.overlap)
    if (auto ok = read_overlap(word, out.time_model); !ok) return fail(ok.error());
  for (const std::string& word : args.running) {
    auto job = read_running(fabric, word);
    if (!job) return fail(job.error());
    out.running.push_back(std::move(*job));
  }
  Owners owners;
  for (const Neighbour& each : out.running)
    if (auto ok = claim(fabric, each.placement, each.name, owners); !ok) return fail(ok.error());
  return out;
}

Result<void> check_apart(const Fabric& fabric, const LinkInput& links, const placement::Placement& placement) {
  Owners owners;
  for (const Neighbour& each : links.running)
    if (auto ok = claim(fabric, each.placement, each.name, owners); !ok) return ok;
  const std::string own = "this placement";
  return links.running.empty() ? Result<void>{} : claim(fabric, placement, own, owners);
}

void take_running(const LinkInput& links, placement::NodeMask& free) {
  for (const Neighbour& each : links.running)
    for (const topology::NodeId node : each.placement.nodes) free[topology::index(node)] = false;
}

}  // namespace weft::cli
