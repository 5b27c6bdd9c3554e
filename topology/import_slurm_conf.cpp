// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm's topology.conf: SwitchName (tree), BlockName (block) or RingName (ring) lines.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "slurm_conf.hpp"
#include "slurm_records.hpp"

namespace weft::topology {
namespace {

enum class Plugin : std::uint8_t { tree, block, ring };

std::uint32_t width_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(text.size(), 1));
}

std::optional<Plugin> plugin_of(std::string_view key) {
  if (same_key(key, "SwitchName")) return Plugin::tree;
  if (same_key(key, "BlockName") || same_key(key, "BlockSizes")) return Plugin::block;
  if (same_key(key, "RingName")) return Plugin::ring;
  return std::nullopt;
}

std::string_view legal_keys(Plugin plugin) {
  switch (plugin) {
    case Plugin::tree: return "lines of SwitchName with Nodes or Switches, and LinkSpeed";
    case Plugin::block: return "lines of BlockName with Nodes, and one of BlockSizes";
    case Plugin::ring: return "lines of RingName with Nodes";
  }
  return {};
}

class ConfImporter {
 public:
  ConfImporter(const Source& source, const ImportOptions& options, Notes& notes)
      : source_(source), options_(options), notes_(notes) {}

  Result<config::FabricSpec> import() {
    auto lines = read_conf(source_);
    if (!lines) return fail(std::move(lines.error()));
    if (lines->empty()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no SwitchName, BlockName or RingName line",
                           "a topology.conf of Slurm's tree, block or ring plugin"));
    }
    const auto plugin = plugin_of(lines->front().words.front().key);
    if (!plugin) return fail(unknown_key(lines->front().words.front(), "SwitchName, BlockName or RingName first"));
    plugin_ = *plugin;
    for (const ConfLine& line : *lines) {
      if (auto ok = add(line); !ok) return fail(std::move(ok.error()));
    }
    const SlurmContext at{.source = source_,
                          .options = options_,
                          .notes = notes_,
                          .name = stem_of(source_),
                          .at = lines->front().at,
                          .conf = true,
                          .switch_key = "SwitchName",
                          .block_key = "BlockName",
                          .ring_key = "RingName"};
    if (link_speed_) {
      note_warning(notes_, source_, *link_speed_,
                   "LinkSpeed has no unit and Slurm does not use it; left out (give --bandwidth)");
    }
    switch (plugin_) {
      case Plugin::tree: return slurm_tree(switches_, at);
      case Plugin::ring: return slurm_ring(groups_, at);
      case Plugin::block: break;
    }
    if (groups_.empty()) return fail(no_block(at));
    return slurm_block(groups_, sizes_, at);
  }

 private:
  [[nodiscard]] Error unknown_key(const ConfWord& word, std::string expected) const {
    return error_at(ErrorCode::unknown_key, source_, word.key_at, width_of(word.key),
                    fmt::format("unknown key {}", word.key), std::move(expected));
  }

  [[nodiscard]] Error no_block(const SlurmContext& at) const {
    const bool in_comments = source_->text().find("#BlockName") != std::string_view::npos;
    return error_at(
        ErrorCode::missing, source_, at.at, 1,
        in_comments ? "no block in the file: every BlockName line is commented out" : "no block in the file",
        "at least one BlockName line");
  }

  Result<void> add(const ConfLine& line) {
    const ConfWord& head = line.words.front();
    const auto plugin = plugin_of(head.key);
    if (!plugin || *plugin != plugin_) {
      return fail(unknown_key(head, fmt::format("in this file {}", legal_keys(plugin_))));
    }
    if (same_key(head.key, "BlockSizes")) return add_sizes(line);
    std::optional<SlurmList> nodes;
    std::optional<SlurmList> children;
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      const ConfWord& word = line.words[i];
      const SlurmList list{word.value, word.value_at, word.exact};
      if (same_key(word.key, "Nodes")) {
        replace(nodes, list, word);
      } else if (plugin_ == Plugin::tree && same_key(word.key, "Switches")) {
        replace(children, list, word);
      } else if (plugin_ == Plugin::tree && same_key(word.key, "LinkSpeed")) {
        if (auto ok = check_link_speed(word); !ok) return ok;
        if (!link_speed_) link_speed_ = word.key_at;
      } else if (same_key(word.key, "Level")) {
        return fail(unknown_key(
            word, fmt::format("{}; this looks like the output of 'scontrol show topology'", legal_keys(plugin_))));
      } else {
        return fail(unknown_key(word, fmt::format("{}", legal_keys(plugin_))));
      }
    }
    if (same_key(head.value, "DEFAULT")) {
      note_warning(notes_, source_, head.value_at,
                   fmt::format("{} in topology.conf has no defaults; {} is read as a name, as Slurm does", head.key,
                               head.value));
    }
    if (plugin_ == Plugin::tree) {
      switches_.push_back({head.value, head.value_at, std::move(nodes), std::move(children)});
    } else {
      groups_.push_back({head.value, head.value_at, std::move(nodes)});
    }
    return {};
  }

  void replace(std::optional<SlurmList>& slot, const SlurmList& list, const ConfWord& word) {
    if (slot) {
      note_warning(notes_, source_, word.key_at,
                   fmt::format("{} more than once in one line; the last is used, as Slurm does", word.key));
    }
    slot = list;
  }

  // Slurm reads it as a 32-bit number in C's notation, perhaps with a K, or one of two words.
  Result<void> check_link_speed(const ConfWord& word) const {
    std::string_view text = word.value;
    if (same_key(text, "UNLIMITED") || same_key(text, "INFINITE")) return {};
    if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) text.remove_suffix(1);
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    if (fault == std::errc() && end == text.data() + text.size() &&
        value <= std::numeric_limits<std::uint32_t>::max()) {
      return {};
    }
    return fail(error_at(ErrorCode::bad_value, source_, word.value_at, width_of(word.value), "LinkSpeed is no number",
                         "a whole number of 32 bits"));
  }

  Result<void> add_sizes(const ConfLine& line) {
    if (line.words.size() > 1) return fail(unknown_key(line.words[1], "BlockSizes alone in its line"));
    const ConfWord& word = line.words.front();
    if (!sizes_.empty()) {
      note_warning(notes_, source_, word.key_at, "BlockSizes more than once; the last is used, as Slurm does");
      sizes_.clear();
    }
    std::size_t begin = 0;
    while (begin <= word.value.size()) {
      const std::size_t end = std::min(word.value.find(',', begin), word.value.size());
      const std::string_view item = std::string_view(word.value).substr(begin, end - begin);
      const Position where{word.value_at.line,
                           word.value_at.column + static_cast<std::uint32_t>(word.exact ? begin : 0)};
      std::uint64_t nodes = 0;
      const auto [stop, fault] = std::from_chars(item.data(), item.data() + item.size(), nodes);
      if (fault != std::errc() || stop != item.data() + item.size() ||
          nodes > std::numeric_limits<std::int32_t>::max()) {
        return fail(error_at(ErrorCode::bad_value, source_, where,
                             static_cast<std::uint32_t>(std::max<std::size_t>(item.size(), 1)),
                             "a block size that is no number", "numbers of nodes, as in BlockSizes=4,8,16"));
      }
      sizes_.push_back({nodes, where, static_cast<std::uint32_t>(item.size())});
      begin = end + 1;
    }
    return {};
  }

  const Source& source_;
  const ImportOptions& options_;
  Notes& notes_;
  Plugin plugin_ = Plugin::tree;
  std::vector<SlurmSwitch> switches_;
  std::vector<SlurmGroup> groups_;
  std::vector<SlurmBlockSize> sizes_;
  std::optional<Position> link_speed_;
};

}  // namespace

Result<Imported> import_slurm_topology_conf(const Source& source, const ImportOptions& options) {
  Imported imported;
  imported.kind = FileKind::slurm_topology_conf;
  auto spec = ConfImporter(source, options, imported.notes).import();
  if (!spec) return fail(std::move(spec.error()));
  imported.spec = std::move(*spec);
  return imported;
}

}  // namespace weft::topology
