// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm's JSON of nodes, whichever data_parser version wrote it: `state` is a word or a list of words, and from 23.02
// on its flags stand in the list; before, they are `state_flags`.
#include "slurm_state_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "json_place.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::placement {
namespace {

using nlohmann::json;

class JsonReader {
 public:
  explicit JsonReader(const Source& source) : source_(source) {}

  Result<SlurmState> read() {
    json root;
    try {
      root = json::parse(source_->text());
    } catch (const json::exception& e) {
      const auto* parse = dynamic_cast<const json::parse_error*>(&e);
      const std::size_t byte = parse != nullptr && parse->byte > 0 ? parse->byte - 1 : 0;
      return fail(error_at(ErrorCode::syntax, source_, position_of(source_->text(), byte), 1, "not valid JSON",
                           "the whole output of `scontrol show nodes --json`; is it cut off?"));
    }
    if (!root.is_object() || !root.contains("nodes") || !root["nodes"].is_array()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no list \"nodes\" in it",
                           "the output of `scontrol show nodes --json`"));
    }
    const json& nodes = root["nodes"];
    offsets_ = json_element_offsets(source_->text(), {std::string_view("nodes")});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (auto ok = read_node(nodes[i], i); !ok) return fail(std::move(ok.error()));
    }
    if (out_.nodes.empty()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no node in it",
                           "the output of `scontrol show nodes --json`"));
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] Position place(std::size_t index) const {
    return position_of(source_->text(), index < offsets_.size() ? offsets_[index] : 0);
  }

  tl::unexpected<Error> bad(std::size_t index, std::string message, std::string expected) const {
    return fail(error_at(ErrorCode::bad_value, source_, place(index), 1, std::move(message), std::move(expected)));
  }

  static std::string text_of(const json& node, const char* key) {
    const auto it = node.find(key);
    return it != node.end() && it->is_string() ? it->get<std::string>() : std::string();
  }

  static void add_words(const json& node, const char* key, std::string& state) {
    const auto it = node.find(key);
    if (it == node.end()) return;
    const auto add = [&](const json& word) {
      if (word.is_string() && !word.get_ref<const std::string&>().empty()) {
        state += (state.empty() ? "" : "+") + word.get_ref<const std::string&>();
      }
    };
    if (it->is_array()) {
      for (const json& word : *it) add(word);
    } else {
      add(*it);
    }
  }

  Result<void> read_node(const json& in, std::size_t index) {
    if (!in.is_object()) return bad(index, "a node is not a JSON object", "an object with name and state");
    SlurmNode node;
    node.at = place(index);
    node.name = text_of(in, "name");
    if (!config::is_valid_name(node.name)) return bad(index, "a node without a name", "\"name\": \"gpu01\"");
    std::string state;
    add_words(in, "state", state);
    add_words(in, "state_flags", state);
    if (state.empty()) return bad(index, fmt::format("node {} has no state", node.name), "\"state\": [\"IDLE\"]");
    set_slurm_state(node, state);
    const std::string gres = text_of(in, "gres");
    const std::string used = text_of(in, "gres_used");
    if (!set_slurm_gpus(node, gres))
      return bad(index, fmt::format("gres of node {} is \"{}\"", node.name, gres.substr(0, 60)), "gpu:8");
    if (!set_slurm_tres(node, text_of(in, "tres_used"))) {
      return bad(index, fmt::format("tres_used of node {} has no number of GPUs", node.name), "gres/gpu=4");
    }
    if (!used.empty() && used != "N/A" && !set_slurm_used(node, used)) {
      return bad(index, fmt::format("gres_used of node {} is \"{}\"", node.name, used.substr(0, 60)), "gpu:4(IDX:0-3)");
    }
    out_.nodes.push_back(std::move(node));
    return {};
  }

  const Source& source_;
  std::vector<std::size_t> offsets_;
  SlurmState out_;
};

}  // namespace

Result<SlurmState> parse_slurm_state_json(const Source& source) { return JsonReader(source).read(); }

}  // namespace weft::placement
