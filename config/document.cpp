// SPDX-License-Identifier: BSD-3-Clause
//
// From yaml-cpp's events to Node. Events, not YAML::Node: they carry the place of keys, keep file order, say what was
// quoted, and expand nothing on their own.
#include "weft/config/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>

#include "yaml_fault.hpp"

namespace weft::config {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

// Carries an Error out of yaml-cpp, whose callbacks have no other way to stop. Never leaves this file.
struct Stop {
  Error error;
};

// A read-only stream over text that outlives it; std::istringstream would copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // never written: only get-area functions are used
    setg(begin, begin, begin + text.size());
  }
};

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const Source& source) : source_(source), bom_(source->text().starts_with(kBom) ? kBom.size() : 0) {}

  [[nodiscard]] Position position(const YAML::Mark& mark) const {
    if (mark.is_null()) return {};
    // yaml-cpp counts from 0 and does not count a byte order mark.
    const std::uint32_t skipped = mark.line == 0 ? static_cast<std::uint32_t>(bom_) : 0;
    return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1 + skipped};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    const Position at = position(mark);
    if (source_->line(at.line).starts_with("---")) {
      stop(ErrorCode::unsupported, at, "a second YAML document begins", "one document a file", 3);
    }
    stop(ErrorCode::syntax, at, "this does not belong to what stands above", "one map or list at the left margin");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    Node node;
    node.at = position(mark);
    add(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(ErrorCode::unsupported, position(mark), "a YAML alias is not taken here", "the value written out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag, {"str", "int", "float", "bool", "null"});
    Node node;
    node.kind = Node::Kind::scalar;
    node.at = position(mark);
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (const std::size_t byte = static_cast<std::size_t>(std::max(0, mark.pos)) + bom_;
        byte < source_->text().size()) {
      const char c = source_->text()[byte];
      if (node.quoted && (c == '"' || c == '\'')) node.quote = c;
    }
    node.text = value;
    last_scalar_ = node.at;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "map", anchor, Node::Kind::mapping);
  }
  void OnMapEnd() override {
    refuse_duplicates(open_.back().node);
    close();
  }

  Node take_root() { return std::move(root_); }
  [[nodiscard]] Position last_scalar() const { return last_scalar_; }
  [[nodiscard]] std::size_t documents() const { return documents_; }

 private:
  struct Open {
    Node node;
    bool want_key = false;  // of a mapping: the next value is a key
  };

  [[noreturn]] void stop(ErrorCode code, Position at, std::string message, std::string expected,
                         std::uint32_t width = 1) const {
    throw Stop{error_at(code, source_, at, width, std::move(message), std::move(expected))};
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor == 0) return;
    stop(ErrorCode::unsupported, position(mark), "a YAML anchor is not taken here", "the value written out");
  }
  void refuse_tag(const YAML::Mark& mark, std::string_view tag, std::initializer_list<std::string_view> core) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag.starts_with(kCoreTag)) {
      for (const std::string_view word : core) {
        if (tag.substr(kCoreTag.size()) == word) return;
      }
    }
    stop(ErrorCode::unsupported, position(mark), fmt::format("the YAML tag \"{}\" is not taken here", tag),
         "the value without a tag");
  }
  void open(const YAML::Mark& mark, std::string_view tag, std::string_view core, YAML::anchor_t anchor,
            Node::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag, {core});
    const Position at = position(mark);
    if (open_.size() >= kMaxYamlDepth) {
      stop(ErrorCode::limit, at, fmt::format("nested more than {} deep", kMaxYamlDepth), {});
    }
    if (!open_.empty() && open_.back().want_key) {
      if (std::optional<Error> e = find_unclosed(source_)) throw Stop{*std::move(e)};
      stop(ErrorCode::unsupported, at, "a list or map stands as a key", "a word");
    }
    Open next;
    next.node.kind = kind;
    next.node.at = at;
    next.want_key = kind == Node::Kind::mapping;
    open_.push_back(std::move(next));
  }
  void close() {
    Node done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }
  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.want_key) {
      if (!node.is_scalar()) stop(ErrorCode::syntax, node.at, "an empty key", "a word before the colon");
      parent.node.entries.push_back({std::move(node.text), node.at, {}});
      parent.want_key = false;
    } else {
      parent.node.entries.back().value = std::move(node);
      parent.want_key = true;
    }
  }
  void refuse_duplicates(const Node& map) const {
    std::vector<std::size_t> order(map.entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const int by_key = map.entries[a].key.compare(map.entries[b].key);
      return by_key != 0 ? by_key < 0 : a < b;
    });
    std::optional<std::size_t> second;  // the first repetition in file order
    std::size_t first = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (map.entries[order[i]].key != map.entries[order[i - 1]].key) continue;
      if (second && *second < order[i]) continue;
      second = order[i];
      first = order[i - 1];
    }
    if (!second) return;
    const Node::Entry& entry = map.entries[*second];
    stop(ErrorCode::duplicate, entry.at,
         fmt::format("the key \"{}\" stands here twice, first on line {}", entry.key, map.entries[first].at.line), {},
         static_cast<std::uint32_t>(entry.key.size()));
  }

  const Source& source_;
  std::size_t bom_;
  std::size_t documents_ = 0;
  Position last_scalar_;
  std::vector<Open> open_;
  Node root_;
};

}  // namespace

Result<Document> parse_yaml(const Source& source) {
  if (std::optional<Error> e = find_byte_fault(source)) return fail(*std::move(e));
  Builder builder(source);
  try {
    ViewBuffer buffer(source->text());
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (Stop& stop) {
    return fail(std::move(stop.error));
  } catch (const YAML::Exception& e) {
    return fail(explain_yaml_fault(source, builder.position(e.mark), e.msg));
  } catch (const std::exception& e) {
    return fail(error_at(ErrorCode::syntax, source, {}, 1, fmt::format("not readable as YAML ({})", e.what())));
  }
  if (std::optional<Error> e = find_open_quote(source, builder.last_scalar())) return fail(*std::move(e));
  Document out;
  out.source = source;
  out.root = builder.take_root();
  if (builder.documents() == 0) out.root.at = {1, 1};
  return out;
}

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

}  // namespace weft::config
