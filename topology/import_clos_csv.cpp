// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "clos_csv.hpp"
#include "slurm_conf.hpp"
#include "tree_fabric.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::array<std::string_view, 6> kHost{"ip", "host", "hostname", "node", "nodename", "server"};
constexpr std::array<std::string_view, 3> kAccess{"asw", "tor", "leaf"};
constexpr std::array<std::string_view, 4> kAggregation{"psw", "agg", "aggregation", "spine"};
constexpr std::array<std::string_view, 2> kCore{"dsw", "core"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [word](std::string_view w) { return same_key(word, w); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

class CsvImporter {
 public:
  CsvImporter(const Source& source, const ImportOptions& options, Notes& notes)
      : source_(source), options_(options), notes_(notes) {
    tree_.name = stem_of(source);
  }

  Result<config::FabricSpec> import() {
    std::string_view rest = source_->text();
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++line_;
      if (trimmed(line).empty()) continue;
      auto ok = columns_ ? row(line) : header(line);
      if (!ok) return fail(std::move(ok.error()));
    }
    if (!columns_) return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no header line", kHeader));
    if (host_index_.empty()) {
      return fail(
          error_at(ErrorCode::missing, source_, {header_line_, 1}, 1, "no host below the header", "one row a host"));
    }
    note_odd_tree(tree_, source_, notes_);
    return tree_spec(std::move(tree_), options_, source_, notes_);
  }

 private:
  static constexpr const char* kHeader = "a header with the columns host (or ip), ASW, PSW and DSW";

  Result<void> header(std::string_view line) {
    header_line_ = line_;
    columns_ = clos_columns(line);
    if (!columns_) {
      return fail(error_at(ErrorCode::missing, source_, {line_, 1}, static_cast<std::uint32_t>(line.size()),
                           "no column for the host or for its ASW, or one of them twice", kHeader));
    }
    width_ = csv_fields(line)->size();
    return {};
  }

  Result<void> row(std::string_view line) {
    const auto fields = csv_fields(line);
    if (!fields) {
      return fail(error_at(ErrorCode::syntax, source_, {line_, 1}, 1, "a quote that is not closed",
                           "a closing quote before the end of the line"));
    }
    if (fields->size() != width_) {
      return fail(error_at(ErrorCode::syntax, source_, {line_, 1}, static_cast<std::uint32_t>(line.size()),
                           fmt::format("{} field{}", fields->size(), fields->size() == 1 ? "" : "s"),
                           fmt::format("{}, as in the header", width_)));
    }
    std::string path;
    std::optional<std::uint32_t> above;
    for (const auto& column : {columns_->core, columns_->aggregation, std::optional<std::size_t>(columns_->access)}) {
      if (!column) continue;
      auto name = cell((*fields)[*column]);
      if (!name) return fail(std::move(name.error()));
      path += '\n' + *name;  // no name holds a line end, so paths do not run into each other
      above = enter(path, above, *name, (*fields)[*column]);
    }
    auto host = cell((*fields)[columns_->host]);
    if (!host) return fail(std::move(host.error()));
    return attach(*host, *above, (*fields)[columns_->host]);
  }

  Result<std::string> cell(const CsvField& field) const {
    const Position at{line_, static_cast<std::uint32_t>(field.offset + 1)};
    if (field.text.empty()) {
      return fail(
          error_at(ErrorCode::missing, source_, at, 1, "an empty field", "a host and its switches in every row"));
    }
    if (!config::is_valid_name(field.text)) {
      return fail(error_at(ErrorCode::bad_name, source_, at, static_cast<std::uint32_t>(field.text.size()),
                           "not a name", "letters, digits, '.', '_' and '-'"));
    }
    return field.text;
  }

  // The switch of that path, made where it is new.
  std::uint32_t enter(const std::string& path, std::optional<std::uint32_t> above, const std::string& name,
                      const CsvField& field) {
    const auto known = by_path_.find(path);
    if (known != by_path_.end()) return known->second;
    const auto self = static_cast<std::uint32_t>(tree_.switches.size());
    std::string full = above ? tree_.switches[*above].name + '-' + name : name;
    while (!names_.emplace(full, self).second) full += "-x";
    const Position at{line_, static_cast<std::uint32_t>(field.offset + 1)};
    tree_.switches.push_back({.name = std::move(full), .at = at, .children = {}, .nodes = {}, .nodes_at = at});
    if (above) tree_.switches[*above].children.push_back(self);
    by_path_.emplace(path, self);
    return self;
  }

  Result<void> attach(const std::string& host, std::uint32_t leaf, const CsvField& field) {
    const Position at{line_, static_cast<std::uint32_t>(field.offset + 1)};
    const auto index = host_index_.emplace(host, static_cast<std::uint32_t>(host_index_.size())).first->second;
    if (!attached_.insert(std::uint64_t{index} << 32U | leaf).second) {
      note_warning(notes_, source_, at, fmt::format("host {} again under the same switches", host));
      return {};
    }
    tree_.switches[leaf].nodes.push_back(host);
    if (host_index_.size() <= config::kMaxHostlistNames) return {};
    return fail(error_at(ErrorCode::limit, source_, at, 1, "too many hosts in all",
                         fmt::format("at most {}", config::kMaxHostlistNames)));
  }

  const Source& source_;
  const ImportOptions& options_;
  Notes& notes_;
  TreeFabric tree_;
  std::uint32_t line_ = 0;
  std::uint32_t header_line_ = 1;
  std::size_t width_ = 0;
  std::optional<ClosColumns> columns_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::string, std::uint32_t> host_index_;
  std::unordered_set<std::uint64_t> attached_;  // host, leaf
};

}  // namespace

std::optional<std::vector<CsvField>> csv_fields(std::string_view line) {
  std::vector<CsvField> fields;
  std::size_t at = 0;
  while (true) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    std::size_t begin = at;
    while (begin < comma && (line[begin] == ' ' || line[begin] == '\t')) ++begin;
    CsvField field;
    if (begin < line.size() && line[begin] == '"') {
      field.offset = begin + 1;
      std::size_t i = begin + 1;
      for (;; ++i) {
        if (i >= line.size()) return std::nullopt;
        if (line[i] == '"') {
          if (i + 1 >= line.size() || line[i + 1] != '"') break;
          ++i;
        }
        field.text += line[i];
      }
      at = std::min(line.find(',', i), line.size());
    } else {
      field.offset = begin;
      field.text = std::string(trimmed(line.substr(at, comma - at)));
      at = comma;
    }
    fields.push_back(std::move(field));
    if (at >= line.size()) return fields;
    ++at;
  }
}

std::optional<ClosColumns> clos_columns(std::string_view header) {
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);
  const auto fields = csv_fields(header);
  if (!fields || fields->size() < 2) return std::nullopt;
  std::optional<std::size_t> host;
  std::optional<std::size_t> access;
  ClosColumns columns;
  const auto take = [](std::optional<std::size_t>& slot, std::size_t i) {
    if (slot) return false;
    slot = i;
    return true;
  };
  for (std::size_t i = 0; i < fields->size(); ++i) {
    const std::string& word = (*fields)[i].text;
    bool ok = true;
    if (is_one_of(word, kHost)) ok = take(host, i);
    if (is_one_of(word, kAccess)) ok = take(access, i);
    if (is_one_of(word, kAggregation)) ok = take(columns.aggregation, i);
    if (is_one_of(word, kCore)) ok = take(columns.core, i);
    if (!ok) return std::nullopt;
  }
  if (!host || !access) return std::nullopt;
  columns.host = *host;
  columns.access = *access;
  return columns;
}

Result<Imported> import_clos_csv(const Source& source, const ImportOptions& options) {
  Imported imported;
  imported.kind = FileKind::clos_csv;
  auto spec = CsvImporter(source, options, imported.notes).import();
  if (!spec) return fail(std::move(spec.error()));
  imported.spec = std::move(*spec);
  return imported;
}

}  // namespace weft::topology
