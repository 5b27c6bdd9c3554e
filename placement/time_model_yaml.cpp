// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "weft/config/document.hpp"
#include "weft/placement/time_model.hpp"

namespace weft::placement {
namespace {

using config::Document;
using config::Node;

// Reads one value each; the first fault sticks.
class Reader {
 public:
  explicit Reader(const Document& doc) : doc_(doc) {}

  void seconds(const Node& map, std::string_view key, Seconds& out) {
    const Node* node = find(map, key);
    if (node == nullptr) return;
    const auto text = config::as_text(doc_, *node, key);
    if (!text) return set(text.error());
    const auto value = parse_seconds(*text);
    if (!value) return set(doc_.error(ErrorCode::bad_unit, *node, value.error().message, value.error().expected));
    out = *value;
  }
  // A part of one; `zero` says whether none of it is one too.
  void part(const Node& map, std::string_view key, bool zero, double& out) {
    const Node* node = find(map, key);
    if (node == nullptr) return;
    const auto value = config::as_number(doc_, *node, key);
    if (!value) return set(value.error());
    if (*value > 1 || (*value == 0 && !zero))
      return set(doc_.error(ErrorCode::bad_value, *node, fmt::format("{} is {}", key, node->text),
                            zero ? "0 to 1" : "above 0, at most 1"));
    out = *value;
  }
  void bandwidth(const Node& map, std::string_view key, Bandwidth& out) {
    if (const Node* node = find(map, key)) take(config::as_bandwidth(doc_, *node, key), out);
  }
  void count(const Node& map, std::string_view key, std::uint32_t& out) {
    if (const Node* node = find(map, key)) take(config::as_unsigned(doc_, *node, key, 1, 1U << 20U), out);
  }
  // The mapping under `key`, its keys checked; null where it is absent or a fault has been met.
  const Node* section(const Node& map, std::string_view key, std::span<const std::string_view> legal) {
    const Node* node = find(map, key);
    if (node == nullptr) return nullptr;
    if (auto ok = config::check_keys(doc_, *node, key, legal); !ok) set(ok.error());
    return fault_ ? nullptr : node;
  }
  void keys(const Node& map, std::string_view what, std::initializer_list<std::string_view> legal) {
    if (auto ok = config::check_keys(doc_, map, what, legal); !ok) set(ok.error());
  }
  [[nodiscard]] const Node* find(const Node& map, std::string_view key) const {
    return fault_ ? nullptr : map.find(key);
  }
  void set(Error fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  template <typename T, typename To>
  void take(Result<T> value, To& out) {
    if (!value) return set(value.error());
    out = static_cast<To>(*value);
  }
  const Document& doc_;
  std::optional<Error> fault_;
};

std::optional<Error> check_version(const Document& doc) {
  const Node& root = doc.root;
  const std::string first_line = "\"weft: 1\" on the first line";
  if (!root.is_mapping())
    return doc.error(ErrorCode::bad_value, root, fmt::format("a time model is {}", config::describe(root)), first_line);
  const Node* version = root.find("weft");
  if (version == nullptr)
    return doc.error(ErrorCode::missing, root, "a time model does not say \"weft: 1\"", first_line);
  if (version->quoted || version->text != "1")
    return doc.error(ErrorCode::unsupported, *version, fmt::format("weft is {}", config::describe(*version)),
                     "1, the only version there is");
  return std::nullopt;
}

}  // namespace

Result<TimeModel> parse_time_model_yaml(const Source& source) {
  const auto doc = config::parse_yaml(source);
  if (!doc) return fail(doc.error());
  if (auto e = check_version(*doc)) return fail(std::move(*e));
  const Node& root = doc->root;
  TimeModel out;
  Reader in(*doc);
  in.keys(root, "a time model",
          {"weft", "latency", "efficiency", "overlap", "nvlink_bandwidth", "pcie_bandwidth", "alltoall_batch"});
  constexpr std::array<std::string_view, 4> kLatencies{"launch", "nvlink_step", "network_step", "hop"};
  if (const Node* s = in.section(root, "latency", kLatencies)) {
    in.seconds(*s, "launch", out.launch);
    in.seconds(*s, "nvlink_step", out.nvlink_step);
    in.seconds(*s, "network_step", out.network_step);
    in.seconds(*s, "hop", out.hop);
  }
  constexpr std::array<std::string_view, 5> kAlgorithms{"ring", "tree", "hierarchical", "alltoall", "neighbour"};
  if (const Node* s = in.section(root, "efficiency", kAlgorithms)) {
    const std::array<double*, 5> parts{&out.efficiency.ring, &out.efficiency.tree, &out.efficiency.hierarchical,
                                       &out.efficiency.alltoall, &out.efficiency.neighbour};
    for (std::size_t i = 0; i < parts.size(); ++i) in.part(*s, kAlgorithms[i], false, *parts[i]);
  }
  constexpr std::array<std::string_view, config::kDims> kDims{"tp", "cp", "ep", "pp", "dp"};
  if (const Node* s = in.section(root, "overlap", kDims))
    for (std::size_t d = 0; d < kDims.size(); ++d) in.part(*s, kDims[d], true, out.overlap[d]);
  in.bandwidth(root, "nvlink_bandwidth", out.nvlink_bandwidth);
  in.bandwidth(root, "pcie_bandwidth", out.pcie_bandwidth);
  in.count(root, "alltoall_batch", out.alltoall_batch);
  if (in.fault()) return fail(*in.fault());
  return out;
}

}  // namespace weft::placement
