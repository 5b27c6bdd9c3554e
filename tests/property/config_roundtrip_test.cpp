// SPDX-License-Identifier: BSD-3-Clause
//
// What the room writes, it reads back as it was.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "weft/config.hpp"

namespace weft::config {
namespace {

std::string digits() {
  return rc::gen::resize(4, rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("0129")))))
      .
      operator*();
}

// Names as fabrics have them, near each other so that folding happens, with now and then an odd byte.
rc::Gen<std::string> name() {
  return rc::gen::exec([] {
    std::string out;
    const int parts = *rc::gen::inRange(1, 4);
    for (int i = 0; i < parts; ++i) {
      out += *rc::gen::element<std::string>("n", "r", "gpu", "-", "x.", "_", "#", "\xC3\xA9", "");
      if (*rc::gen::inRange(0, 4) != 0) out += digits();
    }
    return out.empty() ? std::string("a") : out;
  });
}

TEST(HostlistProperty, ExpandUndoesCompress) {
  const bool held = rc::check("expand(compress(v)) == v", [] {
    const auto names = *rc::gen::container<std::vector<std::string>>(name());
    for (const std::string& n : names) RC_ASSERT(is_valid_name(n));
    const std::string text = compress_hostlist(names);
    const auto again = expand_hostlist(text);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == names);
    RC_ASSERT(count_hostlist(text).value() == names.size());
  });
  EXPECT_TRUE(held);
}

TEST(HostlistProperty, GridsFoldIntoTwoBracketsAtMost) {
  const bool held = rc::check("a grid of names is one item", [] {
    const int racks = *rc::gen::inRange(2, 12);
    const int nodes = *rc::gen::inRange(2, 30);
    std::vector<std::string> names;
    for (int r = 1; r <= racks; ++r) {
      for (int n = 1; n <= nodes; ++n) names.push_back("r" + std::to_string(r) + "n" + std::to_string(100 + n));
    }
    RC_ASSERT(compress_hostlist(names) ==
              "r[1-" + std::to_string(racks) + "]n[101-" + std::to_string(100 + nodes) + "]");
  });
  EXPECT_TRUE(held);
}

TEST(HostlistProperty, AnyTextExpandsOrIsRefusedInside) {
  const bool held = rc::check("expand never misbehaves", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a0129[]-,x :\"")));
    const auto names = expand_hostlist(text);
    const auto count = count_hostlist(text);
    RC_ASSERT(names.has_value() == count.has_value());
    if (names) {
      RC_ASSERT(names->size() == *count);
    } else {
      RC_ASSERT(names.error().offset < text.size());
      RC_ASSERT(names.error().offset + names.error().length <= text.size());
    }
  });
  EXPECT_TRUE(held);
}

TEST(UnitsProperty, ParseUndoesWrite) {
  const bool held = rc::check("parse(to_string(x)) == x", [] {
    const auto digits_of = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
    const auto scale = *rc::gen::element<std::uint64_t>(1, 8, 1000, 1 << 10, 1'000'000, 1 << 20, 1'000'000'000,
                                                        1ULL << 30, 1'000'000'000'000ULL, 1ULL << 40);
    const std::uint64_t value = *rc::gen::element(digits_of * scale, *rc::gen::arbitrary<std::uint64_t>() | 1);
    RC_ASSERT(parse_bandwidth(to_string(Bandwidth{value})).value() == Bandwidth{value});
    RC_ASSERT(parse_bandwidth(to_byte_rate_string(Bandwidth{value})).value() == Bandwidth{value});
    RC_ASSERT(parse_bytes(to_string(Bytes{value})).value() == Bytes{value});
    const double time = std::ldexp(static_cast<double>(value), -*rc::gen::inRange(0, 120));
    RC_ASSERT(parse_seconds(to_string(Seconds{time})).value() == Seconds{time});
  });
  EXPECT_TRUE(held);
}

// Text of any bytes: quotes, escapes, control bytes, words that YAML takes for something else.
rc::Gen<Text> any_text() {
  return rc::gen::map(
      rc::gen::oneOf(
          rc::gen::element<std::string>("null", "~", "true", "1", "a: b", "- x", "#", "it's", "\"", "\\", "é", " x ",
                                        "a\nb", "\x04", "{}", "%", "@", "&a", "*a", "!t", "|", "---", "1e3"),
          rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)))),
      [](std::string value) {
        return Text{std::move(value), {}};
      });
}

Text hostlist() {
  const auto names = *rc::gen::resize(6, rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(name())));
  return {compress_hostlist(names), {}};
}

std::optional<Bandwidth> maybe_bandwidth() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return Bandwidth{*rc::gen::inRange<std::uint64_t>(1, 1'000'000) * 100'000};
}

template <typename Make>
void fill(Make make) {
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) make();
}

NodeTypeSpec node_type(int index) {
  NodeTypeSpec out;
  out.name = *any_text();
  out.name.value += std::to_string(index);  // keys are distinct
  out.gpus = *rc::gen::inRange<std::uint32_t>(0, 9);
  out.nics = *rc::gen::inRange<std::uint32_t>(1, 9);
  if (*rc::gen::arbitrary<bool>()) {
    out.hwloc = *any_text();
  } else if (*rc::gen::arbitrary<bool>()) {
    for (std::uint32_t g = 0; g < out.gpus; ++g)
      out.nic_of_gpu.push_back(*rc::gen::inRange<std::uint32_t>(0, out.nics));
  }
  out.nvlink = *rc::gen::element(NvlinkScope::node, NvlinkScope::none);
  if (out.nvlink == NvlinkScope::node) out.nvlink_bandwidth = maybe_bandwidth();
  return out;
}

LinkSpec link() {
  LinkSpec out;
  out.pattern = *rc::gen::element(LinkPattern::all, LinkPattern::zip, LinkPattern::split, LinkPattern::rail);
  out.from = hostlist();
  out.to = out.pattern == LinkPattern::zip || out.pattern == LinkPattern::split ? out.from : hostlist();
  out.bandwidth = maybe_bandwidth().value_or(Bandwidth{400'000'000'000});
  out.cables = *rc::gen::inRange<std::uint32_t>(1, 5);
  if (*rc::gen::arbitrary<bool>()) out.nics = Text{*rc::gen::element<std::string>("0-3,6", "1", "0,2"), {}};
  if (*rc::gen::arbitrary<bool>()) out.plane = *any_text();
  return out;
}

HealthSpec health() {
  HealthSpec out;
  out.target = *rc::gen::element(HealthSpec::Target::switch_, HealthSpec::Target::node, HealthSpec::Target::port,
                                 HealthSpec::Target::link);
  out.a = {*name(), {}};
  if (out.target == HealthSpec::Target::port) out.a.value += ":3";
  if (out.target == HealthSpec::Target::link) {
    out.b = {*name(), {}};
    if (*rc::gen::arbitrary<bool>()) out.b.value += ":0";
    if (*rc::gen::arbitrary<bool>()) out.cables = 2;
  }
  out.down = *rc::gen::arbitrary<bool>();
  if (!out.down) out.bandwidth = maybe_bandwidth();
  if (*rc::gen::arbitrary<bool>()) out.reason = any_text().operator*().value;
  return out;
}

FabricSpec fabric() {
  FabricSpec out;
  if (*rc::gen::arbitrary<bool>()) out.name = any_text().operator*().value;
  int types = 0;
  fill([&] { out.node_types.push_back(node_type(types++)); });
  fill([&] {
    SwitchSpec item{hostlist(), std::nullopt};
    if (*rc::gen::arbitrary<bool>()) item.tier = *rc::gen::inRange<std::uint32_t>(1, 5);
    out.switches.push_back(std::move(item));
  });
  fill([&] { out.nodes.push_back({hostlist(), *any_text(), *rc::gen::inRange<std::uint32_t>(0, 100)}); });
  fill([&] { out.links.push_back(link()); });
  fill([&] { out.nvlink_domains.push_back({*any_text(), hostlist()}); });
  fill([&] { out.health.push_back(health()); });
  return out;
}

void assert_same(const FabricSpec& a, const FabricSpec& b) {
  RC_ASSERT(a.name == b.name);
  RC_ASSERT(a.node_types.size() == b.node_types.size());
  for (std::size_t i = 0; i < a.node_types.size(); ++i) {
    const NodeTypeSpec& x = a.node_types[i];
    const NodeTypeSpec& y = b.node_types[i];
    RC_ASSERT(x.name == y.name && x.gpus == y.gpus && x.nics == y.nics && x.nic_of_gpu == y.nic_of_gpu);
    RC_ASSERT(x.nvlink == y.nvlink && x.nvlink_bandwidth == y.nvlink_bandwidth && x.hwloc == y.hwloc);
  }
  RC_ASSERT(std::equal(a.switches.begin(), a.switches.end(), b.switches.begin(), b.switches.end(),
                       [](const auto& x, const auto& y) { return x.names == y.names && x.tier == y.tier; }));
  RC_ASSERT(std::equal(
      a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
      [](const auto& x, const auto& y) { return x.names == y.names && x.type == y.type && x.weight == y.weight; }));
  RC_ASSERT(
      std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(), [](const auto& x, const auto& y) {
        return x.from == y.from && x.to == y.to && x.pattern == y.pattern && x.bandwidth == y.bandwidth &&
               x.cables == y.cables && x.nics == y.nics && x.plane == y.plane;
      }));
  RC_ASSERT(std::equal(a.nvlink_domains.begin(), a.nvlink_domains.end(), b.nvlink_domains.begin(),
                       b.nvlink_domains.end(),
                       [](const auto& x, const auto& y) { return x.name == y.name && x.nodes == y.nodes; }));
  RC_ASSERT(
      std::equal(a.health.begin(), a.health.end(), b.health.begin(), b.health.end(), [](const auto& x, const auto& y) {
        return x.target == y.target && x.a == y.a && x.b == y.b && x.down == y.down && x.bandwidth == y.bandwidth &&
               x.cables == y.cables && x.reason == y.reason;
      }));
}

TEST(FabricYamlProperty, ParseUndoesWrite) {
  const bool held = rc::check("parse(write(spec)) == spec", [] {
    const FabricSpec spec = fabric();
    const std::string text = write_fabric_yaml(spec);
    RC_LOG() << text;
    const auto again = parse_fabric_yaml(std::make_shared<const SourceText>("f", text));
    if (!again) RC_FAIL(again.error().to_string());
    assert_same(spec, *again);
    RC_ASSERT(write_fabric_yaml(*again) == text);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace weft::config
