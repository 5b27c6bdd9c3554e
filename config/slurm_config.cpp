// SPDX-License-Identifier: BSD-3-Clause
//
// weft.yaml into SlurmConfig.
#include "weft/config/slurm_config.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "layout_yaml.hpp"
#include "yaml_fields.hpp"

namespace weft::config {
namespace {

// In the order of their enums.
constexpr std::array<std::string_view, 3> kNodeWeights{"strict", "tie", "ignore"};
constexpr std::array<std::string_view, 2> kOnError{"stock", "refuse"};
constexpr std::array<std::string_view, 3> kObjectives{"traffic", "time", "spread"};

template <typename Enum, std::size_t N>
void read_word(Fields& fields, std::string_view key, const std::array<std::string_view, N>& words, Enum& out) {
  if (const Node* node = fields.find(key)) {
    std::size_t word = static_cast<std::size_t>(out);
    fields.take(as_choice(fields.doc(), *node, key, words), word);
    out = static_cast<Enum>(word);
  }
}

void read_seconds(Fields& fields, std::string_view key, Seconds least, Seconds most, std::string_view example,
                  Seconds& out) {
  const Node* node = fields.find(key);
  if (node == nullptr) return;
  const Document& doc = fields.doc();
  const Result<std::string> text = as_text(doc, *node, key);
  if (!text) return fields.set_fault(text.error());
  const auto value = parse_seconds(*text);
  const std::string range = fmt::format("{} to {}, such as {}", to_string(least), to_string(most), example);
  if (!value)
    return fields.set_fault(
        doc.error(ErrorCode::bad_unit, *node, fmt::format("{}: {}", key, value.error().message), range));
  if (*value < least || *value > most)
    return fields.set_fault(
        doc.error(ErrorCode::bad_value, *node, fmt::format("{} is {}", key, describe(*node)), range));
  out = *value;
}

void read_patience(Fields& fields, double& out) {
  const Node* node = fields.find("patience");
  if (node == nullptr) return;
  Result<std::string> text = as_text(fields.doc(), *node, "patience");
  if (!text) return fields.set_fault(text.error());
  double value = -1;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value, std::chars_format::fixed);
  if (fault != std::errc() || end != text->data() + text->size() || !(value >= 0) || value > kMaxPatience)
    return fields.set_fault(fields.doc().error(ErrorCode::bad_value, *node,
                                               fmt::format("patience is {}", describe(*node)),
                                               fmt::format("a number from 0 to {}, such as 2.5", kMaxPatience)));
  out = value;
}

void read_default_layout(Fields& fields, std::optional<Layout>& out) {
  const Node* node = fields.find("default_layout");
  if (node == nullptr) return;
  fields.take(read_layout(fields.doc(), *node, "default_layout"), out);
  if (!fields.ok()) return;
  for (const Node::Entry& entry : node->entries) {
    if (entry.key != "dp") continue;
    fields.set_fault(fields.doc().error_key(ErrorCode::conflict, entry, "default_layout names dp",
                                            "the other sizes alone: dp is what is left of each job's ranks"));
  }
}

void read_decision_log(Fields& fields, std::optional<std::string>& out) {
  const Node* node = fields.find("decision_log");
  if (node == nullptr) return;
  Result<std::string> path = as_text(fields.doc(), *node, "decision_log");
  if (!path) return fields.set_fault(path.error());
  if (!path->starts_with('/'))
    return fields.set_fault(fields.doc().error(ErrorCode::bad_value, *node,
                                               fmt::format("decision_log is {}", describe(*node)),
                                               "an absolute path, such as /var/log/slurm/weft-decisions.jsonl"));
  out = *std::move(path);
}

// A key at the start of a line.
bool has_top_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
    if (at == 0 || text[at - 1] == '\n') return true;
  return false;
}

}  // namespace

Result<SlurmConfig> parse_slurm_config(const Source& source) {
  const Result<Document> doc = parse_weft_yaml(source, "weft.yaml");
  if (!doc) return fail(doc.error());
  SlurmConfig out;
  out.source = source;
  Fields fields(
      *doc, doc->root, "weft.yaml",
      {"weft", "fabric", "names", "health", "node_type", "bandwidth", "topology", "objective", "budget_steps",
       "deadline", "patience", "patience_limit", "default_layout", "node_weight", "decision_log", "on_error"});
  fields.need_text("fabric", out.fabric, "fabric.yaml");
  fields.read_text("names", out.names);
  fields.read_text("health", out.health);
  fields.read_text("node_type", out.node_type);
  fields.read_bandwidth("bandwidth", out.bandwidth);
  fields.read_text("topology", out.topology);
  read_word(fields, "objective", kObjectives, out.objective);
  fields.read_unsigned("budget_steps", out.budget_steps, 0, kMaxBudgetSteps);
  read_seconds(fields, "deadline", kMinDeadline, kMaxDeadline, "10ms", out.deadline);
  read_patience(fields, out.patience);
  read_seconds(fields, "patience_limit", Seconds{1}, kMaxPatienceLimit, "1h", out.patience_limit);
  read_default_layout(fields, out.default_layout);
  read_word(fields, "node_weight", kNodeWeights, out.node_weight);
  read_decision_log(fields, out.decision_log);
  read_word(fields, "on_error", kOnError, out.on_error);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

bool looks_like_slurm_config(std::string_view text) {
  return has_top_key(text, "weft:") && has_top_key(text, "fabric:") && !has_top_key(text, "nodes:");
}

std::string_view to_string(NodeWeight weight) { return kNodeWeights[static_cast<std::size_t>(weight)]; }
std::string_view to_string(OnError on_error) { return kOnError[static_cast<std::size_t>(on_error)]; }
std::string_view to_string(ObjectiveWord objective) { return kObjectives[static_cast<std::size_t>(objective)]; }

}  // namespace weft::config
