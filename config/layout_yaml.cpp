// SPDX-License-Identifier: BSD-3-Clause
#include "layout_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "yaml_fields.hpp"

namespace weft::config {
namespace {

Result<void> read_order(const Document& doc, const Node& node, Layout& out) {
  const auto text = as_text(doc, node, "order");
  if (!text) return fail(text.error());
  const std::string expected = "each of tp, cp, ep, pp, dp once, innermost first, such as tp-cp-ep-dp-pp";
  std::vector<Dim> dims;
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t end = std::min(text->find('-', begin), text->size());
    const std::string_view word = std::string_view(*text).substr(begin, end - begin);
    const auto found = std::find(kDimWords.begin(), kDimWords.end(), word);
    if (found == kDimWords.end()) {
      return fail(doc.error_inside(ErrorCode::bad_value, node, begin, word.size(),
                                   fmt::format("order: \"{}\" is no dimension", word), expected));
    }
    const auto dim = static_cast<Dim>(found - kDimWords.begin());
    if (std::find(dims.begin(), dims.end(), dim) != dims.end()) {
      return fail(doc.error_inside(ErrorCode::duplicate, node, begin, word.size(),
                                   fmt::format("order names {} twice", word), expected));
    }
    dims.push_back(dim);
    begin = end + 1;
  }
  for (std::size_t i = 0; i < kDims; ++i) {
    const auto dim = static_cast<Dim>(i);
    if (std::find(dims.begin(), dims.end(), dim) != dims.end()) continue;
    if (dim != Dim::ep || out[Dim::ep] != 1) {
      return fail(doc.error(ErrorCode::missing, node, fmt::format("order does not name {}", kDimWords[i]), expected));
    }
    dims.insert(std::find(dims.begin(), dims.end(), Dim::dp), Dim::ep);  // of size 1: its usual place
  }
  std::copy(dims.begin(), dims.end(), out.order.begin());
  return {};
}

}  // namespace

Result<Layout> read_layout(const Document& doc, const Node& node, std::string_view what) {
  Fields fields(doc, node, what, {"tp", "cp", "ep", "pp", "dp", "order"});
  Layout layout;
  for (std::size_t i = 0; i < kDims; ++i) fields.read_unsigned(kDimWords[i], layout.size[i], 1, kMaxRanks);
  if (const Node* order = fields.find("order")) {
    if (Result<void> read = read_order(doc, *order, layout); !read) fields.set_fault(std::move(read.error()));
  }
  if (!fields.ok()) return fail(fields.done().error());
  std::uint64_t ranks = 1;
  for (const Dim dim : {Dim::tp, Dim::cp, Dim::pp, Dim::dp}) {
    ranks *= layout[dim];  // both at most 2^24
    if (ranks > kMaxRanks)
      return fail(doc.error(ErrorCode::limit, node, fmt::format("a layout of more than {} ranks", kMaxRanks), {}));
  }
  return layout;
}

}  // namespace weft::config
