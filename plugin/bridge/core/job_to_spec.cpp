// SPDX-License-Identifier: BSD-3-Clause
#include "job_to_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "weft/placement/model.hpp"
#include "weft_spec.h"

namespace weft::bridge {
namespace {

tl::unexpected<Error> cannot(const config::JobSpec& job, Position at, std::string message, std::string expected) {
  return fail(error_at(ErrorCode::unsupported, job.source, at, 1, std::move(message), std::move(expected)));
}

Result<void> check_carried(const config::JobSpec& job) {
  if (job.matrix) return cannot(job, job.matrix->at, "a SPEC cannot carry a matrix", "traffic or model");
  if (job.constraints.required_nodes)
    return cannot(job, job.constraints.required_nodes->at, "a SPEC names no nodes", "--nodelist");
  if (job.constraints.excluded_nodes)
    return cannot(job, job.constraints.excluded_nodes->at, "a SPEC names no nodes", "--exclude");
  return {};
}

// With dp where the file says enough to know it.
Result<config::Layout> layout_of(const config::JobSpec& job, bool& dp_known) {
  dp_known = job.dp_given || job.ranks_per_node.has_value();
  if (!dp_known) return job.layout.value_or(config::Layout());
  const std::uint64_t ranks = job.ranks_per_node ? std::uint64_t{job.nodes} * *job.ranks_per_node : job.layout->ranks();
  return config::resolve_layout(job, ranks);
}

Result<std::vector<config::TrafficTerm>> terms_of(const config::JobSpec& job, const config::Layout& layout,
                                                  bool dp_known) {
  if (!job.model) return job.traffic;
  if (!dp_known)
    return cannot(job, job.model->at, "the model's traffic depends on dp, which neither dp nor ranks_per_node tells",
                  "\"ranks_per_node: 8\" or so");
  auto derived = placement::derive_traffic(*job.model, layout, job.algorithm, job.source);
  if (!derived) return fail(derived.error());
  std::vector<config::TrafficTerm> out;
  for (const placement::DerivedTerm& term : derived->terms) out.push_back(term.term);
  return out;
}

}  // namespace

Result<std::string> job_to_spec(const config::JobSpec& job) {
  if (auto ok = check_carried(job); !ok) return fail(ok.error());
  bool dp_known = false;
  const auto layout = layout_of(job, dp_known);
  if (!layout) return fail(layout.error());
  auto terms = terms_of(job, *layout, dp_known);
  if (!terms) return fail(terms.error());
  std::stable_sort(terms->begin(), terms->end(),
                   [](const config::TrafficTerm& a, const config::TrafficTerm& b) { return a.dim < b.dim; });
  std::erase_if(*terms, [](const config::TrafficTerm& t) { return t.bytes.value == 0; });
  if (terms->size() > WEFT_SPEC_TERMS)
    return cannot(job, {}, fmt::format("{} traffic terms", terms->size()), fmt::format("at most {}", WEFT_SPEC_TERMS));
  weft_spec out;
  weft_spec_init(&out);
  for (std::size_t d = 0; d < config::kDims; ++d) {
    out.size[d] = layout->size[d];
    out.given[d] = layout->size[d] > 1 ? 1 : 0;
    out.order[d] = static_cast<std::uint8_t>(layout->order[d]);
  }
  if (!dp_known) out.size[WEFT_DIM_DP] = 1;
  out.given[WEFT_DIM_DP] = dp_known ? 1 : 0;
  out.order_given = layout->order != config::Layout().order ? 1 : 0;
  for (const config::TrafficTerm& term : *terms) {
    if (term.bytes.value > WEFT_SPEC_MAX_BYTES)
      return cannot(job, {}, fmt::format("{} of {} traffic", weft::to_string(term.bytes), config::to_string(term.dim)),
                    "at most 1024TiB");
    out.given[static_cast<std::size_t>(term.dim)] |= term.dim == config::Dim::dp ? 0 : 1;
    out.terms[out.term_count++] = {static_cast<std::uint8_t>(term.dim), static_cast<std::uint8_t>(term.collective),
                                   static_cast<std::uint8_t>(term.algorithm), term.bytes.value};
  }
  const config::Constraints& rules = job.constraints;
  out.segment = rules.segment.value_or(0);
  if (rules.segment) out.segment_level = static_cast<std::uint8_t>(static_cast<int>(rules.segment_level) + 1);
  out.max_leaves = rules.max_leaves.value_or(0);
  out.max_pods = rules.max_pods.value_or(0);
  if (rules.exclusive) out.exclusive = static_cast<std::uint8_t>(static_cast<int>(*rules.exclusive) + 1);
  if (job.cross_rail)
    out.cross_rail = *job.cross_rail == config::CrossRail::pxn ? WEFT_CROSS_RAIL_PXN : WEFT_CROSS_RAIL_FABRIC;
  std::array<char, WEFT_SPEC_BYTES + 1> text{};
  const std::size_t length = weft_spec_write(&out, text.data(), text.size());
  if (length > WEFT_SPEC_BYTES)
    return cannot(job, {}, "the SPEC would be longer than 4096 bytes", "fewer traffic terms");
  if (length == 0) return cannot(job, {}, "the job file says nothing that a SPEC could carry", "a layout");
  return std::string(text.data(), length);
}

}  // namespace weft::bridge
