// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "raw_fabric.hpp"
#include "support/expanded_spec.hpp"

namespace weft::topology {
namespace {

using testing::Cable;
using testing::expand;
using testing::ExpandedSpec;

std::uint32_t below(std::uint32_t end) { return *rc::gen::inRange<std::uint32_t>(0, end); }
bool one_in(std::uint32_t n) { return below(n) == 0; }

// Names as dumps have them: numbered, dotted, dashed, digits only, long, with numbers in the middle or too long to
// count.
std::string strange_name(std::uint32_t i) {
  switch (below(8)) {
    case 0: return "gpu" + std::to_string(i);
    case 1: return "n00" + std::to_string(i) + ".rack-3.example.org";
    case 2: return std::to_string(i);
    case 3: return "S-0002c902004" + std::to_string(10000 + i);
    case 4: return "a-" + std::to_string(i) + "-b";
    case 5: return std::string(100, 'x') + std::to_string(i);
    case 6: return "9999999999999999999999999" + std::to_string(i);
    default: return "_" + std::to_string(i) + "..";
  }
}

template <typename Object>
void name_all(std::vector<Object>& objects, const std::string& regular, std::set<std::string>& taken) {
  const bool is_regular = !one_in(3);
  for (std::uint32_t i = 0; i < objects.size(); ++i) {
    std::string name = is_regular ? regular + std::to_string(i + 1) : strange_name(i);
    while (!taken.insert(name).second) name += "x";
    objects[i].name = name;
  }
}

RawEnd nic_end(std::uint32_t node, std::uint32_t nic) { return {false, node, nic}; }
RawEnd switch_end(std::uint32_t sw) { return {true, sw, 0}; }

RawCable some_cable(RawEnd a, RawEnd b) {
  RawCable cable;
  cable.a = a;
  cable.b = b;
  if (one_in(2)) std::swap(cable.a, cable.b);
  cable.nominal = {(one_in(8) ? 200 : 400) * 1'000'000'000ULL};
  if (one_in(10)) cable.plane = "p" + std::to_string(below(2));
  if (one_in(10)) cable.down = true;
  if (one_in(10)) cable.actual = Bandwidth{100'000'000'000};
  if ((cable.down || cable.actual) && one_in(2)) cable.reason = "seen";
  return cable;
}

// Regular skeleton (rails, dual-homed nodes, leaves, a random bipartite or lateral part) with random damage.
RawFabric some_fabric() {
  RawFabric raw;
  raw.name = "f";
  raw.nodes.resize(below(24));
  raw.switches.resize(2 + below(12));
  const std::uint32_t switches = static_cast<std::uint32_t>(raw.switches.size());
  std::set<std::string> taken;
  name_all(raw.nodes, "n", taken);
  name_all(raw.switches, "s", taken);
  const std::uint32_t nics = 1 + below(4);
  for (RawNode& node : raw.nodes) {
    node.nics = one_in(10) ? 1 + below(4) : nics;
    node.gpus = one_in(10) ? below(3) : 4;
    node.weight = one_in(10) ? 2 : 1;
  }
  const std::uint32_t form = below(4);
  for (std::uint32_t n = 0; n < raw.nodes.size(); ++n) {
    for (std::uint32_t nic = 0; nic < raw.nodes[n].nics; ++nic) {
      if (one_in(12)) continue;
      const std::uint32_t run = n / 4;
      const std::uint32_t sw = form == 0 ? nic + run : form == 1 ? run : form == 2 ? n : below(switches);
      const std::uint32_t cables = one_in(6) ? below(3) : 1;
      for (std::uint32_t c = 0; c < cables; ++c)
        raw.cables.push_back(some_cable(nic_end(n, nic), switch_end(sw % switches)));
      if (form == 3) raw.cables.push_back(some_cable(nic_end(n, nic), switch_end((sw + 1) % switches)));
    }
  }
  const std::uint32_t shape = below(3);
  for (std::uint32_t a = 0; a < switches; ++a) {
    for (std::uint32_t b = a + 1; b < switches; ++b) {
      const bool bipartite = a < switches / 2 && b >= switches / 2;
      if (shape == 0 ? !bipartite : shape == 1 ? b != a + 1 : one_in(2)) continue;
      if (one_in(15)) continue;
      for (std::uint32_t c = 1 + below(2); c > 0; --c) raw.cables.push_back(some_cable(switch_end(a), switch_end(b)));
    }
  }
  if (one_in(2)) {
    for (std::uint32_t s = 0; s < switches; ++s) raw.switches[s].tier = s < switches / 2 ? 1 : 2;
  }
  for (std::size_t i = raw.cables.size(); i > 1; --i) {
    std::swap(raw.cables[i - 1], raw.cables[below(static_cast<std::uint32_t>(i))]);
  }
  return raw;
}

std::string end_text(const RawFabric& raw, const RawEnd& end) {
  return end.is_switch ? raw.switches[end.index].name : raw.nodes[end.index].name + ":" + std::to_string(end.nic);
}

std::vector<Cable> cables_of(const RawFabric& raw) {
  std::vector<Cable> out;
  for (const RawCable& c : raw.cables) {
    out.push_back(testing::cable(end_text(raw, c.a), end_text(raw, c.b), c.nominal, c.plane));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// How many cables between two ends ail how.
using Ailing = std::map<std::tuple<std::string, std::string, bool, std::uint64_t, std::string>, std::uint32_t>;

Ailing ailing_of(const RawFabric& raw) {
  Ailing out;
  for (const RawCable& c : raw.cables) {
    if (!c.down && !c.actual) continue;
    const Cable ends = testing::cable(end_text(raw, c.a), end_text(raw, c.b), c.nominal, c.plane);
    ++out[{ends.a, ends.b, c.down, c.down ? 0 : c.actual->bits_per_second, c.reason}];
  }
  return out;
}

Ailing ailing_of(const config::FabricSpec& spec, const ExpandedSpec& expanded) {
  Ailing out;
  for (const config::HealthSpec& h : spec.health) {
    Cable ends = testing::cable(h.a.value, h.b.value, {}, "");
    const auto bundle = std::count_if(expanded.cables.begin(), expanded.cables.end(),
                                      [&](const Cable& c) { return c.a == ends.a && c.b == ends.b; });
    out[{ends.a, ends.b, h.down, h.bandwidth ? h.bandwidth->bits_per_second : 0, h.reason}] +=
        h.cables.value_or(static_cast<std::uint32_t>(bundle));
  }
  return out;
}

TEST(ToSpecProperty, SaysExactlyTheCablesOfTheRawFabric) {
  EXPECT_TRUE(rc::check("expand(to_spec(raw)) is raw", [] {
    const RawFabric raw = some_fabric();
    const config::FabricSpec spec = to_spec(raw, nullptr);
    const ExpandedSpec got = expand(spec);
    RC_ASSERT(got.cables == cables_of(raw));
    RC_ASSERT(ailing_of(spec, got) == ailing_of(raw));
    RC_ASSERT(got.nodes.size() == raw.nodes.size());
    for (std::size_t i = 0; i < raw.nodes.size(); ++i) {
      const RawNode& node = raw.nodes[i];
      RC_ASSERT(got.nodes[i] == (ExpandedSpec::Node{node.name, node.gpus, node.nics, node.weight}));
    }
    RC_ASSERT(got.switches.size() == raw.switches.size());
    for (std::size_t i = 0; i < raw.switches.size(); ++i) {
      RC_ASSERT(got.switches[i] == std::pair(raw.switches[i].name, raw.switches[i].tier));
    }
  }));
}

TEST(ToSpecProperty, DoesNotDependOnTheOrderOfCables) {
  EXPECT_TRUE(rc::check("shuffled cables give the same links", [] {
    RawFabric raw = some_fabric();
    for (RawCable& cable : raw.cables) cable.down = false, cable.actual.reset();
    const auto first = to_spec(raw, nullptr).links;
    std::reverse(raw.cables.begin(), raw.cables.end());
    const auto second = to_spec(raw, nullptr).links;
    RC_ASSERT(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const auto text = [](const config::LinkSpec& l) {
        return std::tuple(l.from.value, l.to.value, l.pattern, l.bandwidth, l.cables, l.nics ? l.nics->value : "",
                          l.plane ? l.plane->value : "");
      };
      RC_ASSERT(text(first[i]) == text(second[i]));
    }
  }));
}

}  // namespace
}  // namespace weft::topology
