// SPDX-License-Identifier: BSD-3-Clause
//
// weft_bridge_open: the engine as it is. The library that tests load into a real slurmctld is built from this file with
// WEFT_FAULT_INJECTION: there the environment (WEFT_BRIDGE_FAULT=throw|bad_alloc|slow|wrong) spoils the engine.
#include "c_handle.hpp"

#ifdef WEFT_FAULT_INJECTION
#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>
#endif

namespace {

#ifdef WEFT_FAULT_INJECTION
weft::bridge::Hooks hooks() {
  weft::bridge::Hooks out;
  out.place = [](const weft::topology::Fabric& fabric, const weft::placement::Request& request,
                 const weft::placement::PlaceOptions& options) {
    const char* said = std::getenv("WEFT_BRIDGE_FAULT");
    const std::string_view fault = said == nullptr ? "" : said;
    if (fault == "throw") throw std::runtime_error("injected fault");
    if (fault == "bad_alloc") throw std::bad_alloc();
    if (fault == "int") throw 42;
    if (fault == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(50));
    auto placed = weft::placement::place(fabric, request, options);
    if (fault == "wrong" && placed && !placed->nodes.empty()) placed->nodes.front() = placed->nodes.back();
    return placed;
  };
  return out;
}
#else
weft::bridge::Hooks hooks() { return {}; }
#endif

}  // namespace

extern "C" int weft_bridge_open(const char* weft_yaml, weft_log_fn log, void* log_user, weft_bridge** out, char* error,
                                size_t error_size) noexcept {
  return weft::bridge::open_with(weft_yaml, log, log_user, hooks(), out, error, error_size);
}
