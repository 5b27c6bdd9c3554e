// SPDX-License-Identifier: BSD-3-Clause
//
// fabric.yaml into FabricSpec.
#include <fmt/format.h>

#include <array>

#include "weft/config/hostlist.hpp"
#include "yaml_fields.hpp"

namespace weft::config {
namespace {

// Far beyond any machine, and small enough that a typing slip cannot exhaust memory.
constexpr std::uint64_t kMaxPerNode = 1024;
constexpr std::uint64_t kMaxTier = 64;
constexpr std::uint64_t kMaxCables = 65535;
constexpr std::uint64_t kMaxWeight = 0xFFFFFFFF;

constexpr std::array<std::string_view, 4> kPatterns{"all", "zip", "split", "rail"};  // in the order of LinkPattern

void read_nvlink(Fields& type, NodeTypeSpec& out) {
  const Node* node = type.find("nvlink");
  if (node == nullptr) return;
  const Document& doc = type.doc();
  Fields fields(doc, *node, "nvlink", {"domain", "bandwidth"});
  if (const Node* domain = fields.find("domain")) {
    constexpr std::array<std::string_view, 2> kScopes{"node", "none"};
    std::size_t word = 0;
    fields.take(as_choice(doc, *domain, "domain", kScopes), word);
    out.nvlink = word == 0 ? NvlinkScope::node : NvlinkScope::none;
  }
  fields.read_bandwidth("bandwidth", out.nvlink_bandwidth);
  if (!fields.ok()) {
    type.set_fault(fields.done().error());
  } else if (out.nvlink == NvlinkScope::none && out.nvlink_bandwidth) {
    type.set_fault(doc.error(ErrorCode::conflict, *node->find("bandwidth"),
                             "a bandwidth of an NVLink that is not there", "\"domain: node\", or no bandwidth"));
  }
}

void read_nic_of_gpu(Fields& type, NodeTypeSpec& out) {
  const Node* node = type.find("nic_of_gpu");
  if (node == nullptr) return;
  const Document& doc = type.doc();
  if (!node->is_sequence()) {
    type.set_fault(doc.error(ErrorCode::bad_value, *node, fmt::format("nic_of_gpu is {}", describe(*node)),
                             "a list with a NIC for each GPU"));
    return;
  }
  if (out.hwloc) {
    type.set_fault(doc.error(ErrorCode::conflict, *node, "nic_of_gpu beside hwloc, which gives it too", "one of them"));
    return;
  }
  if (node->items.size() != out.gpus) {
    type.set_fault(doc.error(ErrorCode::conflict, *node,
                             fmt::format("nic_of_gpu has {} entries for {} GPUs", node->items.size(), out.gpus),
                             "one entry a GPU"));
    return;
  }
  for (const Node& item : node->items) {
    if (out.nics == 0) {
      type.set_fault(doc.error(ErrorCode::conflict, item, "nic_of_gpu in a node type without NICs", {}));
      return;
    }
    std::uint32_t nic = 0;
    type.take(as_unsigned(doc, item, "an entry of nic_of_gpu", 0, out.nics - 1), nic);
    if (!type.ok()) return;
    out.nic_of_gpu.push_back(nic);
  }
}

void read_hwloc_nics(Fields& type, NodeTypeSpec& out) {
  const Node* node = type.find("hwloc_nics");
  if (node == nullptr || !type.ok()) return;
  const Document& doc = type.doc();
  const auto wrong = [&](const Node& at, ErrorCode code, std::string message, std::string expected) {
    type.set_fault(doc.error(code, at, std::move(message), std::move(expected)));
  };
  if (!out.hwloc) return wrong(*node, ErrorCode::conflict, "hwloc_nics without hwloc", "the file that has these NICs");
  if (!node->is_sequence() || node->items.empty())
    return wrong(*node, ErrorCode::bad_value, fmt::format("hwloc_nics is {}", describe(*node)), "[mlx5_0, mlx5_1]");
  for (const Node& item : node->items) {
    Text name;
    type.take(as_text(doc, item, "an entry of hwloc_nics"), name.value);
    if (!type.ok()) return;
    name.at = Document::text_at(item);
    for (const Text& other : out.hwloc_nics) {
      if (other.value == name.value)
        return wrong(item, ErrorCode::duplicate, fmt::format("'{}' is there twice", name.value), "each NIC once");
    }
    out.hwloc_nics.push_back(std::move(name));
  }
  if (out.nics == 0) out.nics = static_cast<std::uint32_t>(out.hwloc_nics.size());
  if (out.nics == out.hwloc_nics.size()) return;
  wrong(*node, ErrorCode::conflict,
        fmt::format("hwloc_nics has {} entries for {} NICs", out.hwloc_nics.size(), out.nics), "one entry a NIC");
}

Result<NodeTypeSpec> read_node_type(const Document& doc, const Node::Entry& entry) {
  NodeTypeSpec out;
  if (entry.key.empty()) return fail(doc.error_key(ErrorCode::bad_name, entry, "a node type without a name", "a name"));
  out.name = {entry.key, entry.at};
  Fields fields(doc, entry.value, "a node type", {"gpus", "nics", "nic_of_gpu", "nvlink", "hwloc", "hwloc_nics"});
  fields.read_text("hwloc", out.hwloc);
  if (!out.hwloc && fields.ok()) static_cast<void>(fields.need("gpus", "8"));
  fields.read_unsigned("gpus", out.gpus, 0, kMaxPerNode);
  out.nics = out.hwloc ? 0 : out.gpus;  // what is not said, the file says
  fields.read_unsigned("nics", out.nics, 0, kMaxPerNode);
  read_nic_of_gpu(fields, out);
  read_hwloc_nics(fields, out);
  read_nvlink(fields, out);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

Result<SwitchSpec> read_switch(const Document& doc, const Node& node) {
  SwitchSpec out;
  Fields fields(doc, node, "a switch", {"name", "tier"});
  fields.need_hostlist("name", out.names, "'leaf[1-8]'");
  fields.read_unsigned("tier", out.tier, 1, kMaxTier);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

Result<NodeSpec> read_node(const Document& doc, const Node& node) {
  NodeSpec out;
  Fields fields(doc, node, "a node", {"name", "type", "weight"});
  fields.need_hostlist("name", out.names, "'gpu[01-32]'");
  fields.need_text("type", out.type, "h100");
  fields.read_unsigned("weight", out.weight, 0, kMaxWeight);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

// The pattern, and what it asks of the two lists.
void read_pattern(Fields& fields, LinkSpec& out) {
  if (!fields.ok()) return;
  const std::size_t from = count_hostlist(out.from.value).value_or(0);
  const std::size_t to = count_hostlist(out.to.value).value_or(0);
  const Node* node = fields.find("pattern");
  if (node == nullptr) {
    if (from == 1 && to == 1) return;  // one to one: any pattern says the same
    fields.set_fault(fields.doc().error(ErrorCode::missing, fields.node(), "a link between lists has no \"pattern\"",
                                        one_of(kPatterns)));
    return;
  }
  std::size_t word = 0;
  fields.take(as_choice(fields.doc(), *node, "pattern", kPatterns), word);
  out.pattern = static_cast<LinkPattern>(word);
  if (!fields.ok()) return;
  if (out.pattern == LinkPattern::zip && from != to) {
    fields.set_fault(fields.doc().error(ErrorCode::conflict, *node, fmt::format("zip of {} names with {}", from, to),
                                        "as many on both sides"));
  }
  if (out.pattern == LinkPattern::split && from % to != 0) {
    fields.set_fault(fields.doc().error(ErrorCode::conflict, *node,
                                        fmt::format("{} names do not split into {} equal runs", from, to),
                                        fmt::format("a multiple of {} names in \"from\"", to)));
  }
}

Result<LinkSpec> read_link(const Document& doc, const Node& node) {
  LinkSpec out;
  Fields fields(doc, node, "a link", {"from", "to", "pattern", "bandwidth", "cables", "nics", "plane"});
  fields.need_hostlist("from", out.from, "'gpu[01-32]'");
  fields.need_hostlist("to", out.to, "'leaf[1-8]'");
  read_pattern(fields, out);
  if (const Node* bandwidth = fields.need("bandwidth", "400Gb/s")) {
    fields.take(as_bandwidth(doc, *bandwidth, "bandwidth"), out.bandwidth);
  }
  fields.read_unsigned("cables", out.cables, 1, kMaxCables);
  fields.read_text("nics", out.nics);
  if (fields.ok() && out.nics) {
    if (auto indices = expand_indices(out.nics->value); !indices) {
      const HostlistError& e = indices.error();
      fields.set_fault(
          doc.error_inside(e.code, *node.find("nics"), e.offset, e.length, "nics: " + e.message, e.expected));
    }
  }
  fields.read_text("plane", out.plane);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

Result<NvlinkDomainSpec> read_domain(const Document& doc, const Node& node) {
  NvlinkDomainSpec out;
  Fields fields(doc, node, "an NVLink domain", {"name", "nodes"});
  fields.need_text("name", out.name, "rack1");
  fields.need_hostlist("nodes", out.nodes, "'gpu[01-18]'");
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

// A list under `key`, each item through `read`.
template <typename T, typename Read>
void read_list(Fields& root, std::string_view key, std::vector<T>& out, Read read) {
  const Node* node = root.find(key);
  if (node == nullptr) return;
  const auto items = as_sequence(root.doc(), *node, key);
  if (!items) return root.set_fault(items.error());
  out.reserve(items->size());
  for (const Node& item : *items) {
    Result<T> value = read(root.doc(), item);
    if (!value) return root.set_fault(std::move(value.error()));
    out.push_back(*std::move(value));
  }
}

}  // namespace

Result<FabricSpec> parse_fabric_yaml(const Source& source) {
  const Result<Document> doc = parse_weft_yaml(source, "a fabric file");
  if (!doc) return fail(doc.error());
  FabricSpec out;
  out.source = source;
  Fields root(*doc, doc->root, "a fabric file",
              {"weft", "name", "node_types", "switches", "nodes", "links", "nvlink_domains", "health"});
  root.read_string("name", out.name);
  if (const Node* types = root.find("node_types"); types != nullptr && !types->is_null()) {
    const auto entries = as_mapping(*doc, *types, "node_types");
    if (!entries) return fail(entries.error());
    for (const Node::Entry& entry : *entries) {
      Result<NodeTypeSpec> type = read_node_type(*doc, entry);
      if (!type) return fail(std::move(type.error()));
      out.node_types.push_back(*std::move(type));
    }
  }
  read_list(root, "switches", out.switches, read_switch);
  read_list(root, "nodes", out.nodes, read_node);
  read_list(root, "links", out.links, read_link);
  read_list(root, "nvlink_domains", out.nvlink_domains, read_domain);
  if (const Node* health = root.find("health")) root.take(read_health(*doc, *health), out.health);
  if (!root.ok()) return fail(root.done().error());
  return out;
}

}  // namespace weft::config
