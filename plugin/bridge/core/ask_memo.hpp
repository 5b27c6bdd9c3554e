// SPDX-License-Identifier: BSD-3-Clause
//
// Answers to the questions asked last. Submission, the main and the backfill scheduler ask about the same pending job
// over and over, and about the jobs of an array one after the other, while nothing on the cluster changes. Kept whole,
// not as hashes: an equal question has an equal answer, and no other is taken for it.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "ask.hpp"

namespace weft::bridge {

/// Thread-safe, bounded. An entry takes some 12 bytes for each usable node.
template <typename Answer>
class AskMemo {
 public:
  explicit AskMemo(std::size_t entries) : limit_(entries) {}

  [[nodiscard]] std::optional<Answer> find(const Ask& ask) {
    const std::lock_guard lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (!(at->first == ask)) continue;
      entries_.splice(entries_.begin(), entries_, at);
      return entries_.front().second;
    }
    return std::nullopt;
  }

  void keep(Ask ask, Answer answer) {
    const std::lock_guard lock(mutex_);
    entries_.emplace_front(std::move(ask), std::move(answer));
    if (entries_.size() > limit_) entries_.pop_back();
  }

 private:
  std::size_t limit_;
  std::mutex mutex_;
  std::list<std::pair<Ask, Answer>> entries_;  ///< last used first
};

}  // namespace weft::bridge
