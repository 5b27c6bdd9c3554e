// SPDX-License-Identifier: BSD-3-Clause
#include "generate_common.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "node_shape.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology::generate {

Result<void> check_count(std::uint64_t count, std::string_view what) {
  if (count <= config::kMaxHostlistNames) return {};
  const std::string shown = count == std::numeric_limits<std::uint64_t>::max() ? "too many" : fmt::format("{}", count);
  return fail(error(ErrorCode::limit, fmt::format("the fabric has {} {}", shown, what),
                    fmt::format("at most {}", config::kMaxHostlistNames)));
}

Result<void> check_positive(std::uint64_t value, std::string_view option) {
  if (value > 0) return {};
  return fail(error(ErrorCode::bad_value, fmt::format("{} is 0", option), "1 or more"));
}

Result<void> check_shape(const NodeShape& shape) {
  if (!config::is_valid_name(shape.type_name)) {
    return fail(error(ErrorCode::bad_name, fmt::format("\"{}\" cannot name a node type", shape.type_name),
                      "letters, digits, '.', '_' and '-'"));
  }
  if (auto ok = check_positive(shape.gpus, "gpus of a node"); !ok) return ok;
  if (auto ok = check_positive(shape.nics, "nics of a node"); !ok) return ok;
  if (auto ok = check_positive(shape.bandwidth.bits_per_second, "bandwidth"); !ok) return ok;
  if (shape.nvlink) return check_positive(shape.nvlink_bandwidth.bits_per_second, "NVLink bandwidth");
  return {};
}

Result<void> check_divides(std::uint64_t total, std::string_view things, std::uint64_t size, std::string_view groups) {
  if (total > 0 && total % size == 0) return {};
  const std::uint64_t below = total / size * size;
  std::string right = fmt::format("a multiple of {}, such as ", size);
  right += below == 0 ? fmt::format("{}", size) : fmt::format("{} or {}", below, below + size);
  return fail(error(ErrorCode::bad_value, fmt::format("{} {} do not divide into {} of {}", total, things, groups, size),
                    std::move(right)));
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::uint32_t digits(std::uint64_t largest) {
  std::uint32_t count = 1;
  for (; largest >= 10; largest /= 10) ++count;
  return count;
}

std::string Numbers::one(std::uint64_t number) const { return fmt::format("{:0{}}", number, width_); }

std::string Numbers::range(std::uint64_t first, std::uint64_t last) const {
  return first == last ? one(first) : fmt::format("[{}-{}]", one(first), one(last));
}

config::FabricSpec start(std::string name, const NodeShape& shape) {
  config::FabricSpec spec;
  spec.name = std::move(name);
  spec.node_types.push_back(node_type_of(shape));
  return spec;
}

void add_nodes(config::FabricSpec& spec, std::string names) {
  config::NodeSpec& entry = spec.nodes.emplace_back();
  entry.names.value = std::move(names);
  entry.type = spec.node_types.front().name;
}

void add_switches(config::FabricSpec& spec, std::string names, std::uint32_t tier) {
  config::SwitchSpec& entry = spec.switches.emplace_back();
  entry.names.value = std::move(names);
  entry.tier = tier;
}

config::LinkSpec& add_link(config::FabricSpec& spec, std::string from, std::string to, config::LinkPattern pattern,
                           Bandwidth bandwidth, std::uint64_t cables) {
  config::LinkSpec link;
  link.from.value = std::move(from);
  link.to.value = std::move(to);
  link.pattern = pattern;
  link.bandwidth = bandwidth;
  link.cables = static_cast<std::uint32_t>(cables);
  return spec.links.emplace_back(std::move(link));
}

Uplinks fewest_spines(std::uint64_t up, std::uint64_t below, std::uint64_t max_down, std::uint64_t taper) {
  for (std::uint64_t spines = 1; spines <= up; ++spines) {
    if (up % spines != 0) continue;
    const std::uint64_t cables = up / spines;
    const std::uint64_t down = times(below, cables);
    if (down <= max_down && down % taper == 0) return {spines, cables};
  }
  return {};
}

}  // namespace weft::topology::generate
