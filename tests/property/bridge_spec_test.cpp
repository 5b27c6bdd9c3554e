// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <string>

#include "weft_spec.h"

namespace {

// Fields are compared one by one: padding is nobody's.
bool same(const weft_spec& a, const weft_spec& b) {
  if (a.term_count != b.term_count) return false;
  for (int t = 0; t < a.term_count; ++t) {
    const weft_spec_term &x = a.terms[t], &y = b.terms[t];
    if (x.dim != y.dim || x.collective != y.collective || x.algorithm != y.algorithm || x.bytes != y.bytes)
      return false;
  }
  return std::memcmp(a.size, b.size, sizeof(a.size)) == 0 && std::memcmp(a.given, b.given, sizeof(a.given)) == 0 &&
         std::memcmp(a.order, b.order, sizeof(a.order)) == 0 && a.order_given == b.order_given &&
         a.segment_level == b.segment_level && a.exclusive == b.exclusive && a.objective == b.objective &&
         a.cross_rail == b.cross_rail && a.segment == b.segment && a.max_leaves == b.max_leaves &&
         a.max_pods == b.max_pods;
}

TEST(SpecProperty, WhatIsWrittenReadsBackEqual) {
  EXPECT_TRUE(rc::check([] {
    weft_spec spec;
    weft_spec_init(&spec);
    for (int d = 0; d < WEFT_DIMS; ++d) {
      spec.given[d] = *rc::gen::inRange<std::uint8_t>(0, 2);
      if (spec.given[d] != 0) spec.size[d] = 1U << *rc::gen::inRange(0, 5);
    }
    spec.size[WEFT_DIM_EP] = 1;
    spec.segment = *rc::gen::inRange<std::uint32_t>(0, WEFT_SPEC_MAX_NODES + 1);
    spec.segment_level = spec.segment != 0 ? *rc::gen::inRange<std::uint8_t>(1, 4) : std::uint8_t{0};
    spec.max_leaves = *rc::gen::inRange<std::uint32_t>(0, 100);
    spec.exclusive = *rc::gen::inRange<std::uint8_t>(0, 4);
    spec.objective = *rc::gen::inRange<std::uint8_t>(0, 4);
    for (int t = *rc::gen::inRange(0, 5); t > 0; --t)
      spec.terms[spec.term_count++] = {WEFT_DIM_DP, *rc::gen::inRange<std::uint8_t>(0, 6),
                                       *rc::gen::inRange<std::uint8_t>(0, 4),
                                       *rc::gen::inRange<std::uint64_t>(1, WEFT_SPEC_MAX_BYTES + 1)};
    char text[WEFT_SPEC_BYTES + 1], error[WEFT_SPEC_MESSAGE] = "";
    const std::size_t length = weft_spec_write(&spec, text, sizeof(text));
    if (length == 0) return;  // says nothing: an empty SPEC is refused
    weft_spec back;
    RC_ASSERT(weft_spec_parse(text, length, &back, error, sizeof(error)) == 0);
    RC_ASSERT(same(spec, back));
  }));
}

TEST(SpecProperty, AnyBytesGiveAPrintableMessageOrASpecThatReadsBack) {
  EXPECT_TRUE(rc::check([] {
    const std::string keys[] = {"tp=", "order=", "dp_traffic=", "segment=", ",", "allreduce:", "8", "GiB", "+", "-"};
    std::string text;
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i)
      text += *rc::gen::inRange(0, 3) == 0 ? *rc::gen::string<std::string>() : keys[*rc::gen::inRange(0, 10)];
    weft_spec spec, back;
    char error[WEFT_SPEC_MESSAGE] = "", canonical[WEFT_SPEC_BYTES + 1];
    if (weft_spec_parse(text.data(), text.size(), &spec, error, sizeof(error)) == 0) {
      const std::size_t length = weft_spec_write(&spec, canonical, sizeof(canonical));
      RC_ASSERT(weft_spec_parse(canonical, length, &back, error, sizeof(error)) == 0);
      RC_ASSERT(same(spec, back));
      return;
    }
    RC_ASSERT(std::strlen(error) > 0);
    for (const char* c = error; *c != '\0'; ++c) RC_ASSERT(*c >= 0x20 && *c < 0x7f);
  }));
}

}  // namespace
