// SPDX-License-Identifier: BSD-3-Clause
#include "io_traffic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "json_place.hpp"

namespace weft::placement {
namespace {

using config::Algorithm;
using config::Collective;
using config::Dim;
using nlohmann::json;
using Path = std::vector<JsonStep>;

constexpr std::array kAllDims{Dim::tp, Dim::cp, Dim::ep, Dim::pp, Dim::dp};
constexpr std::array kCollectives{Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
                                  Collective::broadcast, Collective::alltoall,       Collective::neighbour};
constexpr std::array kAlgorithms{Algorithm::ring, Algorithm::tree, Algorithm::hierarchical};
constexpr std::array kCrossRails{config::CrossRail::pxn, config::CrossRail::fabric};

std::string_view to_string(config::CrossRail cross_rail) {
  return cross_rail == config::CrossRail::pxn ? "pxn" : "fabric";
}
using config::to_string;

template <typename Word, std::size_t N>
std::string list(const std::array<Word, N>& words) {
  std::string out;
  for (std::size_t i = 0; i < N; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == N ? " or " : ", ", to_string(words[i]));
  return out;
}

class Reader {
 public:
  Reader(const Source& source, const json& value) : source_(source), value_(value) {}

  Result<TrafficDoc> run() {
    if (auto e = check_object({"traffic"}, value_, {"layout", "cross_rail", "terms", "direct"}))
      return fail(std::move(*e));
    if (auto e = read_layout()) return fail(std::move(*e));
    if (value_.contains("cross_rail")) {
      out_.cross_rail.emplace();
      if (auto e = word(value_, {"traffic"}, "cross_rail", kCrossRails, *out_.cross_rail)) return fail(std::move(*e));
    }
    if (value_.contains("terms"))
      if (auto e = read_terms()) return fail(std::move(*e));
    if (value_.contains("direct"))
      if (auto e = read_direct()) return fail(std::move(*e));
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error at(const Path& path, ErrorCode code, std::string message, std::string expected = {}) const {
    const Position where = position_of(source_->text(), json_offset(source_->text(), path));
    return error_at(code, source_, where, 1, std::move(message), std::move(expected));
  }

  [[nodiscard]] std::optional<Error> check_object(const Path& path, const json& value,
                                                  std::initializer_list<std::string_view> keys) const {
    if (!value.is_object())
      return at(path, ErrorCode::bad_value, "this is no object", fmt::format("an object of {}", fmt::join(keys, ", ")));
    for (const auto& [key, ignored] : value.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        return at(path, ErrorCode::unknown_key, fmt::format("unknown key \"{}\"", key),
                  fmt::format("{}", fmt::join(keys, ", ")));
    return std::nullopt;
  }

  // A whole number of at most `most`.
  [[nodiscard]] std::optional<Error> number(const json& map, Path path, const char* key, std::uint64_t least,
                                            std::uint64_t most, std::uint64_t& out) const {
    if (!map.contains(key)) return at(path, ErrorCode::missing, fmt::format("\"{}\" is missing", key));
    path.emplace_back(std::string_view(key));
    const json& value = map[key];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most)
      return at(path, ErrorCode::bad_value, fmt::format("{} is no such number", key),
                fmt::format("{} to {}", least, most));
    out = value.get<std::uint64_t>();
    return std::nullopt;
  }

  template <typename Word, std::size_t N>
  [[nodiscard]] std::optional<Error> word(const json& map, Path path, const char* key, const std::array<Word, N>& words,
                                          Word& out) const {
    if (!map.contains(key)) return at(path, ErrorCode::missing, fmt::format("\"{}\" is missing", key), list(words));
    path.emplace_back(std::string_view(key));
    for (const Word each : words)
      if (map[key].is_string() && map[key].get_ref<const std::string&>() == to_string(each)) {
        out = each;
        return std::nullopt;
      }
    return at(path, ErrorCode::bad_value, fmt::format("{} is none of its words", key), list(words));
  }

  std::optional<Error> read_layout() {
    const Path here{"traffic", "layout"};
    if (!value_.contains("layout")) return at({"traffic"}, ErrorCode::missing, "\"layout\" is missing");
    const json& layout = value_["layout"];
    if (auto e = check_object(here, layout, {"tp", "cp", "ep", "pp", "dp", "order"})) return e;
    for (const Dim d : kAllDims) {
      std::uint64_t size = 1;
      const std::string key(to_string(d));
      if (auto e = number(layout, here, key.c_str(), 1, kMaxRanks, size)) return e;
      out_.layout[d] = static_cast<std::uint32_t>(size);
    }
    if (auto e = read_order(layout)) return e;
    const auto ok = check_layout(out_.layout);
    return ok ? std::nullopt : std::optional(at(here, ok.error().code, ok.error().message, ok.error().expected));
  }

  std::optional<Error> read_order(const json& layout) {
    const std::string text =
        layout.contains("order") && layout["order"].is_string() ? layout["order"].get<std::string>() : "";
    // Every permutation of five words is 14 bytes long: two a word, and the dashes.
    std::size_t seen = 0;
    for (std::size_t i = 0; i < kAllDims.size() && text.size() == 14; ++i)
      for (const Dim d : kAllDims)
        if (text.substr(3 * i, 2) == to_string(d) && (i == 0 || text[3 * i - 1] == '-')) {
          out_.layout.order[i] = d;
          seen |= std::size_t{1} << static_cast<std::size_t>(d);
        }
    if (seen == 31) return std::nullopt;
    return at({"traffic", "layout", "order"}, ErrorCode::bad_value, "order does not name each dimension once",
              "tp-cp-ep-dp-pp, or another order of these");
  }

  std::optional<Error> read_terms() {
    const json& terms = value_["terms"];
    if (!terms.is_array()) return at({"traffic", "terms"}, ErrorCode::bad_value, "terms is no list");
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Path here{"traffic", "terms", i};
      if (auto e = check_object(here, terms[i], {"dim", "collective", "algorithm", "bytes"})) return e;
      config::TrafficTerm term;
      if (auto e = word(terms[i], here, "dim", kAllDims, term.dim)) return e;
      if (auto e = word(terms[i], here, "collective", kCollectives, term.collective)) return e;
      if (auto e = word(terms[i], here, "algorithm", kAlgorithms, term.algorithm)) return e;
      if (auto e = number(terms[i], here, "bytes", 0, kMaxStepBytes, term.bytes.value)) return e;
      out_.terms.push_back(term);
    }
    return std::nullopt;
  }

  std::optional<Error> read_direct() {
    const json& flows = value_["direct"];
    const std::uint64_t ranks = out_.layout.ranks();
    if (!flows.is_array()) return at({"traffic", "direct"}, ErrorCode::bad_value, "direct is no list");
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const json& f = flows[i];
      const Path here{"traffic", "direct", i};
      const bool whole = f.is_array() && f.size() == 3 && f[0].is_number_unsigned() && f[1].is_number_unsigned() &&
                         f[2].is_number_unsigned();
      if (!whole) return at(here, ErrorCode::bad_value, "this is no flow", "[rank, rank, bytes]");
      const std::uint64_t from = f[0].get<std::uint64_t>();
      const std::uint64_t to = f[1].get<std::uint64_t>();
      const std::uint64_t bytes = f[2].get<std::uint64_t>();
      if (from >= ranks || to >= ranks || from == to)
        return at(here, ErrorCode::bad_value, fmt::format("a flow from rank {} to rank {} of {}", from, to, ranks),
                  "two different ranks");
      if (bytes > kMaxStepBytes - total)
        return at(here, ErrorCode::limit, fmt::format("more than {} bytes a step", kMaxStepBytes));
      total += bytes;
      const RankFlow flow{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), bytes};
      if (!out_.direct.empty() &&
          std::pair(flow.from, flow.to) <= std::pair(out_.direct.back().from, out_.direct.back().to))
        return at(here, ErrorCode::bad_value, "a flow out of order", "flows ascending by (from, to), each pair once");
      out_.direct.push_back(flow);
    }
    return std::nullopt;
  }

  const Source& source_;
  const json& value_;
  TrafficDoc out_;
};

}  // namespace

Result<TrafficDoc> read_traffic_json(const Source& source, const json& value) { return Reader(source, value).run(); }

std::string write_traffic_object(const TrafficDoc& traffic) {
  std::string out = "{\"layout\": {";
  for (const Dim d : kAllDims) out += fmt::format("\"{}\": {}, ", to_string(d), traffic.layout[d]);
  std::vector<std::string_view> order;
  for (const Dim d : traffic.layout.order) order.push_back(to_string(d));
  out += fmt::format("\"order\": \"{}\"}}", fmt::join(order, "-"));
  if (traffic.cross_rail) out += fmt::format(", \"cross_rail\": \"{}\"", to_string(*traffic.cross_rail));
  if (!traffic.terms.empty()) out += ",\n    \"terms\": [";
  for (std::size_t i = 0; i < traffic.terms.size(); ++i) {
    const config::TrafficTerm& t = traffic.terms[i];
    out += fmt::format("{}\n      {{\"dim\": \"{}\", \"collective\": \"{}\", \"algorithm\": \"{}\", \"bytes\": {}}}",
                       i == 0 ? "" : ",", to_string(t.dim), to_string(t.collective), to_string(t.algorithm),
                       t.bytes.value);
  }
  if (!traffic.terms.empty()) out += "]";
  if (traffic.direct.empty()) return out + "}";
  out += ",\n    \"direct\": [";
  for (std::size_t i = 0; i < traffic.direct.size(); ++i) {
    const RankFlow& f = traffic.direct[i];
    const bool fresh = i == 0 || traffic.direct[i - 1].from != f.from;
    out += fmt::format("{}{}[{}, {}, {}]", i == 0 ? "" : ",", fresh ? "\n      " : " ", f.from, f.to, f.bytes);
  }
  return out + "]}";
}

bool operator==(const TrafficDoc& a, const TrafficDoc& b) {
  const auto same = [](const config::TrafficTerm& x, const config::TrafficTerm& y) {
    return x.dim == y.dim && x.collective == y.collective && x.algorithm == y.algorithm && x.bytes == y.bytes;
  };
  return a.layout.size == b.layout.size && a.layout.order == b.layout.order && a.cross_rail == b.cross_rail &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), same) && a.direct == b.direct;
}

TrafficDoc to_doc(const Traffic& traffic) {
  TrafficDoc out;
  out.layout = traffic.layout();
  out.cross_rail = traffic.cross_rail;
  for (const TrafficTermFlows& t : traffic.terms) {
    out.terms.push_back(t.term);
    out.terms.back().algorithm = t.algorithm;
  }
  out.direct = traffic.direct;
  return out;
}

Result<Traffic> traffic_of(const PlacementDoc& doc) {
  if (!doc.traffic)
    return fail(error_at(ErrorCode::missing, doc.source, {1, 1}, 1, "the placement does not say what its job moves",
                         "a placement.json with \"traffic\", as weft place writes it"));
  config::JobSpec job;
  job.name = doc.job;
  job.nodes = static_cast<std::uint32_t>(doc.nodes.size());
  job.traffic = doc.traffic->terms;
  job.cross_rail = doc.traffic->cross_rail;
  job.source = doc.source;
  const std::uint64_t ranks = doc.traffic->layout.ranks();
  const std::uint64_t listed = doc.ranks.empty() ? ranks : doc.ranks.size();
  if (listed != ranks || ranks % job.nodes != 0)
    return fail(
        error_at(ErrorCode::conflict, doc.source, {1, 1}, 1,
                 fmt::format("the traffic is of {} ranks, the placement of {} on {} nodes", ranks, listed, job.nodes),
                 "as many ranks in both, evenly on the nodes"));
  auto traffic = build_traffic(job, doc.traffic->layout);
  if (!traffic) return fail(traffic.error());
  traffic->direct = doc.traffic->direct;
  return traffic;
}

}  // namespace weft::placement
