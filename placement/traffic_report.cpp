// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/traffic_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::placement {
namespace {

using config::Dim;

double wire_bytes(const Traffic& traffic, const TrafficTermFlows& term) {
  std::vector<std::uint64_t> units(term.shapes.size(), 0);
  for (std::uint32_t g = 0; g < traffic.grid.group_count(term.term.dim); ++g) {
    const std::uint32_t s = term.shape_of_group.empty() ? 0 : term.shape_of_group[g];
    for (const ShapeEdge& e : term.shapes[s].edges) units[s] += e.units;
    if (term.shape_of_group.empty()) {  // all alike
      units[s] *= traffic.grid.group_count(term.term.dim);
      break;
    }
  }
  double out = 0;
  for (std::size_t s = 0; s < units.size(); ++s)
    out += edge_bytes(units[s], term.term.bytes, term.shapes[s].denominator);
  return out;
}

std::string layout_text(const config::Layout& layout) {
  std::vector<std::string> sizes;
  std::vector<std::string_view> order;
  for (const Dim d : layout.order) {
    sizes.push_back(fmt::format("{} {}", to_string(d), layout[d]));
    order.push_back(to_string(d));
  }
  return fmt::format("{} (order {})", fmt::join(sizes, ", "), fmt::join(order, "-"));
}

std::string number_text(double value) {
  return value < 9.0e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.9g}", value);
}

std::string amount(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

// Others go one way only.
bool has_algorithms(config::Collective collective) {
  return collective == config::Collective::allreduce || collective == config::Collective::reduce_scatter ||
         collective == config::Collective::allgather;
}

// Whole numbers as integers.
nlohmann::ordered_json json_number(double value) {
  if (value >= 0 && value < 9.0e15 && value == static_cast<double>(static_cast<std::uint64_t>(value)))
    return static_cast<std::uint64_t>(value);
  return value;
}

Result<void> say_origin(const config::JobSpec& job, const config::Layout& layout, TrafficReport& out,
                        std::vector<DerivedTerm>& derived) {
  if (job.model) {
    auto model = derive_traffic(*job.model, layout, job.algorithm, job.source);
    if (!model) return fail(model.error());
    out.origin = "model";
    out.numbers = std::move(model->numbers);
    out.notes = std::move(model->notes);
    derived = std::move(model->terms);
    return {};
  }
  if (job.matrix) {
    const auto file = load_comm_file(job, layout);
    if (!file) return fail(file.error());
    out.origin = fmt::format("matrix {} ({})", job.matrix->value, to_string(file->kind));
    for (const Note& n : file->notes) out.notes.push_back(n.message);
    for (const config::TrafficTerm& t : file->terms)
      derived.push_back({t, "", "sum over the step", std::string(to_string(file->kind))});
    return {};
  }
  out.origin = "traffic";
  for (const config::TrafficTerm& t : job.traffic) derived.push_back({t, "", "as given", "job file"});
  return {};
}

}  // namespace

Result<TrafficReport> describe_traffic(const config::JobSpec& job, const config::Layout& layout) {
  auto traffic = build_traffic(job, layout);
  if (!traffic) return fail(traffic.error());
  TrafficReport out;
  out.job = job.name;
  out.layout = layout;
  out.nodes = job.nodes;
  out.ranks_per_node = traffic->ranks_per_node;
  std::vector<DerivedTerm> derived;
  if (auto ok = say_origin(job, layout, out, derived); !ok) return fail(ok.error());
  for (std::size_t i = 0; i < traffic->terms.size() && i < derived.size(); ++i) {
    const TrafficTermFlows& term = traffic->terms[i];
    ReportedTerm t;
    t.derived = std::move(derived[i]);
    t.algorithm = term.algorithm;
    t.groups = traffic->grid.group_count(term.term.dim);
    t.group_size = traffic->grid.group_size(term.term.dim);
    t.wire_bytes = wire_bytes(*traffic, term);
    out.wire_bytes += t.wire_bytes;
    out.terms.push_back(std::move(t));
  }
  std::uint64_t direct = 0;
  for (const RankFlow& f : traffic->direct) direct += f.bytes;
  out.direct_flows = traffic->direct.size();
  out.direct_bytes = static_cast<double>(direct);
  out.wire_bytes += out.direct_bytes;
  return out;
}

std::string write_traffic_text(const TrafficReport& report) {
  std::string out =
      fmt::format("{:<16}{}: {} nodes x {} ranks\n", "job", report.job, report.nodes, report.ranks_per_node);
  out += fmt::format("{:<16}{}\n{:<16}{}\n", "layout", layout_text(report.layout), "traffic from", report.origin);
  for (const DerivedNumber& n : report.numbers)
    out += fmt::format("\n{} = {}\n    = {}\n    {}\n", n.name, n.value, n.formula, n.source);
  for (const ReportedTerm& t : report.terms) {
    const config::TrafficTerm& term = t.derived.term;
    out +=
        fmt::format("\n{} {}{} = {} bytes a rank and step ({})\n    = {}\n    {}\n", to_string(term.dim),
                    to_string(term.collective), t.derived.what.empty() ? "" : " of " + t.derived.what, term.bytes.value,
                    amount(static_cast<double>(term.bytes.value)), t.derived.formula, t.derived.source);
    out += fmt::format("    {} groups of {}{}: {} on the wire\n", t.groups, t.group_size,
                       has_algorithms(term.collective) ? fmt::format(", {}", to_string(t.algorithm)) : "",
                       amount(t.wire_bytes));
  }
  if (report.direct_flows > 0)
    out += fmt::format("\n{} pairs of ranks exchange {} bytes a step ({})\n", report.direct_flows,
                       number_text(report.direct_bytes), amount(report.direct_bytes));
  out += fmt::format("\nin all {} bytes a step on the wire, NVLink included ({})\n", number_text(report.wire_bytes),
                     amount(report.wire_bytes));
  for (const std::string& n : report.notes) out += fmt::format("note: {}\n", n);
  return out;
}

std::string write_traffic_json(const TrafficReport& report) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["weft"] = 1;
  out["job"] = report.job;
  out["nodes"] = report.nodes;
  out["ranks_per_node"] = report.ranks_per_node;
  std::vector<std::string_view> order;
  for (const Dim d : report.layout.order) {
    out["layout"][std::string(to_string(d))] = report.layout[d];
    order.push_back(to_string(d));
  }
  out["layout"]["order"] = fmt::format("{}", fmt::join(order, "-"));
  out["origin"] = report.origin;
  out["numbers"] = Json::array();
  for (const DerivedNumber& n : report.numbers)
    out["numbers"].push_back({{"name", n.name}, {"value", n.value}, {"formula", n.formula}, {"source", n.source}});
  out["terms"] = Json::array();
  for (const ReportedTerm& t : report.terms) {
    const config::TrafficTerm& term = t.derived.term;
    out["terms"].push_back({{"dim", to_string(term.dim)},
                            {"collective", to_string(term.collective)},
                            {"bytes", term.bytes.value},
                            {"algorithm", to_string(t.algorithm)},
                            {"groups", t.groups},
                            {"group_size", t.group_size},
                            {"wire_bytes", json_number(t.wire_bytes)},
                            {"what", t.derived.what},
                            {"formula", t.derived.formula},
                            {"source", t.derived.source}});
  }
  out["direct"] = {{"flows", report.direct_flows}, {"bytes", json_number(report.direct_bytes)}};
  out["wire_bytes"] = json_number(report.wire_bytes);
  out["notes"] = report.notes;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft::placement
