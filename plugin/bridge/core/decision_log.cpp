// SPDX-License-Identifier: BSD-3-Clause
#include "decision_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace weft::bridge {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kSayAgain = std::chrono::minutes(1);

// The file, reopened where its name means another one by now.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Appends all of `text`; the system's reason where it could not. A line cut by a full disk is ended, so that the next
  // one stands alone.
  std::string append(std::string_view text) {
    if (std::string why = reopen(); !why.empty()) return why;
    while (!text.empty()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        std::string why = std::strerror(errno);
        cut_ = cut_ || begun_;
        begun_ = false;
        return why;
      }
      text.remove_prefix(static_cast<std::size_t>(n));
      begun_ = !text.empty();
    }
    return {};
  }

 private:
  std::string reopen() {
    struct stat named {
    }, held{};
    const bool same = fd_ >= 0 && ::stat(path_.c_str(), &named) == 0 && ::fstat(fd_, &held) == 0 &&
                      named.st_dev == held.st_dev && named.st_ino == held.st_ino;
    if (!same) {
      close();
      cut_ = false;
      fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
      if (fd_ < 0) return std::strerror(errno);
    }
    if (cut_ && ::write(fd_, "\n", 1) == 1) cut_ = false;
    return cut_ ? std::strerror(errno) : std::string();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  std::string path_;
  int fd_ = -1;
  bool begun_ = false;  // part of a text has been written
  bool cut_ = false;    // the file ends inside a line
};

}  // namespace

struct DecisionLog::State {
  State(std::string path, Say speak) : name(path), file(std::move(path)), say(std::move(speak)) {}

  struct Item {
    Line line;
    std::size_t bytes;
  };
  std::string name;
  File file;
  Say say;
  std::mutex mutex;
  std::condition_variable wake, idle;
  std::deque<Item> queue;
  std::size_t queued_bytes = 0;
  bool stop = false, done = false;
  std::atomic<bool> silent = false;  ///< whoever listened is gone
  std::uint64_t written = 0, dropped = 0;
  // Of the thread alone.
  std::uint64_t told = 0;
  Clock::time_point told_at{};

  void run();
  void write_batch(std::deque<Item> batch);
  void tell_drops();
  void tell(const std::string& message) const {
    if (!silent) say(message);
  }
};

void DecisionLog::State::write_batch(std::deque<Item> batch) {
  std::string text, why;
  std::uint64_t good = 0;
  for (Item& item : batch) {
    try {
      text += item.line();
      ++good;
    } catch (const std::exception& e) {
      why = e.what();
    }
    item.line = nullptr;
  }
  if (std::string fault = file.append(text); !fault.empty()) {
    good = 0;
    why = std::move(fault);
  }
  {
    const std::lock_guard lock(mutex);
    written += good;
    dropped += batch.size() - good;
  }
  if (why.empty() || Clock::now() - told_at < kSayAgain) return;
  told_at = Clock::now();
  tell(fmt::format("decision log {}: {}", name, why));
}

void DecisionLog::State::tell_drops() {
  std::uint64_t now = 0;
  {
    const std::lock_guard lock(mutex);
    now = dropped;
  }
  if (now == told || (told != 0 && Clock::now() - told_at < kSayAgain)) return;
  told_at = Clock::now();
  tell(fmt::format("decision log {}: {} decision{} not written so far", name, now, now == 1 ? "" : "s"));
  told = now;
}

void DecisionLog::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stop || !queue.empty(); });
    if (queue.empty()) break;
    std::deque<Item> batch = std::exchange(queue, {});
    queued_bytes = 0;
    lock.unlock();
    write_batch(std::move(batch));
    tell_drops();
    lock.lock();
  }
  done = true;
  idle.notify_all();
}

DecisionLog::DecisionLog(std::string path, Say say) : state_(std::make_shared<State>(std::move(path), std::move(say))) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread([state = state_] { state->run(); }).detach();
  } catch (const std::system_error& e) {
    state_->done = true;
    state_->say(fmt::format("decision log {}: no thread: {}", state_->name, e.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DecisionLog::~DecisionLog() {
  std::unique_lock lock(state_->mutex);
  state_->stop = true;
  state_->wake.notify_all();
  state_->idle.wait_for(lock, kPatience, [&] { return state_->done; });
  state_->silent = true;
}

bool DecisionLog::push(Line line, std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  if (state_->done || state_->queue.size() >= kMaxLines || state_->queued_bytes + bytes > kMaxBytes) {
    ++state_->dropped;
    return false;
  }
  state_->queue.push_back({std::move(line), bytes});
  state_->queued_bytes += bytes;
  state_->wake.notify_one();
  return true;
}

std::uint64_t DecisionLog::written() const {
  const std::lock_guard lock(state_->mutex);
  return state_->written;
}
std::uint64_t DecisionLog::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace weft::bridge
