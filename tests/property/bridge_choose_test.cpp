// SPDX-License-Identifier: BSD-3-Clause
//
// Random free sets and sizes: the bridge gives what place() gives offline, keeps Slurm's word, and a replay agrees.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "bridge_fixtures.hpp"
#include "decision.hpp"
#include "queries.hpp"
#include "record.hpp"

namespace weft::bridge::test {
namespace {

std::vector<int> some_nodes() {
  std::vector<int> out;
  for (int n = 1; n <= 16; ++n)
    if (*rc::gen::element(true, true, true, false)) out.push_back(n);
  return out;
}

TEST(ChooseProperty, EqualsPlaceOfTheSameFreeNodes) {
  const Rig rig;
  const topology::Fabric& fabric = rig.bridge->bridge->model().fabric;
  EXPECT_TRUE(rc::check([&] {
    const std::vector<int> free = some_nodes();
    RC_PRE(!free.empty());
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(free.size()) + 1);
    Asked asked(rig, free);
    asked.request.gpus_per_node = 8;
    asked.nodes(nodes).spec("tp=8").choose();
    RC_ASSERT(asked.choice.verdict == WEFT_PLACED);
    config::JobSpec job;
    job.nodes = nodes;
    job.ranks_per_node = 8;
    job.layout = config::Layout();
    (*job.layout)[config::Dim::tp] = 8;
    const auto resolved = placement::resolve_job(fabric, job);
    RC_ASSERT(resolved.has_value());
    job.traffic.push_back({config::Dim::tp, config::Collective::allreduce, Bytes{12ULL << 30U}, {}});
    if (nodes > 1) {
      job.traffic.push_back({config::Dim::dp, config::Collective::reduce_scatter, Bytes{4ULL << 30U}, {}});
      job.traffic.push_back({config::Dim::dp, config::Collective::allgather, Bytes{4ULL << 30U}, {}});
    }
    const auto traffic = placement::build_traffic(job, resolved->layout);
    RC_ASSERT(traffic.has_value());
    placement::Request request;
    request.job = &job;
    request.layout = resolved->layout;
    request.ranks_per_node = 8;
    request.traffic = &*traffic;
    request.free.assign(fabric.node_count(), false);
    for (const int n : free) request.free[topology::index(*fabric.find_node("n" + std::to_string(n)))] = true;
    const auto placed = placement::place(fabric, request);
    RC_ASSERT(placed.has_value());
    std::vector<std::string> offline, online;
    for (const topology::NodeId n : placed->nodes) offline.push_back(fabric.node_name(n));
    for (std::uint32_t i = 0; i < asked.choice.node_count; ++i) online.push_back(rig.names[asked.chosen[i]]);
    RC_ASSERT(online == offline);
  }));
}

TEST(ChooseProperty, WhateverIsAskedTheAnswerIsLegalAndTheSameTwice) {
  const Rig strict("node_weight: strict\n"), tie("node_weight: tie\n");
  EXPECT_TRUE(rc::check([&] {
    const Rig& rig = *rc::gen::inRange(0, 2) == 0 ? strict : tie;
    const std::vector<int> free = some_nodes();
    RC_PRE(free.size() >= 2);
    Asked asked(rig, free);
    const auto least = *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(free.size()) + 1);
    const auto most = *rc::gen::inRange<std::uint32_t>(least, 18);
    asked.nodes(least, *rc::gen::inRange<std::uint32_t>(least, most + 1), most);
    asked.flags(*rc::gen::element(0U, WEFT_REQ_CONTIGUOUS, WEFT_REQ_EXCLUSIVE_TOPO));
    if (*rc::gen::inRange(0, 2) != 0) asked.must({free[free.size() / 2]});
    if (*rc::gen::inRange(0, 2) != 0) {
      const auto weights = *rc::gen::container<std::vector<std::uint32_t>>(17, rc::gen::inRange(1U, 4U));
      asked.weights = Asked::by_node(asked, [&](int n) { return weights[static_cast<std::size_t>(n)]; });
    }
    if (*rc::gen::inRange(0, 2) != 0) {
      const auto cpus = *rc::gen::container<std::vector<std::uint32_t>>(17, rc::gen::inRange(1U, 9U));
      asked.cpus = Asked::by_node(asked, [&](int n) { return cpus[static_cast<std::size_t>(n)]; });
      asked.request.need_cpus = *rc::gen::inRange<std::uint64_t>(1, 60);
    }
    asked.request.max_switches = *rc::gen::inRange(0U, 4U);
    asked.request.segment = *rc::gen::element(0U, 0U, 2U, 4U);
    const std::string answer = asked.answer();
    RC_ASSERT(answer == asked.answer());
    RC_ASSERT(asked.choice.cause != WEFT_CAUSE_INTERNAL && asked.choice.cause != WEFT_CAUSE_REQUEST);
    if (asked.choice.verdict != WEFT_PLACED) {
      RC_ASSERT(asked.choice.reason[0] != '\0');
      return;
    }
    const std::vector<std::uint32_t> got(asked.chosen.begin(), asked.chosen.begin() + asked.choice.node_count);
    const std::set<std::uint32_t> set(got.begin(), got.end());
    RC_ASSERT(set.size() == got.size());
    RC_ASSERT(got.size() >= least && got.size() <= most);
    RC_ASSERT(std::includes(asked.usable.begin(), asked.usable.end(), set.begin(), set.end()));
    for (const std::uint32_t i : asked.required) RC_ASSERT(set.contains(i));
    if ((asked.request.flags & WEFT_REQ_CONTIGUOUS) != 0) RC_ASSERT(*set.rbegin() - *set.begin() + 1 == set.size());
    if (asked.request.segment > 0) {
      RC_ASSERT(got.size() % asked.request.segment == 0);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto leaf = [&](std::size_t at) { return (std::stoi(rig.names[got[at]].substr(1)) - 1) / 4; };
        RC_ASSERT(leaf(i) == leaf(i / asked.request.segment * asked.request.segment));
      }
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < asked.usable.size(); ++i)
      if (!asked.cpus.empty() && set.contains(asked.usable[i])) sum += asked.cpus[i];
    RC_ASSERT(asked.cpus.empty() || sum >= asked.request.need_cpus);
  }));
}

TEST(RouteProperty, GroupsPartitionTheSet) {
  const Rig rig;
  EXPECT_TRUE(rc::check([&] {
    const auto nodes = rig.set(some_nodes());
    RC_PRE(!nodes.empty());
    const auto width = *rc::gen::inRange(1U, 20U);
    const auto binding = rig.bridge->bridge->binding();
    const Route route = bridge::route(rig.bridge->bridge->model().fabric, *binding, nodes, width);
    std::vector<std::uint32_t> sorted = route.order;
    std::sort(sorted.begin(), sorted.end());
    RC_ASSERT(sorted == nodes);
    RC_ASSERT(route.start.size() >= 2 && route.start.size() <= width + 1);
    RC_ASSERT(route.start.front() == 0 && route.start.back() == nodes.size());
    for (std::size_t g = 0; g + 1 < route.start.size(); ++g) RC_ASSERT(route.start[g] < route.start[g + 1]);
  }));
}

TEST(RecordProperty, EscapedBytesComeBack) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string text = escape(bytes);
    for (const char c : text) RC_ASSERT(c >= 0x20 && c < 0x7f && c != '"');
    RC_ASSERT(unescape(text) == bytes);
  }));
}

}  // namespace
}  // namespace weft::bridge::test
