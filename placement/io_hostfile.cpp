// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <unordered_set>

#include "weft/config/hostlist.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

class HostfileReader {
 public:
  explicit HostfileReader(const Source& source) : source_(source) { out_.source = source; }

  Result<PlacementDoc> read() {
    std::string_view rest = source_->text();
    for (std::uint32_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = rest.find('\n');
      if (auto ok = read_line(rest.substr(0, end), line); !ok) return fail(ok.error());
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    if (out_.nodes.empty())
      return fail(error_at(ErrorCode::missing, source_, {}, 1, "no node names", "a node name a line, in rank order"));
    return std::move(out_);
  }

 private:
  Result<void> read_line(std::string_view line, std::uint32_t number) {
    bool first = true;
    for (std::size_t i = 0; i < line.size();) {
      if (blank(line[i])) {
        ++i;
        continue;
      }
      if (line[i] == '#') return {};  // at the start of a word only: names may hold one
      std::size_t end = i;
      while (end < line.size() && !blank(line[end])) ++end;
      const Position at{number, static_cast<std::uint32_t>(i + 1)};
      if (auto ok = read_word(line.substr(i, end - i), at, first); !ok) return ok;
      first = false;
      i = end;
    }
    return {};
  }

  Result<void> read_word(std::string_view word, Position at, bool first) {
    const auto width = static_cast<std::uint32_t>(word.size());
    if (!first && word.find('=') != std::string_view::npos)  // Open MPI's and MPICH's "slots=8"
      return fail(error_at(ErrorCode::bad_name, source_, at, width, fmt::format("\"{}\" is no node name", word),
                           "node names alone, one for each node"));
    const auto names = config::expand_hostlist(word);
    if (!names) {
      const Position where{at.line, at.column + static_cast<std::uint32_t>(names.error().offset)};
      return fail(error_at(names.error().code, source_, where, static_cast<std::uint32_t>(names.error().length),
                           names.error().message, names.error().expected));
    }
    for (const std::string& name : *names) {
      if (!seen_.insert(name).second)
        return fail(error_at(ErrorCode::duplicate, source_, at, width, fmt::format("node {} stands twice", name),
                             "each node once, in rank order"));
      if (out_.nodes.size() >= config::kMaxHostlistNames)
        return fail(error_at(ErrorCode::limit, source_, at, width,
                             fmt::format("more than {} nodes", config::kMaxHostlistNames)));
      out_.nodes.push_back({name, at});
    }
    return {};
  }

  Source source_;
  PlacementDoc out_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Result<PlacementDoc> parse_hostfile(const Source& source) { return HostfileReader(source).read(); }

std::string write_hostfile(const PlacementDoc& doc) {
  std::string out;
  for (const config::Text& n : doc.nodes) out += n.value + "\n";
  return out;
}

std::string write_rankfile(const PlacementDoc& doc) {
  std::string out;
  std::vector<std::uint32_t> used(doc.nodes.size(), 0);
  for (std::size_t r = 0; r < doc.ranks.size(); ++r) {
    const RankDoc& rank = doc.ranks[r];
    out += fmt::format("rank {}={} slot={}\n", r, doc.nodes[rank.node].value, used[rank.node]++);
  }
  return out;
}

std::string write_env(const PlacementDoc& doc) {
  std::vector<std::string> names;
  names.reserve(doc.nodes.size());
  for (const config::Text& n : doc.nodes) names.push_back(n.value);
  // Names hold no quotes (is_valid_name), but a job's name may.
  std::string job;
  for (const char c : doc.job) job += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("WEFT_JOB='{}'\nWEFT_NNODES={}\nWEFT_NTASKS={}\nWEFT_NODELIST='{}'\n", job, names.size(),
                     doc.ranks.size(), config::compress_hostlist(names));
}

}  // namespace weft::placement
