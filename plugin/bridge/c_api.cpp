// SPDX-License-Identifier: BSD-3-Clause
//
// The C functions: null pointers and sizes checked, every exception held back.
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "bridge.hpp"
#include "c_handle.hpp"
#include "job_to_spec.hpp"
#include "listing.hpp"
#include "queries.hpp"
#include "weft_bridge.h"
#include "weft_spec.h"

using weft::bridge::Bridge;
using weft::bridge::copy_text;

struct weft_bridge_topology {
  std::unique_ptr<weft::bridge::Listing> listing;
};

namespace {

// Runs `body`; what it throws becomes WEFT_EINTERNAL and is logged where there is a bridge to log to.
template <typename Body>
int guarded(const weft_bridge* bridge, const char* where, Body body) noexcept {
  const char* what = "unknown exception";
  std::array<char, 256> kept{};
  try {
    return body();
  } catch (const std::exception& e) {
    std::strncpy(kept.data(), e.what(), kept.size() - 1);
    what = kept.data();
  } catch (...) {
    what = "unknown exception";
  }
  if (bridge != nullptr) bridge->bridge->internal_fault(where, what);
  return WEFT_EINTERNAL;
}

int store(const std::vector<std::uint32_t>& nodes, std::uint32_t* out, std::size_t size, std::size_t* count) {
  *count = nodes.size();
  if (nodes.size() > size) return WEFT_ESPACE;
  if (!nodes.empty()) std::memcpy(out, nodes.data(), nodes.size() * sizeof(nodes[0]));
  return WEFT_OK;
}

bool bad_set(const std::uint32_t* nodes, std::size_t count) { return nodes == nullptr && count > 0; }

void refuse(weft_choice& choice, weft_cause cause, const char* reason) {
  choice.verdict = WEFT_DELEGATE;
  choice.cause = cause;
  choice.node_count = 0;
  std::strncpy(choice.reason, reason, sizeof(choice.reason) - 1);
}

}  // namespace

namespace weft::bridge {

int open_with(const char* weft_yaml, weft_log_fn log, void* log_user, Hooks hooks, weft_bridge** out, char* error,
              std::size_t error_size) noexcept {
  if (error != nullptr && error_size > 0) error[0] = '\0';
  if (out == nullptr || weft_yaml == nullptr) return WEFT_EINVAL;
  *out = nullptr;
  const int status = guarded(nullptr, "open", [&] {
    const Log say = [log, log_user](weft_log_level level, const std::string& message) {
      if (log == nullptr) return;
      std::array<char, WEFT_ERROR_MAX> text{};
      copy_text(message, text.data(), text.size());
      log(log_user, level, text.data());
    };
    auto opened = Bridge::open(weft_yaml, say, std::move(hooks));
    if (!opened) {
      copy_text(opened.error().to_string(), error, error_size);
      return static_cast<int>(WEFT_EFILE);
    }
    *out = std::make_unique<weft_bridge>(weft_bridge{std::move(*opened)}).release();
    return static_cast<int>(WEFT_OK);
  });
  if (status == WEFT_EINTERNAL && error != nullptr && error_size > 0) {
    std::strncpy(error, "internal fault while reading the files", error_size - 1);
    error[error_size - 1] = '\0';
  }
  return status;
}

}  // namespace weft::bridge

extern "C" {

void weft_bridge_close(weft_bridge* bridge) noexcept {
  static_cast<void>(guarded(nullptr, "close", [&] {
    delete bridge;
    return 0;
  }));
}

const char* weft_bridge_version(void) noexcept { return WEFT_VERSION; }

int weft_bridge_bind(weft_bridge* bridge, size_t count, const char* const* names, weft_bind_report* report) noexcept {
  if (bridge == nullptr || (names == nullptr && count > 0) || count >= WEFT_NO_NODE) return WEFT_EINVAL;
  return guarded(bridge, "bind", [&] {
    bridge->bridge->bind({names, count}, report);
    return WEFT_OK;
  });
}

int weft_bridge_node_ranks(const weft_bridge* bridge, size_t count, const char* const* names, uint32_t* rank) noexcept {
  if (bridge == nullptr || (count > 0 && (names == nullptr || rank == nullptr)) || count >= WEFT_NO_NODE)
    return WEFT_EINVAL;
  return guarded(bridge, "node_ranks", [&] {
    bridge->bridge->node_ranks({names, count}, rank);
    return WEFT_OK;
  });
}

int weft_bridge_choose(weft_bridge* bridge, const weft_request* request, weft_choice* choice) noexcept {
  if (choice == nullptr || choice->size != sizeof(weft_choice)) return WEFT_EINVAL;
  std::uint32_t* const nodes = choice->nodes;
  std::uint64_t* const gpus = choice->gpus;
  const std::uint32_t nodes_size = choice->nodes_size;
  std::memset(choice, 0, sizeof(*choice));
  choice->size = sizeof(*choice);
  choice->nodes = nodes;
  choice->gpus = gpus;
  choice->nodes_size = nodes_size;
  choice->gap = -1;
  refuse(*choice, WEFT_CAUSE_REQUEST, "malformed request");
  if (bridge == nullptr || request == nullptr || request->size != sizeof(weft_request)) return WEFT_EINVAL;
  const int status = guarded(bridge, "choose", [&] {
    bridge->bridge->choose(*request, *choice);
    return WEFT_OK;
  });
  if (status != WEFT_OK) refuse(*choice, WEFT_CAUSE_INTERNAL, "internal fault");
  return WEFT_OK;
}

int weft_bridge_patient(const weft_bridge* bridge, const char* spec, size_t length) noexcept {
  if (bridge == nullptr) return 0;
  const std::string_view said = spec == nullptr ? std::string_view() : std::string_view(spec, length);
  return weft::bridge::may_be_patient(bridge->bridge->model().settings, said) ? 1 : 0;
}

void weft_bridge_outcome(weft_bridge* bridge, uint64_t decision, int taken, const char* reason) noexcept {
  if (bridge == nullptr) return;
  static_cast<void>(guarded(bridge, "outcome", [&] {
    bridge->bridge->outcome(decision, taken != 0, reason);
    return 0;
  }));
}

int weft_bridge_whole_domains(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count, uint32_t* out,
                              size_t size, size_t* count) noexcept {
  if (bridge == nullptr || count == nullptr || bad_set(nodes, node_count) || (out == nullptr && size > 0))
    return WEFT_EINVAL;
  return guarded(bridge, "whole_domains", [&]() -> int {
    const auto binding = bridge->bridge->binding();
    if (!binding) return WEFT_EUNBOUND;
    if (!weft::bridge::in_table(*binding, {nodes, node_count})) return WEFT_EINVAL;
    return store(weft::bridge::whole_domains(bridge->bridge->model().fabric, *binding, {nodes, node_count}), out, size,
                 count);
  });
}

int weft_bridge_named_nodes(const weft_bridge* bridge, const char* name, uint32_t* out, size_t size,
                            size_t* count) noexcept {
  if (bridge == nullptr || name == nullptr || count == nullptr || (out == nullptr && size > 0)) return WEFT_EINVAL;
  return guarded(bridge, "named_nodes", [&]() -> int {
    const auto binding = bridge->bridge->binding();
    if (!binding) return WEFT_EUNBOUND;
    const auto found = weft::bridge::named_nodes(bridge->bridge->model().fabric, *binding, name);
    return found ? store(*found, out, size, count) : static_cast<int>(WEFT_ENOTFOUND);
  });
}

uint32_t weft_bridge_fragmentation(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count) noexcept {
  if (bridge == nullptr || bad_set(nodes, node_count)) return 0;
  std::uint32_t out = 0;
  static_cast<void>(guarded(bridge, "fragmentation", [&] {
    const auto binding = bridge->bridge->binding();
    if (binding && weft::bridge::in_table(*binding, {nodes, node_count}))
      out = weft::bridge::fragmentation(bridge->bridge->model().fabric, *binding, {nodes, node_count});
    return 0;
  }));
  return out;
}

int weft_bridge_route(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count, uint32_t width,
                      uint32_t* order, uint32_t* start, uint32_t* groups, uint32_t* depth) noexcept {
  if (bridge == nullptr || bad_set(nodes, node_count) || width == 0 || groups == nullptr || depth == nullptr)
    return WEFT_EINVAL;
  if (node_count > 0 && (order == nullptr || start == nullptr)) return WEFT_EINVAL;
  return guarded(bridge, "route", [&]() -> int {
    const auto binding = bridge->bridge->binding();
    if (!binding) return WEFT_EUNBOUND;
    if (!weft::bridge::in_table(*binding, {nodes, node_count})) return WEFT_EINVAL;
    const auto route = weft::bridge::route(bridge->bridge->model().fabric, *binding, {nodes, node_count}, width);
    *groups = node_count == 0 ? 0 : static_cast<std::uint32_t>(route.start.size() - 1);
    *depth = route.depth;
    if (node_count == 0) return WEFT_OK;
    std::memcpy(order, route.order.data(), node_count * sizeof(*order));
    std::memcpy(start, route.start.data(), route.start.size() * sizeof(*start));
    return WEFT_OK;
  });
}

weft_bridge_topology* weft_bridge_topology_new(const weft_bridge* bridge, const char* node, const char* sw) noexcept {
  weft_bridge_topology* out = nullptr;
  if (bridge == nullptr) return nullptr;
  static_cast<void>(guarded(bridge, "topology", [&] {
    const auto binding = bridge->bridge->binding();
    if (!binding) return 0;
    const auto filter = [](const char* text) {
      return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
    };
    if (auto listing = weft::bridge::Listing::make(*bridge->bridge, *binding, filter(node), filter(sw)))
      out = std::make_unique<weft_bridge_topology>(weft_bridge_topology{std::move(listing)}).release();
    return 0;
  }));
  return out;
}

size_t weft_bridge_topology_count(const weft_bridge_topology* topology) noexcept {
  return topology == nullptr ? 0 : topology->listing->records().size();
}

const weft_topology_record* weft_bridge_topology_record(const weft_bridge_topology* topology, size_t i) noexcept {
  if (topology == nullptr || i >= topology->listing->records().size()) return nullptr;
  return &topology->listing->records()[i];
}

const char* weft_bridge_topology_headline(const weft_bridge_topology* topology) noexcept {
  return topology == nullptr ? "" : topology->listing->headline().c_str();
}

void weft_bridge_topology_free(weft_bridge_topology* topology) noexcept { delete topology; }

int weft_bridge_get_counters(const weft_bridge* bridge, weft_counters* out) noexcept {
  if (bridge == nullptr || out == nullptr) return WEFT_EINVAL;
  return guarded(bridge, "counters", [&] {
    *out = bridge->bridge->counters();
    return WEFT_OK;
  });
}

int weft_bridge_check_spec(const char* spec, size_t length, char* error, size_t error_size) noexcept {
  weft_spec parsed;
  if (error != nullptr && error_size > 0) error[0] = '\0';
  return weft_spec_parse(spec, length, &parsed, error, error_size) == 0 ? WEFT_OK : WEFT_EINVAL;
}

int weft_bridge_job_to_spec(const char* job_yaml, char* spec, size_t spec_size, char* error,
                            size_t error_size) noexcept {
  if (error != nullptr && error_size > 0) error[0] = '\0';
  if (job_yaml == nullptr || spec == nullptr || spec_size == 0) return WEFT_EINVAL;
  spec[0] = '\0';
  return guarded(nullptr, "job_to_spec", [&]() -> int {
    const auto refuse_file = [&](const weft::Error& e) {
      copy_text(e.to_string(), error, error_size);
      return static_cast<int>(WEFT_EFILE);
    };
    const auto source = weft::read_source(job_yaml, 1U << 20U);
    if (!source) return refuse_file(source.error());
    const auto job = weft::config::parse_job_yaml(*source);
    if (!job) return refuse_file(job.error());
    const auto text = weft::bridge::job_to_spec(*job);
    if (!text) return refuse_file(text.error());
    if (text->size() >= spec_size) return WEFT_ESPACE;
    copy_text(*text, spec, spec_size);
    return WEFT_OK;
  });
}

const weft_bridge_api* weft_bridge_get_api(uint32_t abi) noexcept {
  static const weft_bridge_api kApi = {WEFT_BRIDGE_ABI,
                                       sizeof(weft_bridge_api),
                                       weft_bridge_open,
                                       weft_bridge_close,
                                       weft_bridge_version,
                                       weft_bridge_bind,
                                       weft_bridge_node_ranks,
                                       weft_bridge_choose,
                                       weft_bridge_patient,
                                       weft_bridge_outcome,
                                       weft_bridge_whole_domains,
                                       weft_bridge_named_nodes,
                                       weft_bridge_fragmentation,
                                       weft_bridge_route,
                                       weft_bridge_topology_new,
                                       weft_bridge_topology_count,
                                       weft_bridge_topology_record,
                                       weft_bridge_topology_headline,
                                       weft_bridge_topology_free,
                                       weft_bridge_get_counters,
                                       weft_bridge_check_spec,
                                       weft_bridge_job_to_spec};
  return abi == WEFT_BRIDGE_ABI ? &kApi : nullptr;
}

}  // extern "C"
