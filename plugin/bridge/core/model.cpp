// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "weft/topology/import.hpp"

namespace weft::bridge {
namespace {

std::string beside(const std::string& weft_yaml, const std::string& name) {
  const std::filesystem::path path(name);
  if (path.is_absolute()) return name;
  return (std::filesystem::path(weft_yaml).parent_path() / path).string();
}

// FNV-1a (Fowler, Noll, Vo): tells fabrics apart, guards against nobody.
std::string digest_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

// An error of a file that weft.yaml names, or of its value where the file cannot be read.
tl::unexpected<Error> at_key(const config::SlurmConfig& config, const config::Text& text, const Error& cause) {
  if (cause.code != ErrorCode::io && cause.code != ErrorCode::usage) return fail(cause);
  return fail(error_at(cause.code, config.source, text.at, static_cast<std::uint32_t>(text.value.size()), cause.message,
                       cause.expected));
}

Result<topology::ImportOptions> import_options(const config::SlurmConfig& config, const std::string& weft_yaml) {
  topology::ImportOptions out;
  if (config.node_type) {
    auto parsed = topology::parse_node_type(config.node_type->value);
    if (!parsed) {
      Error e = parsed.error();
      e.code = ErrorCode::usage;  // whatever it is, it stands in weft.yaml
      return at_key(config, *config.node_type, e);
    }
    out = std::move(*parsed);
  }
  if (config.bandwidth) out.bandwidth = config.bandwidth;
  if (config.topology) out.topology = config.topology->value;
  if (config.names) {
    auto names = read_source(beside(weft_yaml, config.names->value));
    if (!names) return at_key(config, *config.names, names.error());
    out.names = std::move(*names);
  }
  return out;
}

// A fault that only shows with the health file's entries stands in that file.
Result<topology::Fabric> build(config::FabricSpec& spec, std::size_t own_health, const Source& health) {
  auto fabric = topology::Fabric::build(spec);
  if (fabric || !health) return fabric;
  spec.health.resize(own_health);
  if (const auto alone = topology::Fabric::build(spec); !alone) return fail(alone.error());
  const Error& e = fabric.error();
  return fail(error_at(e.code, health, e.at, e.width, e.message, e.expected));
}

}  // namespace

bool operator==(const Settings& a, const Settings& b) {
  const auto same_layout = [](const std::optional<config::Layout>& x, const std::optional<config::Layout>& y) {
    return x.has_value() == y.has_value() && (!x || (x->size == y->size && x->order == y->order));
  };
  return a.objective == b.objective && a.budget_steps == b.budget_steps &&
         same_layout(a.default_layout, b.default_layout) && a.node_weight == b.node_weight &&
         a.on_error == b.on_error && a.patience == b.patience;
}

Settings settings_of(const config::SlurmConfig& config) {
  Settings out;
  static_assert(static_cast<int>(config::ObjectiveWord::spread) == static_cast<int>(placement::Objective::spread) &&
                static_cast<int>(config::ObjectiveWord::time) == static_cast<int>(placement::Objective::time));
  out.objective = static_cast<placement::Objective>(config.objective);
  out.budget_steps = config.budget_steps;
  out.default_layout = config.default_layout;
  out.node_weight = config.node_weight;
  out.on_error = config.on_error;
  out.patience = config.patience;
  return out;
}

Result<Model> load_model(const std::string& weft_yaml) {
  const auto source = read_source(weft_yaml, 1U << 20U);
  if (!source) return fail(source.error());
  auto config = config::parse_slurm_config(*source);
  if (!config) return fail(config.error());
  const auto fabric_source = read_source(beside(weft_yaml, config->fabric.value));
  if (!fabric_source) return at_key(*config, config->fabric, fabric_source.error());
  const auto options = import_options(*config, weft_yaml);
  if (!options) return fail(options.error());
  auto imported = topology::read_fabric(*fabric_source, *options);
  if (!imported) return fail(imported.error());
  config::FabricSpec& spec = imported->spec;
  const std::size_t own_health = spec.health.size();
  Source health;
  if (config->health) {
    auto text = read_source(beside(weft_yaml, config->health->value));
    if (!text) return at_key(*config, *config->health, text.error());
    auto entries = config::parse_health_yaml(*text);
    if (!entries) return fail(entries.error());
    spec.health.insert(spec.health.end(), entries->begin(), entries->end());
    health = *text;
  }
  const std::string digest = digest_of(config::write_fabric_yaml(spec));
  auto fabric = build(spec, own_health, health);
  if (!fabric) return fail(fabric.error());
  std::shared_ptr<const topology::Fabric> healthy;
  if (!spec.health.empty()) {
    spec.health.clear();
    auto sound = topology::Fabric::build(spec);
    if (!sound) return fail(sound.error());
    healthy = std::make_shared<const topology::Fabric>(std::move(*sound));
  }
  Notes notes = std::move(imported->notes);
  notes.insert(notes.end(), fabric->notes().begin(), fabric->notes().end());
  const Settings settings = settings_of(*config);
  return Model{std::move(*config), settings, std::move(*fabric), std::move(healthy), digest, std::move(notes)};
}

}  // namespace weft::bridge
