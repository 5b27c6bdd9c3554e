// SPDX-License-Identifier: BSD-3-Clause
//
// Lines and fields of communication files, with their places, and the numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/placement/comm_file.hpp"

namespace weft::placement {

struct CommField {
  std::string_view text;
  std::uint32_t column = 1;
};

/// The lines of a text that say something: blank lines and comments are passed over.
class CommLines {
 public:
  explicit CommLines(std::string_view text) : rest_(text) {}
  /// Moves on; false at the end.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::uint32_t number_ = 0;
};

/// Cuts at every comma, blanks around fields taken off; without a comma in the line at runs of blanks.
void split_fields(std::string_view line, std::vector<CommField>& out);
void split_blanks(std::string_view line, std::vector<CommField>& out);

/// An error at a field.
[[nodiscard]] Error error_in(ErrorCode code, const Source& source, std::uint32_t line, const CommField& field,
                             std::string message, std::string expected);

/// A number of bytes: whole, not negative, at most kMaxStepBytes; exponents and ".0" allowed. `what` begins the
/// message.
[[nodiscard]] Result<std::uint64_t> read_amount(const Source& source, std::uint32_t line, const CommField& field,
                                                std::string_view what);
/// A whole decimal number from `min` to `max`.
[[nodiscard]] Result<std::uint64_t> read_count(const Source& source, std::uint32_t line, const CommField& field,
                                               std::string_view what, std::uint64_t min, std::uint64_t max);

/// What the readers of workload logs share: the line at hand, its fields, and what has been read so far.
class WorkloadReader {
 protected:
  WorkloadReader(const Source& source, CommKind kind) : source_(source), lines_(source->text()) {
    out_.kind = kind;
    out_.source = source;
  }
  /// An error at a field of the line at hand.
  [[nodiscard]] tl::unexpected<Error> refuse(ErrorCode code, const CommField& field, std::string message,
                                             std::string expected) const {
    return fail(error_in(code, source_, lines_.number(), field, std::move(message), std::move(expected)));
  }
  /// read_amount and read_count in the line at hand.
  [[nodiscard]] Result<std::uint64_t> amount(const CommField& field, std::string_view what) const {
    return read_amount(source_, lines_.number(), field, what);
  }
  [[nodiscard]] Result<std::uint64_t> count(const CommField& field, std::string_view what, std::uint64_t min,
                                            std::uint64_t max) const {
    return read_count(source_, lines_.number(), field, what, min, max);
  }
  [[nodiscard]] std::uint32_t& size(config::Dim dim) { return out_.size[static_cast<std::size_t>(dim)]; }
  void note(Note::Kind kind, std::string message) {
    out_.notes.push_back({kind, source_->file(), {}, std::move(message)});
  }

  const Source& source_;
  CommLines lines_;
  std::vector<CommField> fields_;
  CommFile out_;
};

/// The readers. Preconditions: the text was recognised as theirs.
[[nodiscard]] Result<CommFile> parse_matrix(const Source& source);
[[nodiscard]] Result<CommFile> parse_flow_list(const Source& source);
[[nodiscard]] Result<CommFile> parse_aicb(const Source& source);
[[nodiscard]] Result<CommFile> parse_simai(const Source& source);

/// Sums of bytes by dimension and collective.
class TermSums {
 public:
  /// False where a sum passes kMaxStepBytes.
  [[nodiscard]] bool add(config::Dim dim, config::Collective collective, std::uint64_t bytes, std::uint64_t times = 1);
  /// Keeps the larger of each.
  void take_larger(const TermSums& other);
  [[nodiscard]] std::vector<config::TrafficTerm> terms() const;
  [[nodiscard]] std::uint64_t of(config::Dim dim, config::Collective collective) const {
    return sum_[static_cast<std::size_t>(dim)][static_cast<std::size_t>(collective)];
  }

 private:
  std::array<std::array<std::uint64_t, 6>, config::kDims> sum_{};
};

/// `bytes` of a ring over an expert's `replicas`, told as the volume of a ring over `group` ranks that moves as much
/// from each; rounded up. 0 where there is one replica. Precondition: group > 1 where replicas > 1.
[[nodiscard]] std::uint64_t on_larger_ring(std::uint64_t bytes, std::uint64_t replicas, std::uint64_t group);

}  // namespace weft::placement
