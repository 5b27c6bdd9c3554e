// SPDX-License-Identifier: BSD-3-Clause
//
// Dense matrices and lists of pairs.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "comm_lines.hpp"

namespace weft::placement {
namespace {

void note(CommFile& file, Note::Kind kind, std::string message) {
  file.notes.push_back({kind, file.source ? file.source->file() : std::string(), {}, std::move(message)});
}

void note_own_bytes(CommFile& file, std::uint64_t own) {
  if (own > 0) note(file, Note::Kind::warning, fmt::format("{} bytes from ranks to themselves are left out", own));
}

Error too_much(const Source& source, std::uint32_t line, const CommField& field) {
  return error_in(ErrorCode::limit, source, line, field, "the bytes up to here come to more than a step may move",
                  fmt::format("at most {} in all", kMaxStepBytes));
}

// Joins equal pairs of an unordered list.
void normalise(std::vector<RankFlow>& flows) {
  std::sort(flows.begin(), flows.end());
  std::size_t kept = 0;
  for (const RankFlow& f : flows) {
    if (kept > 0 && flows[kept - 1].from == f.from && flows[kept - 1].to == f.to) {
      flows[kept - 1].bytes += f.bytes;
    } else {
      flows[kept++] = f;
    }
  }
  flows.resize(kept);
}

}  // namespace

Result<CommFile> parse_matrix(const Source& source) {
  CommFile out;
  out.kind = CommKind::matrix;
  out.source = source;
  CommLines lines(source->text());
  std::vector<CommField> fields;
  std::uint32_t row = 0;
  std::size_t columns = 0;
  std::uint64_t total = 0;
  std::uint64_t own = 0;
  for (; lines.next(); ++row) {
    split_fields(lines.line(), fields);
    if (row == 0) columns = fields.size();
    if (row == 0 && columns > kMaxMatrixRanks)
      return fail(error_in(ErrorCode::limit, source, lines.number(), fields[kMaxMatrixRanks],
                           fmt::format("a matrix of {} columns", columns),
                           fmt::format("at most {}, or a list \"from,to,bytes\"", kMaxMatrixRanks)));
    if (fields.size() != columns)
      return fail(error_in(ErrorCode::conflict, source, lines.number(), fields[std::min(fields.size() - 1, columns)],
                           fmt::format("row {} has {} numbers, the first has {}", row + 1, fields.size(), columns),
                           "as many on each line"));
    if (row == columns)
      return fail(error_in(ErrorCode::conflict, source, lines.number(), fields.front(),
                           fmt::format("row {} of a matrix of {} columns", row + 1, columns),
                           "as many lines as columns"));
    for (std::uint32_t to = 0; to < columns; ++to) {
      const auto bytes =
          read_amount(source, lines.number(), fields[to], fmt::format("row {}, column {}", row + 1, to + 1));
      if (!bytes) return fail(bytes.error());
      total += *bytes;  // both at most 2^55
      if (total > kMaxStepBytes) return fail(too_much(source, lines.number(), fields[to]));
      if (row == to) {
        own += *bytes;
      } else if (*bytes > 0) {
        if (out.flows.size() == kMaxShapeEdges)
          return fail(error_in(ErrorCode::limit, source, lines.number(), fields[to],
                               fmt::format("more than {} pairs of ranks talk", kMaxShapeEdges), {}));
        out.flows.push_back({row, to, *bytes});
      }
    }
  }
  if (row != columns)
    return fail(error_at(ErrorCode::conflict, source, {lines.number(), 1}, 1,
                         fmt::format("the matrix ends after {} of {} rows", row, columns), "as many lines as columns"));
  out.ranks = row;
  note(out, Note::Kind::assumption,
       "the numbers are bytes a step from the line's rank to the column's; a matrix of message counts looks the same");
  note_own_bytes(out, own);
  return out;
}

Result<CommFile> parse_flow_list(const Source& source) {
  CommFile out;
  out.kind = CommKind::list;
  out.source = source;
  CommLines lines(source->text());
  lines.next();  // the header
  std::vector<CommField> fields;
  std::uint64_t total = 0;
  std::uint64_t own = 0;
  while (lines.next()) {
    split_fields(lines.line(), fields);
    if (fields.size() != 3)
      return fail(error_in(ErrorCode::syntax, source, lines.number(),
                           fields[std::min<std::size_t>(fields.size() - 1, 3)], fmt::format("{} fields", fields.size()),
                           "from,to,bytes"));
    std::array<std::uint32_t, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto rank = read_count(source, lines.number(), fields[i], i == 0 ? "from" : "to", 0, kMaxRanks - 1);
      if (!rank) return fail(rank.error());
      ends[i] = static_cast<std::uint32_t>(*rank);
      if (*rank + 1 > out.ranks) {
        out.ranks = *rank + 1;
        out.last_rank = {lines.number(), fields[i].column};
      }
    }
    const auto bytes = read_amount(source, lines.number(), fields[2], "bytes");
    if (!bytes) return fail(bytes.error());
    total += *bytes;
    if (total > kMaxStepBytes) return fail(too_much(source, lines.number(), fields[2]));
    if (ends[0] == ends[1]) {
      own += *bytes;
    } else if (*bytes > 0) {
      if (out.flows.size() == kMaxShapeEdges)
        return fail(error_in(ErrorCode::limit, source, lines.number(), fields[2],
                             fmt::format("more than {} lines", kMaxShapeEdges), {}));
      out.flows.push_back({ends[0], ends[1], *bytes});
    }
  }
  normalise(out.flows);
  note_own_bytes(out, own);
  return out;
}

}  // namespace weft::placement
