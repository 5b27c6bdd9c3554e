// SPDX-License-Identifier: BSD-3-Clause
#include "weft/config/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weft {
namespace {

constexpr std::size_t kShownBytes = 120;  // of a source line; more would wrap and part the caret from its target

char printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\t') return ' ';
  return byte < 0x20 || byte == 0x7f ? '?' : c;
}

// The excerpt and the caret line under `column` (from 1).
std::string excerpt(std::string_view line, std::uint32_t column, std::uint32_t width) {
  const std::size_t target = std::min<std::size_t>(column == 0 ? 0 : column - 1, line.size());
  std::size_t begin = 0;
  std::size_t end = line.size();
  if (line.size() > kShownBytes) {
    begin = target > kShownBytes / 2 ? target - kShownBytes / 2 : 0;
    end = std::min(line.size(), begin + kShownBytes);
  }
  std::string shown;
  if (begin > 0) shown += "...";
  const std::size_t caret = shown.size() + (target - begin);
  for (std::size_t i = begin; i < end; ++i) shown += printable(line[i]);
  if (end < line.size()) shown += "...";
  if (column == 0) return fmt::format("\n  {}", shown);
  const std::size_t room = std::max<std::size_t>(1, end > target ? end - target : 1);
  const std::size_t carets = std::clamp<std::size_t>(width, 1, room);
  return fmt::format("\n  {}\n  {}{}", shown, std::string(caret, ' '), std::string(carets, '^'));
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::io: return "io";
    case ErrorCode::syntax: return "syntax";
    case ErrorCode::unknown_key: return "unknown_key";
    case ErrorCode::missing: return "missing";
    case ErrorCode::bad_value: return "bad_value";
    case ErrorCode::bad_unit: return "bad_unit";
    case ErrorCode::bad_name: return "bad_name";
    case ErrorCode::duplicate: return "duplicate";
    case ErrorCode::dangling: return "dangling";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::limit: return "limit";
    case ErrorCode::infeasible: return "infeasible";
    case ErrorCode::usage: return "usage";
  }
  return "unknown";
}

std::string_view SourceText::line(std::uint32_t line) const {
  if (line == 0) return {};
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = text_.find('\n', begin);
    if (end == std::string::npos) return {};
    begin = end + 1;
  }
  std::size_t end = text_.find('\n', begin);
  if (end == std::string::npos) end = text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::string Error::to_string() const {
  std::string out;
  if (!file.empty()) {
    out += file;
    if (at.line > 0) out += fmt::format(":{}", at.line);
    if (at.line > 0 && at.column > 0) out += fmt::format(":{}", at.column);
    out += ": ";
  }
  out += "error: ";
  out += message;
  if (!expected.empty()) out += fmt::format("; expected {}", expected);
  for (char& c : out) c = c == '\n' ? '\n' : printable(c);
  if (!fragment.empty()) out += excerpt(fragment, at.column, width);
  return out;
}

std::string Note::to_string() const {
  std::string out;
  if (!file.empty()) {
    out += file;
    if (at.line > 0) out += fmt::format(":{}", at.line);
    out += ": ";
  }
  out += kind == Kind::assumption ? "assumed: " : "warning: ";
  out += message;
  for (char& c : out) c = printable(c);
  return out;
}

Error error_at(ErrorCode code, const Source& source, Position at, std::uint32_t width, std::string message,
               std::string expected) {
  Error out;
  out.code = code;
  out.at = at;
  out.width = std::max(1U, width);
  out.message = std::move(message);
  out.expected = std::move(expected);
  if (source) {
    out.file = source->file();
    out.fragment = std::string(source->line(at.line));
  }
  return out;
}

Error error(ErrorCode code, std::string message, std::string expected) {
  return error_at(code, nullptr, {}, 1, std::move(message), std::move(expected));
}

Result<Source> read_source(const std::string& path, std::size_t max_bytes) {
  const auto io_error = [&](int reason) {
    Error e = error(ErrorCode::io, fmt::format("cannot read: {}", std::strerror(reason)));
    e.file = path;
    return fail(std::move(e));
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, [](std::FILE*) { return 0; });
  if (path == "-") {
    file = {stdin, [](std::FILE*) { return 0; }};
  } else {
    file = {std::fopen(path.c_str(), "rb"), [](std::FILE* f) { return std::fclose(f); }};
  }
  if (!file) return io_error(errno);
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, got);
    if (text.size() > max_bytes) {
      Error e = error(ErrorCode::limit, fmt::format("file is larger than {} bytes", max_bytes));
      e.file = path;
      return fail(std::move(e));
    }
    if (got < sizeof buffer) {
      if (std::ferror(file.get()) != 0) return io_error(errno);
      break;
    }
  }
  return std::make_shared<const SourceText>(path == "-" ? "<stdin>" : path, std::move(text));
}

}  // namespace weft
