// SPDX-License-Identifier: BSD-3-Clause
//
// The SPEC that users write and slurmctld reads: a refusal is printable and ends, what is taken is written, reads back
// and is written the same; the token in --extra lies inside its text.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weft_spec.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void check_extra(const std::string& text) {
  const char* at = nullptr;
  std::size_t length = 0;
  if (weft_spec_in_extra(text.c_str(), &at, &length) != 1) return;
  must(at >= text.c_str() + 5 && at + length <= text.c_str() + std::strlen(text.c_str()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_extra(text);
  weft_spec spec, back;
  char error[WEFT_SPEC_MESSAGE], first[2 * WEFT_SPEC_BYTES], second[2 * WEFT_SPEC_BYTES];
  std::memset(error, 0x7f, sizeof(error));
  if (weft_spec_parse(text.data(), text.size(), &spec, error, sizeof(error)) != 0) {
    must(std::memchr(error, 0, sizeof(error)) != nullptr && error[0] != 0);
    for (const char* c = error; *c != 0; ++c) must(*c >= 0x20 && *c < 0x7f);
    return 0;
  }
  const std::size_t length = weft_spec_write(&spec, first, sizeof(first));
  must(length < sizeof(first) && length == std::strlen(first));
  must(weft_spec_parse(first, length, &back, error, sizeof(error)) == 0);
  must(weft_spec_write(&back, second, sizeof(second)) == length && std::strcmp(first, second) == 0);
  std::uint32_t ranks = 0, dp = 0;
  const weft_spec_job job{16, 128, 128, 8};
  if (weft_spec_fit(&spec, &job, &ranks, &dp, error, sizeof(error)) == 0) must(ranks == 128 && dp > 0);
  return 0;
}
