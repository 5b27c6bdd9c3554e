// SPDX-License-Identifier: BSD-3-Clause
//
// What expands must fold and expand again to the same names, and agree with the count.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weft/config/hostlist.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto indices = expand_indices(text); indices && indices->size() > kMaxHostlistNames) std::abort();
  const auto count = count_hostlist(text);
  if (!count) {
    const auto& e = count.error();
    const bool inside = e.offset <= size && e.length >= 1 && e.offset + e.length <= size + 1 && !e.message.empty();
    if (!inside || expand_hostlist(text)) std::abort();
    return 0;
  }
  if (*count > 5000) return 0;  // legal, but slow to check over and over
  const auto names = expand_hostlist(text);
  if (!names || names->size() != *count) std::abort();
  for (const std::string& name : *names) {
    if (!is_valid_name(name)) std::abort();
  }
  const auto again = expand_hostlist(compress_hostlist(*names));
  if (!again || *again != *names) std::abort();
  return 0;
}
