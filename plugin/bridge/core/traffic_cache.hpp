// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic of the layouts asked about last. slurmctld asks about the same pending job again and again, and arrays and
// users repeat layouts; building the traffic of 4,096 ranks anew each time would cost more than the choice.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::bridge {

/// A traffic and what hangs on it alone.
struct Known {
  std::shared_ptr<const placement::Traffic> traffic;
  std::shared_ptr<const placement::TrafficDigest> digest;
};

[[nodiscard]] Result<Known> make_known(const config::JobSpec& job, const config::Layout& layout);

/// Thread-safe, bounded, and without influence on results: build_traffic is pure for jobs without a matrix.
class TrafficCache {
 public:
  explicit TrafficCache(std::size_t entries = 32) : limit_(entries) {}
  [[nodiscard]] Result<Known> get(const config::JobSpec& job, const config::Layout& layout);

 private:
  struct Entry {
    std::string key;
    Known known;
  };
  std::size_t limit_;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< last used first
};

}  // namespace weft::bridge
