// SPDX-License-Identifier: BSD-3-Clause
//
// FabricSpec as a tidy person would write it: an entry a line, quotes only where YAML or a reader's eye needs them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "weft/config/fabric_spec.hpp"

namespace weft::config {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Words that some YAML reader takes for a boolean or nothing.
bool is_reserved(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords{"true", "false", "yes", "no", "on", "off", "y", "n", "null"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Plain where it begins with a letter and goes on harmlessly; in double quotes else.
std::string scalar(std::string_view text) {
  const auto plain_byte = [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '+';
  };
  if (!text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), plain_byte) && !is_reserved(text)) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Writer {
 public:
  explicit Writer(const FabricSpec& spec) : spec_(spec) {}

  std::string run() {
    line("weft: 1");
    if (!spec_.name.empty()) line("name: {}", scalar(spec_.name));
    write_types();
    write_list("switches", spec_.switches);
    write_list("nodes", spec_.nodes);
    write_list("links", spec_.links);
    write_list("nvlink_domains", spec_.nvlink_domains);
    write_list("health", spec_.health);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void write_types() {
    if (spec_.node_types.empty()) return;
    line("node_types:");
    for (const NodeTypeSpec& type : spec_.node_types) {
      line("  {}:", scalar(type.name.value));
      if (!type.hwloc || type.gpus > 0) line("    gpus: {}", type.gpus);
      if (!type.hwloc || type.nics > 0) line("    nics: {}", type.nics);
      if (!type.nic_of_gpu.empty()) line("    nic_of_gpu: [{}]", fmt::join(type.nic_of_gpu, ", "));
      if (type.nvlink == NvlinkScope::none) {
        line("    nvlink: {{domain: none}}");
      } else if (type.nvlink_bandwidth) {
        line("    nvlink: {{domain: node, bandwidth: {}}}", to_byte_rate_string(*type.nvlink_bandwidth));
      }
      if (type.hwloc) line("    hwloc: {}", scalar(type.hwloc->value));
      if (!type.hwloc_nics.empty()) {
        std::vector<std::string> names;
        for (const Text& name : type.hwloc_nics) names.push_back(scalar(name.value));
        line("    hwloc_nics: [{}]", fmt::join(names, ", "));
      }
    }
  }

  template <typename T>
  void write_list(std::string_view key, const std::vector<T>& items) {
    if (items.empty()) return;
    line("{}:", key);
    for (const T& item : items) {
      out_ += "  - {";
      write(item);
      out_ += "}\n";
    }
  }

  void write(const SwitchSpec& item) {
    put("name: {}", scalar(item.names.value));
    if (item.tier) put(", tier: {}", *item.tier);
  }
  void write(const NodeSpec& item) {
    put("name: {}, type: {}", scalar(item.names.value), scalar(item.type.value));
    if (item.weight != 1) put(", weight: {}", item.weight);
  }
  void write(const LinkSpec& item) {
    constexpr std::array<std::string_view, 4> kPatterns{"all", "zip", "split", "rail"};
    put("from: {}, to: {}, pattern: {}, bandwidth: {}", scalar(item.from.value), scalar(item.to.value),
        kPatterns[static_cast<std::size_t>(item.pattern)], to_string(item.bandwidth));
    if (item.cables != 1) put(", cables: {}", item.cables);
    if (item.nics) put(", nics: {}", scalar(item.nics->value));
    if (item.plane) put(", plane: {}", scalar(item.plane->value));
  }
  void write(const NvlinkDomainSpec& item) {
    put("name: {}, nodes: {}", scalar(item.name.value), scalar(item.nodes.value));
  }
  void write(const HealthSpec& item) {
    switch (item.target) {
      case HealthSpec::Target::switch_: put("switch: {}", scalar(item.a.value)); break;
      case HealthSpec::Target::node: put("node: {}", scalar(item.a.value)); break;
      case HealthSpec::Target::port: put("port: {}", scalar(item.a.value)); break;
      case HealthSpec::Target::link: put("link: [{}, {}]", scalar(item.a.value), scalar(item.b.value)); break;
    }
    if (item.down || !item.bandwidth) put(", state: {}", item.down ? "down" : "up");
    if (item.bandwidth) put(", bandwidth: {}", to_string(*item.bandwidth));
    if (item.cables) put(", cables: {}", *item.cables);
    if (!item.reason.empty()) put(", reason: {}", scalar(item.reason));
  }

  const FabricSpec& spec_;
  std::string out_;
};

}  // namespace

std::string write_fabric_yaml(const FabricSpec& spec) { return Writer(spec).run(); }

}  // namespace weft::config
