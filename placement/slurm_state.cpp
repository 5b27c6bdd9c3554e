// SPDX-License-Identifier: BSD-3-Clause
//
// `scontrol show nodes` as Slurm 20.11 to 25.11 print it (src/api/node_info.c: slurm_sprint_node_table). The fields
// that matter: NodeName, State, Gres, GresUsed (with -d), AllocTRES.
#include "weft/placement/slurm_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "slurm_state_json.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::placement {
namespace {

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Items of "gpu:h100:8(S:0-1),shard:4": commas inside parentheses part nothing.
std::vector<std::string_view> gres_items(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i > begin) out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return out;
}

// What keeps jobs off a node: words of the state, or the mark after it.
bool takes_jobs(std::string_view word) {
  static constexpr std::array<std::string_view, 8> kFine{"IDLE",    "MIXED",        "MIX",         "CLOUD",
                                                         "PLANNED", "POWERED_DOWN", "POWERING_UP", "DYNAMIC_NORM"};
  return std::find(kFine.begin(), kFine.end(), word) != kFine.end();
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace

void set_slurm_state(SlurmNode& node, std::string_view text) {
  node.state = upper(text);
  std::string_view rest = node.state;
  node.open = !rest.empty();
  node.idle = false;
  while (!rest.empty()) {
    const std::size_t plus = std::min(rest.find('+'), rest.size());
    std::string_view word = rest.substr(0, plus);
    rest.remove_prefix(std::min(plus + 1, rest.size()));
    while (!word.empty() && (word.back() < 'A' || word.back() > 'Z')) {
      // ~ powered down, # powering up, - planned: a job wakes or may use it. * no answer, $ maintenance, % ! @ ^
      // others.
      if (std::string_view("~#-").find(word.back()) == std::string_view::npos) node.open = false;
      word.remove_suffix(1);
    }
    if (word == "IDLE") node.idle = true;
    if (!takes_jobs(word)) node.open = false;
  }
}

bool set_slurm_gpus(SlurmNode& node, std::string_view gres) {
  std::uint32_t total = 0;
  bool any = false;
  for (std::string_view item : gres_items(gres)) {
    item = item.substr(0, item.find('('));
    if (!item.starts_with("gpu:")) continue;
    const auto count = number(item.substr(item.rfind(':') + 1));
    if (!count || *count > 256) return false;
    total += *count;
    any = true;
  }
  if (any) node.gpus = total;
  return true;
}

bool set_slurm_used(SlurmNode& node, std::string_view gres) {
  node.used_gpus = 0;
  node.used.clear();
  node.used_known = true;
  for (std::string_view item : gres_items(gres)) {
    const std::size_t open = item.find('(');
    const std::string_view head = item.substr(0, open);
    if (!head.starts_with("gpu:")) continue;
    const auto count = number(head.substr(head.rfind(':') + 1));
    if (!count || *count > 256) return false;
    node.used_gpus += *count;
    if (*count == 0) continue;
    const std::size_t at = item.find("IDX:");
    const std::string_view list =
        at == std::string_view::npos ? std::string_view() : item.substr(at + 4, item.find(')', at) - at - 4);
    const auto indices =
        list.empty() ? tl::expected<std::vector<std::uint32_t>, config::HostlistError>() : config::expand_indices(list);
    if (list.empty() || !indices || indices->size() != *count) {
      node.used_known = false;
    } else {
      node.used.insert(node.used.end(), indices->begin(), indices->end());
    }
  }
  std::sort(node.used.begin(), node.used.end());
  return true;
}

bool set_slurm_tres(SlurmNode& node, std::string_view tres) {
  while (!tres.empty()) {
    const std::size_t comma = std::min(tres.find(','), tres.size());
    const std::string_view item = tres.substr(0, comma);
    tres.remove_prefix(std::min(comma + 1, tres.size()));
    if (!item.starts_with("gres/gpu=")) continue;
    const auto count = number(item.substr(9));
    if (!count || *count > 256) return false;
    node.used_gpus = *count;
    node.used_known = *count == 0;
  }
  return true;
}

namespace {

// Key and value of a record, with the value's place.
struct Field {
  std::string_view key;
  std::string_view value;
  Position at;
};

class TextReader {
 public:
  explicit TextReader(const Source& source) : source_(source) {}

  Result<SlurmState> read() {
    std::string_view rest = source_->text();
    for (std::uint32_t number = 1; !rest.empty(); ++number) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (auto ok = read_line(rest.substr(0, end), number); !ok) return fail(std::move(ok.error()));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (auto ok = finish(); !ok) return fail(std::move(ok.error()));
    if (out_.nodes.empty()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no node in it",
                           "the output of `scontrol show nodes`, or of `scontrol show nodes --json`"));
    }
    return std::move(out_);
  }

 private:
  Result<void> read_line(std::string_view line, std::uint32_t number) {
    std::size_t begin = 0;
    while ((begin = line.find_first_not_of(" \t\r", begin)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
      const std::string_view word = line.substr(begin, end - begin);
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos) {
        const Field field{
            word.substr(0, equals), word.substr(equals + 1), {number, static_cast<std::uint32_t>(begin + equals + 2)}};
        if (auto ok = read_field(field); !ok) return ok;
      }
      begin = end;
    }
    return {};
  }

  Result<void> read_field(const Field& field) {
    if (field.key == "NodeName") {
      if (auto ok = finish(); !ok) return ok;
      if (!config::is_valid_name(field.value)) return bad(field, "a node's name");
      node_.emplace();
      node_->name = field.value;
      node_->at = field.at;
      return {};
    }
    if (!node_) return {};
    if (field.key == "State") set_slurm_state(*node_, field.value);
    if (field.key == "Gres" && field.value != "(null)" && !set_slurm_gpus(*node_, field.value)) {
      return bad(field, "GPUs such as gpu:8 or gpu:h100:8(S:0-1)");
    }
    if (field.key == "GresUsed") used_ = field;
    if (field.key == "AllocTRES" && !set_slurm_tres(*node_, field.value))
      return bad(field, "gres/gpu=N with a number of GPUs");
    return {};
  }

  // GresUsed says more than AllocTRES, wherever the two stand.
  Result<void> finish() {
    if (!node_) return {};
    if (used_ && used_->value != "(null)" && !set_slurm_used(*node_, used_->value))
      return bad(*used_, "GPUs such as gpu:4(IDX:0-3)");
    if (node_->state.empty()) {
      return fail(error_at(ErrorCode::missing, source_, node_->at, static_cast<std::uint32_t>(node_->name.size()),
                           fmt::format("node {} has no State", node_->name),
                           "State=IDLE or another; is the output cut off?"));
    }
    used_.reset();
    out_.nodes.push_back(std::move(*node_));
    node_.reset();
    return {};
  }

  tl::unexpected<Error> bad(const Field& field, std::string expected) const {
    return fail(error_at(ErrorCode::bad_value, source_, field.at,
                         static_cast<std::uint32_t>(std::max<std::size_t>(field.value.size(), 1)),
                         fmt::format("{} is \"{}\"", field.key, field.value.substr(0, 60)), std::move(expected)));
  }

  const Source& source_;
  SlurmState out_;
  std::optional<SlurmNode> node_;
  std::optional<Field> used_;
};

}  // namespace

Result<SlurmState> parse_slurm_state(const Source& source) {
  const std::string_view text = source->text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '['))
    return parse_slurm_state_json(source);
  return TextReader(source).read();
}

FreeState free_state(const topology::Fabric& fabric, const SlurmState& state, const std::string& file) {
  FreeState out;
  out.nodes.assign(fabric.node_count(), false);
  out.gpus.resize(fabric.node_count());
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    out.gpus[n].assign(fabric.type_of(topology::NodeId{n}).gpus, false);
  std::uint32_t unknown = 0;
  std::uint32_t guessed = 0;
  for (const SlurmNode& node : state.nodes) {
    const auto id = fabric.find_node(node.name);
    if (!id) {
      ++unknown;
      continue;
    }
    std::vector<bool>& gpus = out.gpus[topology::index(*id)];
    if (!node.open || (!node.gpus && !node.idle)) continue;
    gpus.assign(gpus.size(), true);
    for (std::size_t g = node.gpus.value_or(static_cast<std::uint32_t>(gpus.size())); g < gpus.size(); ++g)
      gpus[g] = false;
    if (node.used_known) {
      for (const std::uint32_t g : node.used) {
        if (g < gpus.size()) gpus[g] = false;
      }
    } else {
      for (std::uint32_t g = 0; g < std::min<std::size_t>(node.used_gpus, gpus.size()); ++g) gpus[g] = false;
      ++guessed;
    }
    out.nodes[topology::index(*id)] = std::find(gpus.begin(), gpus.end(), true) != gpus.end();
  }
  const auto say = [&](std::string message) {
    out.notes.push_back({Note::Kind::assumption, file, {}, std::move(message)});
  };
  if (unknown > 0) say(fmt::format("{} of Slurm's nodes are not in the fabric; left out", unknown));
  if (guessed > 0) {
    say(fmt::format(
        "which GPUs are in use is not said on {} nodes (`scontrol show nodes -d` does); taken to be the lowest",
        guessed));
  }
  return out;
}

}  // namespace weft::placement
