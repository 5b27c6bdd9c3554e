// SPDX-License-Identifier: BSD-3-Clause
#include "traffic_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "summary.hpp"

namespace weft::bridge {
namespace {

// Everything that build_traffic looks at in a job made from a SPEC.
std::string key_of(const config::JobSpec& job, const config::Layout& layout) {
  std::string out = fmt::format("{} {}", job.nodes, fmt::join(layout.size, " "));
  for (const config::Dim d : layout.order) out += fmt::format(" {}", config::to_string(d));
  for (const config::TrafficTerm& term : job.traffic)
    out += fmt::format(" {} {} {} {}", config::to_string(term.dim), config::to_string(term.collective),
                       term.bytes.value, config::to_string(term.algorithm));
  return out + (job.cross_rail ? (*job.cross_rail == config::CrossRail::pxn ? " pxn" : " fabric") : "");
}

}  // namespace

Result<Known> make_known(const config::JobSpec& job, const config::Layout& layout) {
  auto built = placement::build_traffic(job, layout);
  if (!built) return fail(built.error());
  Known out;
  out.traffic = std::make_shared<const placement::Traffic>(std::move(*built));
  if (out.traffic->flow_count() <= kMaxScoredFlows) out.digest = placement::make_digest(*out.traffic);
  return out;
}

Result<Known> TrafficCache::get(const config::JobSpec& job, const config::Layout& layout) {
  std::string key = key_of(job, layout);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return entries_.front().known;
    }
  }
  auto known = make_known(job, layout);
  if (!known) return known;
  const std::lock_guard lock(mutex_);
  entries_.push_front({std::move(key), *known});
  if (entries_.size() > limit_) entries_.pop_back();
  return known;
}

}  // namespace weft::bridge
