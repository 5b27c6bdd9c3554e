// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "io_traffic.hpp"
#include "json_place.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using nlohmann::json;
using Path = std::vector<JsonStep>;

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source) { out_.source = source; }

  Result<PlacementDoc> read() {
    json root;
    try {
      root = json::parse(source_->text());
    } catch (const json::exception& e) {
      return fail(syntax_error(e));
    }
    if (!root.is_object()) return at({}, ErrorCode::bad_value, "a placement is not a JSON object", "{\"weft\": 1, …}");
    if (auto ok = read_head(root); !ok) return fail(ok.error());
    if (auto ok = read_nodes(root); !ok) return fail(ok.error());
    if (root.contains("ranks"))
      if (auto ok = read_ranks(root["ranks"]); !ok) return fail(ok.error());
    if (root.contains("traffic")) {
      auto traffic = read_traffic_json(source_, root["traffic"]);
      if (!traffic) return fail(traffic.error());
      out_.traffic = std::move(*traffic);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> at_offset(std::size_t offset, ErrorCode code, std::string message,
                                                std::string expected = {}) const {
    const Position where = position_of(source_->text(), offset);
    const std::string_view rest =
        source_->line(where.line).substr(std::min<std::size_t>(where.column - 1, source_->line(where.line).size()));
    std::size_t width = rest.find_first_of(",}] \t");
    if (!rest.empty() && rest.front() == '"') {
      const std::size_t close = rest.find('"', 1);
      width = close == std::string_view::npos ? close : close + 1;
    }
    if (width == std::string_view::npos) width = rest.size();
    return fail(
        error_at(code, source_, where, static_cast<std::uint32_t>(width), std::move(message), std::move(expected)));
  }
  [[nodiscard]] tl::unexpected<Error> at(const Path& path, ErrorCode code, std::string message,
                                         std::string expected = {}) const {
    return at_offset(json_offset(source_->text(), path), code, std::move(message), std::move(expected));
  }

  [[nodiscard]] Error syntax_error(const json::exception& e) const {
    const auto* parse = dynamic_cast<const json::parse_error*>(&e);
    const std::size_t byte = parse != nullptr && parse->byte > 0 ? parse->byte - 1 : 0;
    // The library's text: "[json.exception.parse_error.101] parse error at line 1, column 2: <reason>".
    const std::string_view what = e.what();
    const std::size_t reason = what.rfind(" - ");
    std::string message(reason == std::string_view::npos ? what : what.substr(reason + 3));
    const std::size_t last_read = message.find("; last read");
    if (last_read != std::string::npos) message.resize(last_read);
    return error_at(ErrorCode::syntax, source_, position_of(source_->text(), byte), 1, "not valid JSON: " + message);
  }

  Result<void> read_head(const json& root) {
    for (const auto& [key, value] : root.items())
      if (key != "weft" && key != "job" && key != "fabric" && key != "nodes" && key != "ranks" && key != "traffic" &&
          key != "score")
        return at({std::string_view(key)}, ErrorCode::unknown_key, fmt::format("unknown key \"{}\"", key),
                  "weft, job, fabric, nodes, ranks, traffic or score");
    if (!root.contains("weft")) return at({}, ErrorCode::missing, "\"weft\" is missing", "\"weft\": 1");
    if (root["weft"] != json(1)) return at({"weft"}, ErrorCode::bad_value, "unknown format version", "\"weft\": 1");
    for (const auto& [key, target] : {std::pair("job", &out_.job), std::pair("fabric", &out_.fabric)}) {
      if (!root.contains(key) || root[key].is_null()) continue;
      if (!root[key].is_string())
        return at({std::string_view(key)}, ErrorCode::bad_value, fmt::format("{} is not a name", key), "a string");
      *target = root[key].get<std::string>();
    }
    return {};
  }

  Result<void> read_nodes(const json& root) {
    if (!root.contains("nodes")) return at({}, ErrorCode::missing, "\"nodes\" is missing", "node names in rank order");
    const json& nodes = root["nodes"];
    if (!nodes.is_array() || nodes.empty())
      return at({"nodes"}, ErrorCode::bad_value, "nodes is not a list of names", "node names in rank order");
    const auto offsets = json_element_offsets(source_->text(), {"nodes"});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t offset = i < offsets.size() ? offsets[i] : 0;
      if (!nodes[i].is_string()) return at_offset(offset, ErrorCode::bad_value, "a node is not a name", "a string");
      std::string name = nodes[i].get<std::string>();
      if (!config::is_valid_name(name))
        return at_offset(offset, ErrorCode::bad_name, fmt::format("\"{}\" is no node name", name), "one node's name");
      if (!index_.emplace(name, static_cast<std::uint32_t>(i)).second)
        return at_offset(offset, ErrorCode::duplicate, fmt::format("node {} stands twice", name), "each node once");
      out_.nodes.push_back({std::move(name), position_of_near(offset)});
    }
    return {};
  }

  Result<void> read_ranks(const json& ranks) {
    if (!ranks.is_array())
      return at({"ranks"}, ErrorCode::bad_value, "ranks is not a list",
                "[{\"rank\": 0, \"node\": name, \"gpu\": 0, \"nic\": 0}, …]");
    if (ranks.size() > kMaxRanks) return at({"ranks"}, ErrorCode::limit, fmt::format("more than {} ranks", kMaxRanks));
    const auto offsets = json_element_offsets(source_->text(), {"ranks"});
    out_.ranks.resize(ranks.size());
    std::vector<bool> seen(ranks.size(), false);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (auto ok = read_rank(ranks[i], i < offsets.size() ? offsets[i] : 0, seen); !ok) return ok;
    return {};
  }

  Result<void> read_rank(const json& entry, std::size_t offset, std::vector<bool>& seen) {
    if (!entry.is_object())
      return at_offset(offset, ErrorCode::bad_value, "a rank is not an object",
                       "{\"rank\": 0, \"node\": name, \"gpu\": 0, \"nic\": 0}");
    for (const auto& [key, value] : entry.items())
      if (key != "rank" && key != "node" && key != "gpu" && key != "nic")
        return at_offset(offset, ErrorCode::unknown_key, fmt::format("unknown key \"{}\" of a rank", key),
                         "rank, node, gpu or nic");
    const auto rank = number(entry, "rank", offset);
    if (!rank) return fail(rank.error());
    const auto gpu = number(entry, "gpu", offset);
    if (!gpu) return fail(gpu.error());
    if (*rank >= seen.size())
      return at_offset(offset, ErrorCode::bad_value, fmt::format("rank {} of {} ranks", *rank, seen.size()),
                       "each rank from 0 on once");
    if (seen[*rank])
      return at_offset(offset, ErrorCode::duplicate, fmt::format("rank {} stands twice", *rank), "each rank once");
    seen[*rank] = true;
    if (!entry.contains("node") || !entry["node"].is_string())
      return at_offset(offset, ErrorCode::missing, fmt::format("rank {} has no node", *rank), "\"node\": name");
    const auto node = index_.find(entry["node"].get<std::string>());
    if (node == index_.end())
      return at_offset(offset, ErrorCode::dangling,
                       fmt::format("node {} of rank {} is not among `nodes`", entry["node"].get<std::string>(), *rank));
    RankDoc& out = out_.ranks[*rank];
    out.node = node->second;
    out.gpu = *gpu;
    if (entry.contains("nic")) {
      const auto nic = number(entry, "nic", offset);
      if (!nic) return fail(nic.error());
      out.nic = *nic;
    }
    out.at = position_of_near(offset);
    return {};
  }

  Result<std::uint32_t> number(const json& entry, const char* key, std::size_t offset) const {
    if (!entry.contains(key))
      return at_offset(offset, ErrorCode::missing, fmt::format("a rank has no \"{}\"", key),
                       fmt::format("\"{}\": a whole number", key));
    const json& value = entry[key];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      return at_offset(offset, ErrorCode::bad_value, fmt::format("{} is not a whole number", key), "0 or more");
    return value.get<std::uint32_t>();
  }

  // position_of, but counting on from the last call: ranks come in text order, and there may be 100,000 of them.
  Position position_of_near(std::size_t offset) {
    const std::string_view text = source_->text();
    if (offset < near_offset_) return position_of(text, offset);
    for (std::size_t i = near_offset_; i < offset && i < text.size(); ++i) {
      if (text[i] != '\n') continue;
      ++near_line_;
      near_start_ = i + 1;
    }
    near_offset_ = offset;
    return {near_line_, static_cast<std::uint32_t>(offset - near_start_ + 1)};
  }

  Source source_;
  PlacementDoc out_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::size_t near_offset_ = 0;
  std::size_t near_start_ = 0;
  std::uint32_t near_line_ = 1;
};

}  // namespace

Result<PlacementDoc> parse_placement_json(const Source& source) { return Reader(source).read(); }

Result<PlacementDoc> parse_placement(const Source& source) {
  const std::string_view text = source->text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return parse_placement_json(source);
  return parse_hostfile(source);
}

}  // namespace weft::placement
