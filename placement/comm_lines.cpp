// SPDX-License-Identifier: BSD-3-Clause
#include "comm_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::placement {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr std::size_t kShown = 40;  // bytes of a field in a message

std::string shown(std::string_view text) {
  return text.size() <= kShown ? std::string(text) : fmt::format("{}...", text.substr(0, kShown));
}

CommField trimmed(std::string_view line, std::size_t begin, std::size_t end) {
  while (begin < end && kBlanks.find(line[begin]) != std::string_view::npos) ++begin;
  while (end > begin && kBlanks.find(line[end - 1]) != std::string_view::npos) --end;
  return {line.substr(begin, end - begin), static_cast<std::uint32_t>(begin + 1)};
}

}  // namespace

bool CommLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    ++number_;
    const std::size_t first = line_.find_first_not_of(kBlanks);
    if (first != std::string_view::npos && line_[first] != '#') return true;
  }
  return false;
}

void split_blanks(std::string_view line, std::vector<CommField>& out) {
  out.clear();
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    out.push_back({line.substr(at, end - at), static_cast<std::uint32_t>(at + 1)});
    at = line.find_first_not_of(kBlanks, end);
  }
}

void split_fields(std::string_view line, std::vector<CommField>& out) {
  if (line.find(',') == std::string_view::npos) return split_blanks(line, out);
  out.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    out.push_back(trimmed(line, begin, end));
    begin = end + 1;
  }
}

Error error_in(ErrorCode code, const Source& source, std::uint32_t line, const CommField& field, std::string message,
               std::string expected) {
  const auto width = static_cast<std::uint32_t>(std::max<std::size_t>(field.text.size(), 1));
  return error_at(code, source, {line, field.column}, width, std::move(message), std::move(expected));
}

Result<std::uint64_t> read_amount(const Source& source, std::uint32_t line, const CommField& field,
                                  std::string_view what) {
  const auto refuse = [&](ErrorCode code, std::string_view why, std::string expected) {
    return fail(error_in(code, source, line, field, fmt::format("{} {}", what, why), std::move(expected)));
  };
  const char* const end = field.text.data() + field.text.size();
  std::uint64_t whole = 0;
  if (const auto [at, fault] = std::from_chars(field.text.data(), end, whole);
      fault == std::errc{} && at == end && !field.text.empty()) {
    if (whole <= kMaxStepBytes) return whole;
    return refuse(ErrorCode::limit, fmt::format("is {}", whole), fmt::format("at most {}", kMaxStepBytes));
  }
  double value = 0;
  const auto [at, fault] = std::from_chars(field.text.data(), end, value);
  if (field.text.empty()) return refuse(ErrorCode::bad_value, "is missing", "a number of bytes");
  if (fault == std::errc::result_out_of_range && at == end)
    return refuse(ErrorCode::limit, fmt::format("is {}", shown(field.text)), fmt::format("0 to {}", kMaxStepBytes));
  if (fault != std::errc{} || at != end || !std::isfinite(value))
    return refuse(ErrorCode::bad_value, fmt::format("is \"{}\", not a number", shown(field.text)), "a number of bytes");
  if (value < 0) return refuse(ErrorCode::bad_value, fmt::format("is {}", shown(field.text)), "0 bytes or more");
  if (value > static_cast<double>(kMaxStepBytes))
    return refuse(ErrorCode::limit, fmt::format("is {}", shown(field.text)), fmt::format("at most {}", kMaxStepBytes));
  if (value != std::floor(value))
    return refuse(ErrorCode::bad_value, fmt::format("is {}, not whole", shown(field.text)), "a whole number of bytes");
  return static_cast<std::uint64_t>(value);
}

Result<std::uint64_t> read_count(const Source& source, std::uint32_t line, const CommField& field,
                                 std::string_view what, std::uint64_t min, std::uint64_t max) {
  const char* const end = field.text.data() + field.text.size();
  std::uint64_t value = 0;
  const auto [at, fault] = std::from_chars(field.text.data(), end, value);
  if (field.text.empty() || at != end || fault != std::errc{} || value < min || value > max)
    return fail(error_in(field.text.empty() || at != end ? ErrorCode::bad_value : ErrorCode::limit, source, line, field,
                         fmt::format("{} is \"{}\"", what, shown(field.text)),
                         fmt::format("a whole number from {} to {}", min, max)));
  return value;
}

bool TermSums::add(config::Dim dim, config::Collective collective, std::uint64_t bytes, std::uint64_t times) {
  std::uint64_t& sum = sum_[static_cast<std::size_t>(dim)][static_cast<std::size_t>(collective)];
  const unsigned __int128 total = sum + static_cast<unsigned __int128>(bytes) * times;
  if (total > kMaxStepBytes) return false;
  sum = static_cast<std::uint64_t>(total);
  return true;
}

void TermSums::take_larger(const TermSums& other) {
  for (std::size_t d = 0; d < sum_.size(); ++d)
    for (std::size_t c = 0; c < sum_[d].size(); ++c) sum_[d][c] = std::max(sum_[d][c], other.sum_[d][c]);
}

std::vector<config::TrafficTerm> TermSums::terms() const {
  std::vector<config::TrafficTerm> out;
  for (std::size_t d = 0; d < sum_.size(); ++d)
    for (std::size_t c = 0; c < sum_[d].size(); ++c)
      if (sum_[d][c] > 0)
        out.push_back({static_cast<config::Dim>(d), static_cast<config::Collective>(c), Bytes{sum_[d][c]},
                       config::Algorithm::ring});
  return out;
}

std::uint64_t on_larger_ring(std::uint64_t bytes, std::uint64_t replicas, std::uint64_t group) {
  if (replicas <= 1) return 0;
  const unsigned __int128 below = static_cast<unsigned __int128>(replicas) * (group - 1);
  const unsigned __int128 above = static_cast<unsigned __int128>(bytes) * (replicas - 1) * group;
  return static_cast<std::uint64_t>((above + below - 1) / below);
}

}  // namespace weft::placement
