// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace weft::cli {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int reason) {
  Error e = error(ErrorCode::io, fmt::format("cannot write: {}", std::strerror(reason)));
  e.file = path;
  return fail(std::move(e));
}

// 0, or errno of the write that failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

int write_in_place(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int reason = write_all(fd, text);
  if (::close(fd) != 0 && reason == 0) reason = errno;
  return reason;
}

mode_t new_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return static_cast<mode_t>(0666) & ~mask;
}

int write_and_rename(const std::string& path, mode_t mode, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return errno;
  int reason = write_all(fd, text);
  if (reason == 0 && ::fchmod(fd, mode) != 0) reason = errno;
  // Delayed allocation reports a full disk only here; EINVAL is a file system without it.
  if (reason == 0 && ::fsync(fd) != 0 && errno != EINVAL) reason = errno;
  if (::close(fd) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) ::unlink(temporary.c_str());
  return reason;
}

}  // namespace

Result<void> deliver(std::string_view text, const std::string& path) {
  if (path.empty() || path == "-") {
    const int reason = write_all(STDOUT_FILENO, text);
    return reason == 0 ? Result<void>{} : cannot_write("<stdout>", reason);
  }
  struct stat status = {};
  mode_t mode = new_file_mode();
  std::string target = path;
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
    if (!S_ISREG(status.st_mode)) {
      const int reason = write_in_place(path, text);
      return reason == 0 ? Result<void>{} : cannot_write(path, reason);
    }
    mode = status.st_mode & static_cast<mode_t>(07777);
    // Renaming over a symbolic link would replace the link, not the file it names.
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
    if (resolved) target = resolved.get();
  }
  const int reason = write_and_rename(target, mode, text);
  return reason == 0 ? Result<void>{} : cannot_write(path, reason);
}

void say(std::string_view text) {
  std::string line(text);
  line += '\n';
  (void)write_all(STDERR_FILENO, line);
}

void say_notes(const Notes& notes, bool quiet, std::size_t limit) {
  if (quiet) return;
  const std::size_t shown = limit == 0 ? notes.size() : std::min(limit, notes.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += notes[i].to_string() + '\n';
  if (shown < notes.size()) text += fmt::format("and {} more; `weft check` says them all\n", notes.size() - shown);
  (void)write_all(STDERR_FILENO, text);
}

}  // namespace weft::cli
