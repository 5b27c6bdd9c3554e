// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold between the volumes of related models, whatever the numbers. A term's bytes are rounded up once, so
// that two roundings may differ by a byte.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include "weft/placement/model.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;
using config::Layout;
using config::ModelSpec;

struct Case {
  ModelSpec model;
  Layout layout;
};

Case any_case() {
  const auto pick = [](std::initializer_list<std::uint64_t> choice) {
    return *rc::gen::elementOf(std::vector<std::uint64_t>(choice));
  };
  Case out;
  auto& size = out.layout.size;
  size = {static_cast<std::uint32_t>(pick({1, 2, 4})), static_cast<std::uint32_t>(pick({1, 2})), 1,
          static_cast<std::uint32_t>(pick({1, 2, 4})), static_cast<std::uint32_t>(pick({1, 2, 4, 8}))};
  ModelSpec& m = out.model;
  m.layers = pick({8, 16, 48});
  m.heads = pick({8, 16});
  m.kv_heads = pick({4, 8});
  m.hidden = *m.heads * pick({64, 96});
  m.vocab = pick({1000, 32001});
  m.seq = pick({256, 1024});
  m.precision = std::vector<std::string>{"fp32", "fp16", "bf16"}[pick({0, 1, 2})];
  m.microbatch = pick({1, 2});
  m.global_batch = *m.microbatch * size[4] * pick({1, 3, 16});
  m.zero = 0;
  m.sequence_parallel = false;
  m.interleave = 1;
  return out;
}

struct Volumes {
  std::array<std::array<std::uint64_t, 6>, config::kDims> bytes{};
  [[nodiscard]] std::uint64_t of(Dim d, Collective c) const {
    return bytes[static_cast<std::size_t>(d)][static_cast<std::size_t>(c)];
  }
  // Of a rank of a ring of g, in units of (g-1)/g bytes.
  [[nodiscard]] std::uint64_t ring(Dim d) const {
    return 2 * of(d, Collective::allreduce) + of(d, Collective::reduce_scatter) + of(d, Collective::allgather);
  }
};

Volumes volumes(const Case& c) {
  const auto traffic = derive_traffic(c.model, c.layout);
  RC_ASSERT(traffic.has_value());
  Volumes out;
  for (const DerivedTerm& t : traffic->terms)
    out.bytes[static_cast<std::size_t>(t.term.dim)][static_cast<std::size_t>(t.term.collective)] += t.term.bytes.value;
  return out;
}

void near(std::uint64_t a, std::uint64_t b, std::uint64_t slack = 4) { RC_ASSERT((a > b ? a - b : b - a) <= slack); }

TEST(ModelProperty, DoublingTheBatchDoublesActivationsAndLeavesParameters) {
  EXPECT_TRUE(rc::check([] {
    Case c = any_case();
    c.layout[Dim::cp] = 1;  // cp carries both
    const Volumes once = volumes(c);
    *c.model.global_batch *= 2;
    const Volumes twice = volumes(c);
    for (const Dim d : {Dim::tp, Dim::pp})
      for (std::size_t k = 0; k < 6; ++k)
        near(twice.of(d, static_cast<Collective>(k)), 2 * once.of(d, static_cast<Collective>(k)));
    RC_ASSERT(twice.bytes[static_cast<std::size_t>(Dim::dp)] == once.bytes[static_cast<std::size_t>(Dim::dp)]);
  }));
}

TEST(ModelProperty, ZeroStagesMoveWhatTheyShard) {
  EXPECT_TRUE(rc::check([] {
    Case c = any_case();
    const auto at = [&](std::uint64_t stage) {
      c.model.zero = stage;
      return volumes(c);
    };
    const Volumes none = at(0);
    const Volumes one = at(1);
    const Volumes two = at(2);
    const Volumes three = at(3);
    const std::uint64_t m = *c.model.global_batch / (*c.model.microbatch * c.layout[Dim::dp]);
    const auto rs = [](const Volumes& v) { return v.of(Dim::dp, Collective::reduce_scatter); };
    const auto ag = [](const Volumes& v) { return v.of(Dim::dp, Collective::allgather); };
    // An allreduce is a reduce_scatter and an allgather; stage 1 gathers weights in place of gradients.
    near(rs(one), none.of(Dim::dp, Collective::allreduce));
    if (c.model.precision != "bf16") near(one.ring(Dim::dp), none.ring(Dim::dp));
    // Stages 2 and 3 reduce each microbatch, stage 3 gathers twice each.
    near(rs(two), m * rs(one), 2 * m);
    near(ag(two), ag(one));
    near(rs(three), rs(two));
    near(ag(three), 2 * m * ag(one), 4 * m);
    for (const Dim d : {Dim::tp, Dim::pp})
      RC_ASSERT(three.bytes[static_cast<std::size_t>(d)] == none.bytes[static_cast<std::size_t>(d)]);
  }));
}

TEST(ModelProperty, InterleavingMultipliesThePipelineAlone) {
  EXPECT_TRUE(rc::check([] {
    Case c = any_case();
    const Volumes plain = volumes(c);
    c.model.interleave = 2;
    const Volumes chunked = volumes(c);
    near(chunked.of(Dim::pp, Collective::neighbour), 2 * plain.of(Dim::pp, Collective::neighbour));
    for (const Dim d : {Dim::tp, Dim::cp, Dim::dp})
      RC_ASSERT(chunked.bytes[static_cast<std::size_t>(d)] == plain.bytes[static_cast<std::size_t>(d)]);
  }));
}

TEST(ModelProperty, SequenceParallelismMovesTheSameOverTpAndLessOverThePipeline) {
  EXPECT_TRUE(rc::check([] {
    Case c = any_case();
    const Volumes plain = volumes(c);
    c.model.sequence_parallel = true;
    const Volumes sharded = volumes(c);
    near(sharded.ring(Dim::tp), plain.ring(Dim::tp));
    RC_ASSERT(sharded.of(Dim::tp, Collective::allreduce) == 0U);
    near(c.layout[Dim::tp] * sharded.of(Dim::pp, Collective::neighbour), plain.of(Dim::pp, Collective::neighbour),
         c.layout[Dim::tp]);
  }));
}

}  // namespace
}  // namespace weft::placement
