// SPDX-License-Identifier: BSD-3-Clause
//
// "--node-type": presets of the usual machines and key=value. NVLink is per GPU and direction, from NVIDIA's and AMD's
// datasheets (which give both directions together); NICs and their speed are those of the reference design.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "slurm_conf.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/config/units.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kMostParts = 1024;  // GPUs or NICs a node

constexpr Bandwidth gigabytes(std::uint64_t n) { return {n * 8'000'000'000}; }
constexpr Bandwidth gigabits(std::uint64_t n) { return {n * 1'000'000'000}; }

struct Preset {
  std::string_view name;
  std::uint32_t gpus;
  std::uint32_t nics;
  Bandwidth nvlink;
  Bandwidth cable;
};

constexpr std::array<Preset, 11> kPresets{{
    {"v100", 8, 4, gigabytes(150), gigabits(100)},    // DGX-1
    {"a100", 8, 8, gigabytes(300), gigabits(200)},    // DGX A100
    {"a800", 8, 8, gigabytes(200), gigabits(200)},    //
    {"h100", 8, 8, gigabytes(450), gigabits(400)},    // DGX H100
    {"h200", 8, 8, gigabytes(450), gigabits(400)},    //
    {"h800", 8, 8, gigabytes(200), gigabits(400)},    //
    {"b200", 8, 8, gigabytes(900), gigabits(400)},    // DGX B200
    {"b300", 8, 8, gigabytes(900), gigabits(800)},    // DGX B300
    {"gb200", 4, 4, gigabytes(900), gigabits(400)},   // a tray of GB200 NVL72
    {"gb300", 4, 4, gigabytes(900), gigabits(800)},   // a tray of GB300 NVL72
    {"mi300x", 8, 8, gigabytes(448), gigabits(400)},  // seven Infinity Fabric links of 64 GB/s
}};

Error usage(std::string message) {
  std::string names;
  for (const Preset& preset : kPresets) names += std::string(names.empty() ? "" : ", ") + std::string(preset.name);
  return error(ErrorCode::usage, std::move(message),
               fmt::format("one of {}, or gpus=N,nics=N,nvlink=450GB/s|none,bandwidth=400Gb/s,name=WORD", names));
}

Result<void> apply_preset(std::string_view word, ImportOptions& options) {
  const auto preset =
      std::find_if(kPresets.begin(), kPresets.end(), [word](const Preset& p) { return same_key(p.name, word); });
  if (preset == kPresets.end()) return fail(usage(fmt::format("no node type '{}'", word)));
  options.type_name = std::string(preset->name);
  options.gpus_per_node = preset->gpus;
  options.nics_per_node = preset->nics;
  options.nvlink = true;
  options.nvlink_bandwidth = preset->nvlink;
  if (!options.bandwidth) options.bandwidth = preset->cable;
  return {};
}

Result<std::uint32_t> count_of(std::string_view key, std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostParts) {
    return fail(error(ErrorCode::usage, fmt::format("{}={} in the node type", key, text),
                      fmt::format("a whole number from 1 to {}", kMostParts)));
  }
  return value;
}

Result<Bandwidth> bandwidth_of(std::string_view key, std::string_view text) {
  auto value = parse_bandwidth(text);
  if (value) return *value;
  return fail(error(ErrorCode::usage, fmt::format("{}={} in the node type: {}", key, text, value.error().message),
                    value.error().expected));
}

Result<void> apply_key(std::string_view key, std::string_view text, ImportOptions& options) {
  if (key == "gpus" || key == "nics") {
    auto value = count_of(key, text);
    if (!value) return fail(std::move(value.error()));
    (key == "gpus" ? options.gpus_per_node : options.nics_per_node) = *value;
    return {};
  }
  if (key == "nvlink" && text == "none") {
    options.nvlink = false;
    options.nvlink_bandwidth.reset();
    return {};
  }
  if (key == "nvlink" || key == "bandwidth") {
    auto value = bandwidth_of(key, text);
    if (!value) return fail(std::move(value.error()));
    if (key == "nvlink") options.nvlink = true;
    (key == "nvlink" ? options.nvlink_bandwidth : options.bandwidth) = *value;
    return {};
  }
  if (key == "name") {
    if (!config::is_valid_name(text)) {
      return fail(error(ErrorCode::usage, fmt::format("name={} in the node type", text), "a plain word"));
    }
    options.type_name = std::string(text);
    return {};
  }
  return fail(usage(fmt::format("no key '{}' in a node type", key)));
}

}  // namespace

Result<ImportOptions> parse_node_type(std::string_view text, ImportOptions base) {
  if (text.empty()) return fail(usage("an empty node type"));
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    Result<void> ok;
    if (equals != std::string_view::npos) {
      ok = apply_key(item.substr(0, equals), item.substr(equals + 1), base);
    } else if (begin == 0) {
      ok = apply_preset(item, base);
    } else {
      ok = fail(usage(fmt::format("'{}' in a node type has no value", item)));
    }
    if (!ok) return fail(std::move(ok.error()));
    begin = end + 1;
  }
  return base;
}

}  // namespace weft::topology
