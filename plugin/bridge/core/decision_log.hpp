// SPDX-License-Identifier: BSD-3-Clause
//
// The decision log's file: lines are made and written by a thread of its own, never under slurmctld's locks.
//
// DESCRIPTION
//   push() moves a line's raw parts into a bounded queue and returns at once; where the queue is full the line is
//   counted as dropped instead. The thread turns parts into text, appends whole lines, and looks before each batch
//   whether the file is still the one under its name: logrotate may rename or remove it at any time.
//
// THREADS push, counters: any. The thread blocks every signal, so that slurmctld's handlers run where they always did.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weft::bridge {

class DecisionLog {
 public:
  /// Makes one line of text, with its line end. Runs on the log's thread.
  using Line = std::function<std::string()>;
  /// Says something to slurmctld's log; any thread.
  using Say = std::function<void(const std::string&)>;

  static constexpr std::size_t kMaxLines = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;  ///< of all queued lines' parts

  /// The file is opened at the first line: a directory that is not there yet is no error, but is said.
  DecisionLog(std::string path, Say say);
  /// Waits until all is written, at most 2 s.
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  /// `bytes`: roughly what the parts hold in memory. False where the line was dropped.
  bool push(Line line, std::size_t bytes);

  [[nodiscard]] std::uint64_t written() const;
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< the thread's too, so that it may outlive a log whose file hangs
};

}  // namespace weft::bridge
