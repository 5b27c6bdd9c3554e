// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json_place.hpp"
#include "placement_fixtures.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using namespace fixtures;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& content) {
  const auto doc = parse_placement(text(content, "p"));
  return doc ? "accepted" : doc.error().to_string();
}

std::vector<std::string> doc_names(const PlacementDoc& doc) {
  std::vector<std::string> out;
  for (const config::Text& n : doc.nodes) out.push_back(n.value);
  return out;
}

TEST(Hostfile, NamesHostlistsAndComments) {
  const auto doc = parse_hostfile(text("# nodes\n n2  n1 # two\r\n\nn[10-12]\n"));
  ASSERT_TRUE(doc.has_value());
  EXPECT_THAT(doc_names(*doc), ElementsAre("n2", "n1", "n10", "n11", "n12"));
  EXPECT_EQ(write_hostfile(*doc), "n2\nn1\nn10\nn11\nn12\n");
}

TEST(Hostfile, Refusals) {
  EXPECT_EQ(refusal("n1\nn2 n1\n"),
            "p:2:4: error: node n1 stands twice; expected each node once, in rank order\n  n2 n1\n     ^^");
  EXPECT_EQ(refusal("n1 slots=8\n"),
            "p:1:4: error: \"slots=8\" is no node name; expected node names alone, one for each node\n"
            "  n1 slots=8\n     ^^^^^^^");
  EXPECT_EQ(refusal("# nothing\n"), "p: error: no node names; expected a node name a line, in rank order");
}

TEST(PlacementJson, ReadsWhatItWrites) {
  const auto f = fabric(rails4());
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 2\n"));
  const auto placed = ranks_in_order(f, nodes(f, {"x3", "x1"}), 2).value();
  const auto scored = score(f, placed, *c.traffic).value();
  const PlacementDoc doc = to_doc(f, placed, "j");
  const std::string written = write_placement_json(doc, &f, &scored);
  const auto parsed = nlohmann::json::parse(written);
  EXPECT_EQ(parsed["nodes"], nlohmann::json({"x3", "x1"}));
  EXPECT_EQ(parsed["ranks"][2], nlohmann::json({{"rank", 2}, {"node", "x1"}, {"gpu", 0}, {"nic", 0}}));
  EXPECT_TRUE(parsed["score"]["tier_bytes"].contains("0"));
  const auto again = parse_placement(text(written));
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(*again, doc);
  const auto resolved = resolve_placement(f, *again, 2);
  ASSERT_TRUE(resolved.has_value()) << resolved.error().to_string();
  EXPECT_EQ(resolved->nodes, placed.nodes);
  EXPECT_EQ(resolved->ranks, placed.ranks);
  EXPECT_EQ(write_rankfile(doc), "rank 0=x3 slot=0\nrank 1=x3 slot=1\nrank 2=x1 slot=0\nrank 3=x1 slot=1\n");
  EXPECT_EQ(write_env(doc), "WEFT_JOB='j'\nWEFT_NNODES=2\nWEFT_NTASKS=4\nWEFT_NODELIST='x[3,1]'\n");
}

TEST(PlacementJson, CarriesWhatTheJobMoves) {
  const auto f = fabric(rails4());
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 2\nlayout: {tp: 2, dp: 2, order: dp-tp-cp-ep-pp}\n"
                                  "cross_rail: fabric\nalgorithm: auto\n"
                                  "traffic: {tp: {collective: allreduce, bytes: 3B}, dp: {collective: allgather, "
                                  "bytes: 4GiB}}\n"));
  Traffic traffic = *c.traffic;
  traffic.direct = {{0, 1, 7}, {0, 3, 1ULL << 40U}, {2, 0, 0}};
  const auto placed = ranks_in_order(f, nodes(f, {"x3", "x1"}), 2).value();
  const PlacementDoc doc = to_doc(f, placed, "j", &traffic);
  const auto again = parse_placement(text(write_placement_json(doc)));
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(*again, doc);
  const auto moved = traffic_of(*again);
  ASSERT_TRUE(moved.has_value()) << moved.error().to_string();
  EXPECT_EQ(moved->ranks_per_node, 2U);
  EXPECT_EQ(moved->cross_rail, config::CrossRail::fabric);
  EXPECT_EQ(moved->direct, traffic.direct);
  ASSERT_EQ(moved->terms.size(), traffic.terms.size());
  for (std::size_t i = 0; i < traffic.terms.size(); ++i) {
    EXPECT_EQ(moved->terms[i].algorithm, traffic.terms[i].algorithm);
    EXPECT_EQ(moved->flows(moved->terms[i]), traffic.flows(traffic.terms[i]));
  }
  EXPECT_EQ(score(f, placed, *moved).value(), score(f, placed, traffic).value());
}

TEST(PlacementJson, RefusesTrafficWithThePlace) {
  const auto with = [](const std::string& traffic) {
    return refusal("{\"weft\": 1, \"nodes\": [\"a\"],\n\"traffic\": " + traffic + "}");
  };
  const std::string layout = R"("layout": {"tp": 2, "cp": 1, "ep": 1, "pp": 1, "dp": 1, "order": "tp-cp-ep-dp-pp"})";
  EXPECT_EQ(with("3"),
            "p:2:12: error: this is no object; expected an object of layout, cross_rail, terms, direct\n"
            "  \"traffic\": 3}\n             ^");
  EXPECT_THAT(with("{}"), HasSubstr("p:2:12: error: \"layout\" is missing"));
  EXPECT_THAT(with(R"({"layout": {"tp": 0}})"),
              HasSubstr("p:2:30: error: tp is no such number; expected 1 to 4194304"));
  EXPECT_THAT(with(R"({"layout": {"tp": 2, "cp": 1, "ep": 1, "pp": 1, "dp": 1, "order": "tp-cp-ep-dp-dp"}})"),
              HasSubstr("p:2:78: error: order does not name each dimension once"));
  EXPECT_THAT(with(R"({"layout": {"tp": 2, "cp": 1, "ep": 4, "pp": 1, "dp": 1, "order": "tp-cp-ep-dp-pp"}})"),
              HasSubstr("p:2:23: error: "));
  EXPECT_THAT(with("{" + layout + R"(, "terms": [{"dim": "xp"}]})"),
              HasSubstr("error: dim is none of its words; expected tp, cp, ep, pp or dp"));
  EXPECT_THAT(with("{" + layout + R"(, "terms": [{"dim": "tp", "collective": "allreduce", "algorithm": "auto"}]})"),
              HasSubstr("error: algorithm is none of its words; expected ring, tree or hierarchical"));
  EXPECT_THAT(with("{" + layout + R"(, "bytes": 3})"),
              HasSubstr("error: unknown key \"bytes\"; expected layout, cross_rail, terms, direct"));
  EXPECT_THAT(with("{" + layout + R"(, "direct": [[0, 2, 5]]})"),
              HasSubstr("error: a flow from rank 0 to rank 2 of 2; expected two different ranks"));
  EXPECT_THAT(with("{" + layout + R"(, "direct": [[0, 1, 5], [0, 1, 5]]})"),
              HasSubstr("error: a flow out of order; expected flows ascending by (from, to), each pair once"));
  EXPECT_THAT(with("{" + layout + R"(, "direct": [[0, 1, 36028797018963969]]})"), HasSubstr("bytes a step"));
}

TEST(PlacementJson, TrafficMustFitThePlacement) {
  const auto say = [](const std::string& body) {
    const auto out = traffic_of(parse_placement(text(body, "p")).value());
    return out ? "accepted" : out.error().to_string();
  };
  const std::string of4 =
      R"("traffic": {"layout": {"tp": 2, "cp": 1, "ep": 1, "pp": 1, "dp": 2, "order": "tp-cp-ep-dp-pp"}})";
  EXPECT_EQ(say(R"({"weft": 1, "nodes": ["a", "b"], )" + of4 + "}"), "accepted");
  EXPECT_THAT(say(R"({"weft": 1, "nodes": ["a", "b", "c"], )" + of4 + "}"),
              HasSubstr("p:1:1: error: the traffic is of 4 ranks, the placement of 4 on 3 nodes; expected as many"));
  EXPECT_THAT(say(R"({"weft": 1, "nodes": ["a"], "ranks": [{"rank": 0, "node": "a", "gpu": 0}], )" + of4 + "}"),
              HasSubstr("the traffic is of 4 ranks, the placement of 1 on 1 nodes"));
  EXPECT_THAT(say("a\n"), HasSubstr("p:1:1: error: the placement does not say what its job moves"));
}

TEST(PlacementJson, Refusals) {
  EXPECT_EQ(refusal("{\"weft\": 1,\n \"nodes\": [\"a\", \"a\"]}"),
            "p:2:17: error: node a stands twice; expected each node once\n   \"nodes\": [\"a\", \"a\"]}\n"
            "                  ^^^");
  EXPECT_EQ(refusal("{\"weft\": 2, \"nodes\": [\"a\"]}"),
            "p:1:10: error: unknown format version; expected \"weft\": 1\n  {\"weft\": 2, \"nodes\": [\"a\"]}\n"
            "           ^");
  EXPECT_EQ(refusal("{\"weft\": 1, \"nodes\": [\"a\"],\n\"ranks\": [{\"rank\": 0, \"node\": \"b\", \"gpu\": 0}]}"),
            "p:2:11: error: node b of rank 0 is not among `nodes`\n"
            "  \"ranks\": [{\"rank\": 0, \"node\": \"b\", \"gpu\": 0}]}\n"
            "            ^^^^^^^^");
  EXPECT_EQ(refusal("{\"weft\": 1, \"nodes\": [\"a\"], \"rank\": 3}"),
            "p:1:37: error: unknown key \"rank\"; expected weft, job, fabric, nodes, ranks, traffic or score\n"
            "  {\"weft\": 1, \"nodes\": [\"a\"], \"rank\": 3}\n"
            "                                      ^");
  EXPECT_THAT(refusal("{\"weft\": 1,, }"), HasSubstr("p:1:12: error: not valid JSON: "));
  EXPECT_THAT(refusal("{\"weft\": 1, \"nodes\": []}"), HasSubstr("p:1:22: error: nodes is not a list of names"));
  EXPECT_THAT(refusal("{\"weft\": 1, \"nodes\": [\"a\"], \"ranks\": [{\"rank\": -1, \"node\": \"a\", \"gpu\": 0}]}"),
              HasSubstr("error: rank is not a whole number"));
}

TEST(ResolvePlacement, Refusals) {
  const auto f = fabric(rails4());
  const auto say = [&](const std::string& content, std::uint32_t per_node) {
    const auto doc = parse_placement(text(content, "p"));
    const auto out = resolve_placement(f, doc.value(), per_node);
    return out ? "accepted" : out.error().to_string();
  };
  EXPECT_EQ(say("x1\ny9\n", 2),
            "p:2:1: error: the fabric has no node \"y9\"; expected names of the fabric's nodes\n  y9\n  ^^");
  EXPECT_THAT(say("x1\n", 3), HasSubstr("p:1:1: error: node x1 has 2 GPUs, the job needs 3 a node"));
  EXPECT_THAT(say("{\"weft\": 1, \"nodes\": [\"x1\"], \"ranks\": [{\"rank\": 0, \"node\": \"x1\", \"gpu\": 2}]}", 1),
              HasSubstr("rank 0: x1 has no GPU 2; expected GPU 0 to 1"));
  EXPECT_THAT(say("{\"weft\": 1, \"nodes\": [\"x1\", \"x2\"], \"ranks\": [{\"rank\": 0, \"node\": \"x1\", \"gpu\": 1}, "
                  "{\"rank\": 1, \"node\": \"x1\", \"gpu\": 1}]}",
                  1),
              HasSubstr("rank 1: GPU 1 of x1 is taken already"));
}

TEST(ScoreJson, HasTheContractsKeysInOrderAndWholeNumbers) {
  const auto f = fabric(tree16());
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 4\nlayout: {dp: 4}\n"
                                  "traffic: {dp: {collective: allreduce, bytes: 8B}}\n"));
  const auto placed = ranks_in_order(f, nodes(f, {"n1", "n2", "n5", "n9"}), 1).value();
  EXPECT_EQ(
      write_score_json(f, score(f, placed, *c.traffic).value(), -1),
      R"({"tier_bytes":{"0":0,"1":12,"2":12,"3":24},"cross_spine_bytes":36,"hop_bytes":168,"hops":{"mean":3.5,"max":5},)"
      R"("rerouted_bytes":0,"spread":{"dp":{"nvlink":{"mean":4,"max":4},"leaf":{"mean":3,"max":3},"pod":{"mean":2,"max":2},)"
      R"("core":{"mean":1,"max":1}}},"fragmentation":{"before":{"nvlink":1,"leaf":4,"pod":8,"core":16},)"
      R"("after":{"nvlink":1,"leaf":4,"pod":7,"core":12}},"exposure":{"leaves":3,"pods":2,"planes":1,"nvlink_domains":4},)"
      R"("bounds":{"tier_bytes":{"3":0},"cross_spine_bytes":0,"hop_bytes":48,)"
      R"("spread":{"dp":{"nvlink":{"mean":4,"max":4},"leaf":{"mean":1,"max":1},"pod":{"mean":1,"max":1},)"
      R"("core":{"mean":1,"max":1}}}},"gap":{"tier_bytes":{"3":null},)"
      R"("cross_spine_bytes":null,"hop_bytes":2.5,"spread":{"dp":{"nvlink":{"mean":0,"max":0},"leaf":{"mean":2,"max":2},)"
      R"("pod":{"mean":1,"max":1},"core":{"mean":0,"max":0}}}}})");
}

TEST(JsonPlace, FindsValues) {
  const std::string json = R"({"a": [1, {"b": "x,]"}, 3], "c": {}, "a2": true})";
  EXPECT_EQ(json.substr(json_offset(json, {"a", std::size_t{1}, "b"}), 5), "\"x,]\"");
  EXPECT_EQ(json.substr(json_offset(json, {"a", std::size_t{2}}), 1), "3");
  EXPECT_EQ(json.substr(json_offset(json, {"c"}), 2), "{}");
  EXPECT_EQ(json.substr(json_offset(json, {"a2"}), 4), "true");
  EXPECT_EQ(json_element_offsets(json, {"a"}).size(), 3U);
  EXPECT_EQ(position_of("ab\ncd", 4), (Position{2, 2}));
}

}  // namespace
}  // namespace weft::placement
