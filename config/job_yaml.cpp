// SPDX-License-Identifier: BSD-3-Clause
//
// job.yaml into JobSpec.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "layout_yaml.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/config/job_spec.hpp"
#include "yaml_fields.hpp"

namespace weft::config {
namespace {

constexpr std::uint64_t kMaxNodes = 1ULL << 20;
constexpr std::uint64_t kMaxPerNode = 1024;

// In the order of their enums.
constexpr std::array<std::string_view, 6> kCollectives{"allreduce", "reduce_scatter", "allgather",
                                                       "broadcast", "alltoall",       "neighbour"};
constexpr std::array<std::string_view, 4> kAlgorithms{"ring", "tree", "hierarchical", "auto"};
constexpr std::array<std::string_view, 3> kLevels{"nvlink", "leaf", "pod"};
constexpr std::array<std::string_view, 2> kCrossRails{"pxn", "fabric"};

// A word of `words` under `key` into an enum of the same order.
template <typename Enum, std::size_t N>
void read_word(Fields& fields, std::string_view key, const std::array<std::string_view, N>& words, Enum& out) {
  if (const Node* node = fields.find(key)) {
    std::size_t word = 0;
    fields.take(as_choice(fields.doc(), *node, key, words), word);
    if (fields.ok()) out = static_cast<Enum>(word);
  }
}

void read_layout(Fields& job, JobSpec& out) {
  const Node* node = job.find("layout");
  if (node == nullptr) return;
  job.take(read_layout(job.doc(), *node, "layout"), out.layout);
  out.dp_given = job.ok() && node->find("dp") != nullptr;
}

// What can be known before the fabric is: a layout of all sizes against itself, any layout against given ranks.
void check_layout(Fields& job, const JobSpec& out) {
  if (!job.ok() || !out.layout || !(out.ranks_per_node || out.dp_given)) return;
  const std::uint64_t ranks = out.ranks_per_node ? std::uint64_t{out.nodes} * *out.ranks_per_node : out.layout->ranks();
  if (Result<Layout> layout = resolve_layout(out, ranks); !layout) job.set_fault(std::move(layout.error()));
}

Result<TrafficTerm> read_term(const Document& doc, const Node& node, Dim dim, Algorithm algorithm) {
  TrafficTerm out;
  out.dim = dim;
  out.algorithm = algorithm;
  Fields fields(doc, node, "traffic", {"collective", "bytes", "algorithm"});
  static_cast<void>(fields.need("collective", "allreduce"));
  read_word(fields, "collective", kCollectives, out.collective);
  if (const Node* bytes = fields.need("bytes", "512MiB")) fields.take(as_bytes(doc, *bytes, "bytes"), out.bytes);
  read_word(fields, "algorithm", kAlgorithms, out.algorithm);
  if (!fields.ok()) return fail(fields.done().error());
  return out;
}

void read_traffic(Fields& job, JobSpec& out) {
  const Node* node = job.find("traffic");
  if (node == nullptr) return;
  const Document& doc = job.doc();
  if (Result<void> keys = check_keys(doc, *node, "traffic", kDimWords); !keys) return job.set_fault(keys.error());
  for (const Node::Entry& entry : node->entries) {
    const auto dim = static_cast<Dim>(std::find(kDimWords.begin(), kDimWords.end(), entry.key) - kDimWords.begin());
    const bool list = entry.value.is_sequence();
    for (const Node& item : list ? std::span(entry.value.items) : std::span(&entry.value, 1)) {
      Result<TrafficTerm> term = read_term(doc, item, dim, out.algorithm);
      if (!term) return job.set_fault(std::move(term.error()));
      out.traffic.push_back(*term);
    }
  }
}

// A count of parameters: a number, with M, B or T for millions, billions (10^9), trillions if need be.
void read_parameters(Fields& fields, std::optional<double>& out) {
  const Node* node = fields.find("parameters");
  if (node == nullptr) return;
  Node number = *node;
  double factor = 1;
  if (number.is_scalar() && !number.text.empty()) {
    const char suffix = number.text.back();
    factor = suffix == 'M' ? 1e6 : suffix == 'B' ? 1e9 : suffix == 'T' ? 1e12 : 1;
    if (factor > 1) number.text.pop_back();
  }
  const Result<double> value = as_number(fields.doc(), number, "parameters", 1);
  if (value) {
    out = *value * factor;
  } else {
    fields.set_fault(fields.doc().error(value.error().code, *node, fmt::format("parameters is {}", describe(*node)),
                                        "a number such as 70e9 or 70B"));
  }
}

void check_model(Fields& fields, const ModelSpec& model) {
  if (!fields.ok()) return;
  const Document& doc = fields.doc();
  if (model.heads && model.kv_heads && *model.heads % *model.kv_heads != 0) {
    fields.set_fault(doc.error(ErrorCode::conflict, *fields.find("kv_heads"),
                               fmt::format("kv_heads {} does not divide heads {}", *model.kv_heads, *model.heads)));
  } else if (model.hidden && model.heads && *model.hidden % *model.heads != 0) {
    fields.set_fault(doc.error(ErrorCode::conflict, *fields.find("heads"),
                               fmt::format("heads {} does not divide hidden {}", *model.heads, *model.hidden)));
  } else if (model.experts_per_token && *model.experts_per_token > model.experts.value_or(1)) {
    fields.set_fault(doc.error(
        ErrorCode::conflict, *fields.find("experts_per_token"),
        fmt::format("experts_per_token {} of {} experts", *model.experts_per_token, model.experts.value_or(1))));
  } else if (model.microbatch && model.global_batch && *model.global_batch % *model.microbatch != 0) {
    fields.set_fault(doc.error(
        ErrorCode::conflict, *fields.find("microbatch"),
        fmt::format("microbatch {} does not divide global_batch {}", *model.microbatch, *model.global_batch)));
  }
}

void read_model(Fields& job, JobSpec& out) {
  const Node* node = job.find("model");
  if (node == nullptr) return;
  constexpr std::uint64_t kMax = 1ULL << 40;
  constexpr std::array<std::string_view, 4> kPrecisions{"fp32", "bf16", "fp16", "fp8"};
  ModelSpec model;
  model.at = node->at;
  Fields fields(
      job.doc(), *node, "model",
      {"parameters", "layers", "hidden", "ffn_hidden", "heads", "kv_heads", "vocab", "seq", "precision", "microbatch",
       "global_batch", "zero", "sequence_parallel", "interleave", "experts", "experts_per_token"});
  read_parameters(fields, model.parameters);
  fields.read_unsigned("layers", model.layers, 1, kMax);
  fields.read_unsigned("hidden", model.hidden, 1, kMax);
  fields.read_unsigned("ffn_hidden", model.ffn_hidden, 1, kMax);
  fields.read_unsigned("heads", model.heads, 1, kMax);
  fields.read_unsigned("kv_heads", model.kv_heads, 1, kMax);
  fields.read_unsigned("vocab", model.vocab, 1, kMax);
  fields.read_unsigned("seq", model.seq, 1, kMax);
  if (const Node* precision = fields.find("precision")) {
    std::size_t word = 0;
    fields.take(as_choice(job.doc(), *precision, "precision", kPrecisions), word);
    model.precision = std::string(kPrecisions[word]);
  }
  fields.read_unsigned("microbatch", model.microbatch, 1, kMax);
  fields.read_unsigned("global_batch", model.global_batch, 1, kMax);
  fields.read_unsigned("zero", model.zero, 0, 3);
  if (const Node* sequence = fields.find("sequence_parallel")) {
    bool value = false;
    fields.take(as_bool(job.doc(), *sequence, "sequence_parallel"), value);
    model.sequence_parallel = value;
  }
  fields.read_unsigned("interleave", model.interleave, 1, kMax);
  fields.read_unsigned("experts", model.experts, 1, kMax);
  fields.read_unsigned("experts_per_token", model.experts_per_token, 1, kMax);
  check_model(fields, model);
  if (!fields.ok()) return job.set_fault(fields.done().error());
  out.model = std::move(model);
}

// Required and excluded nodes against each other and the job's size. Both lists are known to be sound and bounded.
void check_node_lists(Fields& fields, const JobSpec& job) {
  const Constraints& constraints = job.constraints;
  if (!fields.ok() || !constraints.required_nodes) return;
  const auto required = expand_hostlist(constraints.required_nodes->value).value_or(std::vector<std::string>());
  const Node& node = *fields.find("required_nodes");
  std::unordered_set<std::string_view> names(required.begin(), required.end());
  if (names.size() > job.nodes) {
    return fields.set_fault(
        fields.doc().error(ErrorCode::conflict, node,
                           fmt::format("required_nodes names {} nodes, but the job has {}", names.size(), job.nodes)));
  }
  if (!constraints.excluded_nodes) return;
  const auto excluded = expand_hostlist(constraints.excluded_nodes->value).value_or(std::vector<std::string>());
  for (const std::string& name : excluded) {
    if (!names.contains(name)) continue;
    return fields.set_fault(fields.doc().error(ErrorCode::conflict, *fields.find("excluded_nodes"),
                                               fmt::format("\"{}\" is both required and excluded", name)));
  }
}

void read_constraints(Fields& job, JobSpec& out) {
  const Node* node = job.find("constraints");
  if (node == nullptr) return;
  const Document& doc = job.doc();
  Constraints& constraints = out.constraints;
  Fields fields(doc, *node, "constraints",
                {"segment", "segment_level", "max_spread", "exclusive", "required_nodes", "excluded_nodes"});
  fields.read_unsigned("segment", constraints.segment, 1, kMaxNodes);
  read_word(fields, "segment_level", kLevels, constraints.segment_level);
  if (const Node* spread = fields.find("max_spread")) {
    Fields caps(doc, *spread, "max_spread", {"leaf", "pod"});
    caps.read_unsigned("leaf", constraints.max_leaves, 1, kMaxNodes);
    caps.read_unsigned("pod", constraints.max_pods, 1, kMaxNodes);
    if (!caps.ok()) fields.set_fault(caps.done().error());
  }
  if (fields.find("exclusive") != nullptr) {
    LevelName level = LevelName::leaf;
    read_word(fields, "exclusive", kLevels, level);
    constraints.exclusive = level;
  }
  fields.read_hostlist("required_nodes", constraints.required_nodes);
  fields.read_hostlist("excluded_nodes", constraints.excluded_nodes);
  if (const Node* segment = fields.find("segment"); segment != nullptr && out.nodes % *constraints.segment != 0) {
    fields.set_fault(
        doc.error(ErrorCode::conflict, *segment,
                  fmt::format("segment {} does not divide the job's {} nodes", *constraints.segment, out.nodes)));
  }
  if (const Node* level = fields.find("segment_level"); level != nullptr && !constraints.segment) {
    fields.set_fault(
        doc.error(ErrorCode::conflict, *level, "segment_level without a segment", "\"segment: 8\" beside it"));
  }
  check_node_lists(fields, out);
  if (!fields.ok()) job.set_fault(fields.done().error());
}

// traffic, model and matrix say the same thing: the second of them is at fault.
void check_one_traffic(Fields& job) {
  if (!job.ok()) return;
  const Node::Entry* first = nullptr;
  for (const Node::Entry& entry : job.node().entries) {
    if (entry.key != "traffic" && entry.key != "model" && entry.key != "matrix") continue;
    if (first != nullptr) {
      return job.set_fault(job.doc().error_key(ErrorCode::conflict, entry,
                                               fmt::format("{} beside {}", entry.key, first->key),
                                               "one of traffic, model and matrix"));
    }
    first = &entry;
  }
}

}  // namespace

Result<JobSpec> parse_job_yaml(const Source& source) {
  const Result<Document> doc = parse_weft_yaml(source, "a job file");
  if (!doc) return fail(doc.error());
  JobSpec out;
  out.source = source;
  Fields job(*doc, doc->root, "a job file",
             {"weft", "name", "nodes", "ranks_per_node", "layout", "traffic", "model", "matrix", "algorithm",
              "cross_rail", "constraints"});
  job.read_string("name", out.name);
  if (const Node* nodes = job.need("nodes", "64")) {
    job.read_unsigned("nodes", out.nodes, 1, kMaxNodes);
    out.nodes_at = nodes->at;
  }
  job.read_unsigned("ranks_per_node", out.ranks_per_node, 1, kMaxPerNode);
  for (const Node::Entry& entry : doc->root.entries) {
    if (entry.key == "layout") out.layout_at = entry.at;
  }
  read_layout(job, out);
  check_layout(job, out);
  check_one_traffic(job);
  read_word(job, "algorithm", kAlgorithms, out.algorithm);
  read_traffic(job, out);
  read_model(job, out);
  job.read_text("matrix", out.matrix);
  if (job.find("cross_rail") != nullptr) {
    CrossRail cross_rail = CrossRail::pxn;
    read_word(job, "cross_rail", kCrossRails, cross_rail);
    out.cross_rail = cross_rail;
  }
  read_constraints(job, out);
  if (!job.ok()) return fail(job.done().error());
  return out;
}

}  // namespace weft::config
