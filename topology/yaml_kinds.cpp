// SPDX-License-Identifier: BSD-3-Clause
//
// YAML and JSON formats, told apart by their top keys. The text is not parsed here: a file with a fault in it must
// still reach the reader of its kind, which can point at the fault.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "recognise.hpp"

namespace weft::topology {
namespace {

// Top keys of a map, or of the maps in a list, with what follows the colon in the same line.
struct TopKeys {
  std::map<std::string, std::string, std::less<>> value;
  bool list = false;

  [[nodiscard]] bool has(std::string_view key) const { return value.contains(key); }
  template <std::size_t N>
  [[nodiscard]] bool any(const std::array<std::string_view, N>& keys) const {
    return std::any_of(keys.begin(), keys.end(), [this](std::string_view key) { return has(key); });
  }
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// "key: value" at the start of a line, quotes around the key taken off.
void take_key(std::string_view line, TopKeys& keys) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos ||
      (colon + 1 < line.size() && line[colon + 1] != ' ' && line[colon + 1] != '\t')) {
    return;
  }
  std::string_view key = trimmed(line.substr(0, colon));
  if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front()) {
    key = key.substr(1, key.size() - 2);
  }
  if (key.empty() || key.find_first_of(" \t\"'{}[],") != std::string_view::npos) return;
  std::string_view value = line.substr(colon + 1);
  value = trimmed(value.substr(0, value.find(" #")));
  keys.value.emplace(key, value);
}

constexpr std::size_t kLongestValue = 80;  // what tells a number from a list needs no more

// Keys of the outermost map, or of the maps in the outermost list, of a text in flow style.
TopKeys flow_keys(std::string_view text) {
  TopKeys keys;
  std::string token;
  std::size_t depth = 0;
  std::size_t key_depth = 1;
  const auto end_token = [&](std::string_view value) {
    const std::string_view key = trimmed(token);
    if (depth == key_depth && !key.empty()) keys.value.emplace(key, trimmed(value));
    token.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      token.clear();
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (c == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
        if (token.size() < 64) token += text[i];
      }
    } else if (c == '{' || c == '[') {
      if (depth == 0 && c == '[') {
        keys.list = true;
        key_depth = 2;
      }
      ++depth;
      token.clear();
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      token.clear();
    } else if (c == ':') {
      const std::string_view value = text.substr(i + 1, kLongestValue);
      end_token(value.substr(0, value.find_first_of(",}\n")));
    } else if (c == ',') {
      token.clear();
    } else if (token.size() < 64) {
      token += c;
    }
  }
  return keys;
}

TopKeys block_keys(std::string_view text) {
  TopKeys keys;
  LineWalk walk(text);
  std::string_view line;
  bool begun = false;
  while (walk.next(line)) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content[0] == '#' || content == "---") continue;
    if (!begun) keys.list = content.starts_with("- ");
    begun = true;
    if (keys.list && content.starts_with("- {")) {
      keys.value.merge(flow_keys(content.substr(2)).value);
    } else if (keys.list && (line.starts_with("- ") ||
                             (line.starts_with("  ") && line.size() > 2 && line[2] != ' ' && line[2] != '-'))) {
      take_key(line.substr(2), keys);  // the first key of an item, or one below it
    } else if (!line.empty() && line[0] != ' ' && line[0] != '\t' && line[0] != '#' && line[0] != '-') {
      take_key(line, keys);
    }
  }
  return keys;
}

constexpr std::array<std::string_view, 6> kJob{"layout", "traffic", "model", "matrix", "ranks_per_node", "constraints"};
constexpr std::array<std::string_view, 3> kFabric{"node_types", "links", "nvlink_domains"};
constexpr std::array<std::string_view, 6> kSlurm{"cluster_default", "tree", "block", "flat", "ring", "torus3d"};
constexpr std::array<std::string_view, 5> kSettings{"fabric", "objective", "decision_log", "on_error", "node_weight"};

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool refuse(Recognised& out, std::string reason, std::string expected) {
  out.reason = std::move(reason);
  out.expected = std::move(expected);
  return true;
}

bool is(Recognised& out, FileKind kind) {
  out.kind = kind;
  return true;
}

bool classify_own(const TopKeys& keys, Recognised& out) {
  if (keys.has("ranks") || (keys.has("job") && !keys.any(kFabric))) {
    return refuse(out, "a placement, not a fabric", "the fabric that it was made for");
  }
  if (keys.any(kFabric)) return is(out, FileKind::fabric_yaml);
  const auto nodes = keys.value.find("nodes");
  if (keys.any(kJob) || (nodes != keys.value.end() && is_number(nodes->second))) return is(out, FileKind::job_yaml);
  if (keys.any(kSettings)) {
    return refuse(out, "Weft's settings (weft.yaml), not a fabric", "the file that its key fabric names");
  }
  if (keys.has("health") && !keys.has("switches") && !keys.has("nodes")) {
    return refuse(out, "a health file, not a fabric", "the fabric whose health it tells");
  }
  return is(out, FileKind::fabric_yaml);
}

// The string value of a JSON key, cut to a readable length; empty where there is none.
std::string string_after(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  at = text.find_first_not_of(": \t\r\n", at + key.size());
  if (at == std::string_view::npos || text[at] != '"') return {};
  const std::string_view rest = text.substr(at + 1, 80);
  std::string value(rest.substr(0, rest.find_first_of("\"\\\n")));
  for (char& c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return value;
}

bool classify_json(std::string_view text, const TopKeys& keys, Recognised& out) {
  if (keys.has("provider") && keys.has("engine")) {
    const std::string model = string_after(text, "\"modelFileName\"");
    return refuse(out, "a request to topograph, not a model",
                  model.empty() ? std::string("a topograph model; this request names none as modelFileName")
                                : "the model that it names as modelFileName: " + model);
  }
  if (keys.has("DomainUUID") || keys.has("GpuIDList")) {
    return refuse(out, "compute nodes from NVIDIA's NMX, without the links of the fabric", std::string(kKnownFabrics));
  }
  if (text.find("\"compounded_links\"") != std::string_view::npos) {
    return refuse(out, "a topology graph from NVIDIA's NetQ", std::string(kKnownFabrics));
  }
  return refuse(out, "JSON of a kind that Weft does not know", std::string(kKnownFabrics));
}

// A document that is one word such as "topology/tree", which Slurm's plugin setting would be.
bool is_bare_plugin(std::string_view text) {
  LineWalk walk(text);
  std::string_view line;
  std::string_view word;
  while (walk.next(line)) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content[0] == '#' || content == "---" || content == "...") continue;
    if (!word.empty()) return false;
    word = content;
  }
  return word.starts_with("topology/") && word.find_first_of(" :") == std::string_view::npos;
}

}  // namespace

bool classify_yaml(std::string_view text, Recognised& out) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool flow = text[first] == '{' || text[first] == '[';
  const TopKeys keys = flow ? flow_keys(text) : block_keys(text);
  if (keys.has("weft")) return classify_own(keys, out);
  if (keys.has("npus_count")) {
    return refuse(out, "an ASTRA-sim network, which names no nodes or switches", std::string(kKnownFabrics));
  }
  if (keys.has("topology") && (keys.list || keys.any(kSlurm))) return is(out, FileKind::slurm_topology_yaml);
  if (!keys.list && keys.any(kFabric)) return is(out, FileKind::fabric_yaml);
  if (!keys.list && keys.any(kJob)) return is(out, FileKind::job_yaml);
  if (!keys.list && (keys.has("blocks") || keys.has("switches"))) return is(out, FileKind::topograph_model);
  if (is_bare_plugin(text)) return is(out, FileKind::slurm_topology_yaml);
  if (flow) return classify_json(text, keys, out);
  return false;
}

}  // namespace weft::topology
