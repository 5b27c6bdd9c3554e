// SPDX-License-Identifier: BSD-3-Clause
#include "ib_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ib_lexer.hpp"

namespace weft::topology::ib {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  Cursor cursor(text, 1);
  while (!cursor.at_end()) words.push_back(cursor.word());
  return words;
}

// Texts that adapters and switches carry before anyone names them.
bool is_vendor_text(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kMarks{"Technologies", "Voltaire",   "InfiniHost", "Infiniscale",
                                                           "ConnectX",     "Connect-IB", "QLogic",     "SilverStorm",
                                                           "Topspin",      "BlueField"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
}

// Host names that an installer leaves behind: every such machine has the same one.
bool is_default_host(std::string_view host) {
  static constexpr std::array<std::string_view, 4> kHosts{"localhost", "localhost.localdomain", "(none)", "linux"};
  return std::find(kHosts.begin(), kHosts.end(), host) != kHosts.end();
}

std::optional<std::uint32_t> all_digits(std::string_view text) {
  Cursor cursor(text, 1);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto value = cursor.number();
  return value && cursor.rest().empty() ? value : std::nullopt;
}

// The device's number from 0. "HCA-1" is the first device, as the kernel's scripts count; "mlx5_0" is too.
std::optional<std::uint32_t> device_number(std::string_view device) {
  static constexpr std::array<std::string_view, 7> kFromZero{"mlx5_bond_", "mlx5_", "mlx4_", "mthca",
                                                             "hfi1_",      "qib",   "ib"};
  for (const std::string_view prefix : kFromZero) {
    if (device.starts_with(prefix)) return all_digits(device.substr(prefix.size()));
  }
  if (!device.starts_with("HCA-")) return std::nullopt;
  const auto value = all_digits(device.substr(4));
  if (!value || *value == 0) return std::nullopt;
  return *value - 1;
}

bool is_name_byte(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// InfiniBand's descriptions have 64 bytes at most. What is longer is no name; two of these joined are still within a
// hostlist's bound.
constexpr std::size_t kMaxCleanName = 120;

}  // namespace

std::string clean_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_name_byte(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  if (out.size() > kMaxCleanName) out.clear();
  return out;
}

AdapterName parse_adapter_name(std::string_view description) {
  description = trim(description);
  if (description.empty() || is_vendor_text(description)) return {};
  const std::vector<std::string_view> words = words_of(description);
  AdapterName name;
  if (words.size() == 1) {
    if (!device_number(words[0])) name.host = clean_name(words[0]);
  } else {
    // "host device", and "host (anything)" or longer texts by their first word, which is what `hostname` put there.
    name.host = clean_name(words[0]);
    name.device = std::string(words.back());
    name.number = device_number(words.back());
  }
  if (is_default_host(name.host) || is_default_host(words[0])) return {};
  return name;
}

SwitchName parse_switch_name(std::string_view description) {
  description = trim(description);
  // "MF0;NAME:MODEL/U1" is what managed switches say, "MODEL # NAME" what Voltaire's do.
  const std::size_t semicolon = description.find(';');
  if (description.starts_with("MF") && semicolon != std::string_view::npos &&
      all_digits(description.substr(2, semicolon - 2))) {
    const std::string_view body = description.substr(semicolon + 1);
    const std::size_t colon = body.rfind(':');
    if (colon == std::string_view::npos) return {clean_name(body), {}};
    const std::size_t slash = body.find('/', colon);
    return {clean_name(body.substr(0, colon)),
            slash == std::string_view::npos ? std::string() : clean_name(body.substr(slash + 1))};
  }
  if (description.starts_with("Voltaire ")) {
    const std::size_t hash = description.find(" # ");
    return {hash == std::string_view::npos ? std::string() : clean_name(description.substr(hash + 3)), {}};
  }
  if (is_vendor_text(description)) return {};
  return {clean_name(description), {}};
}

bool is_switch_text(std::string_view description) {
  static constexpr std::array<std::string_view, 5> kMarks{"Switch", "Infiniscale", "InfiniScale", "Quantum",
                                                          "Voltaire"};
  return description.starts_with("MF0;") || std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
           return description.find(mark) != std::string_view::npos;
         });
}

bool is_aggregation_node(std::string_view description) {
  return description.find("Aggregation Node") != std::string_view::npos;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    std::size_t a_end = i;
    std::size_t b_end = j;
    while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
    while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
    while (i + 1 < a_end && a[i] == '0') ++i;
    while (j + 1 < b_end && b[j] == '0') ++j;
    if (a_end - i != b_end - j) return a_end - i < b_end - j;
    const int order = a.substr(i, a_end - i).compare(b.substr(j, b_end - j));
    if (order != 0) return order < 0;
    i = a_end;
    j = b_end;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

Result<NameMap> NameMap::parse(const Source& source) {
  NameMap map;
  if (!source) return map;
  const std::string expected = "H-<guid> name, S-<guid> name, 0x<guid> name or 0x<guid> \"name\"";
  LineReader lines(source->text());
  while (const auto line = lines.next()) {
    Cursor cursor(*line, lines.number());
    if (cursor.at_end() || cursor.looking_at("#")) continue;
    if (!cursor.accept("H-")) (void)cursor.accept("S-");
    const Cursor start = cursor;
    const auto guid = cursor.hex();
    if (!guid || (!cursor.rest().empty() && !is_blank(cursor.rest().front()))) {
      return fail(syntax_at(source, start, "this is no GUID", expected));
    }
    Cursor name_start = cursor;
    name_start.skip_blanks();
    std::string name;
    if (cursor.looking_at("\"")) {
      const auto quoted = cursor.quoted_to_last();
      if (!quoted) return fail(syntax_at(source, name_start, "the quoted name does not end", expected));
      name = std::string(trim(*quoted));
    } else {
      std::string_view rest = cursor.rest();
      rest = trim(rest.substr(0, rest.find(" #")));
      if (!rest.starts_with('#')) name = std::string(rest);
    }
    if (clean_name(name).empty()) return fail(syntax_at(source, name_start, "the GUID has no name", expected));
    const auto [entry, is_new] = map.names_.try_emplace(*guid, name);
    if (!is_new && entry->second != name) {
      return fail(error_at(ErrorCode::duplicate, source, name_start.at(), static_cast<std::uint32_t>(name.size()),
                           fmt::format("GUID {} is already named '{}'", guid_text(*guid), entry->second),
                           "one name for each GUID"));
    }
  }
  return map;
}

const std::string* NameMap::find(std::uint64_t guid) {
  const auto found = names_.find(guid);
  if (found == names_.end()) return nullptr;
  used_.insert(guid);
  return &found->second;
}

}  // namespace weft::topology::ib
