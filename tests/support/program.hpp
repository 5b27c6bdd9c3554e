// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the `weft` program as a user would and keeps everything it said.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weft::test {

struct ProgramRun {
  int code = -1;  ///< exit code; 128 + signal where one ended it
  std::string out;
  std::string err;
};

/// A directory of its own for one test, removed with it.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-cli-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot make " << pattern;
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void spill(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) ADD_FAILURE() << "cannot write " << path;
}

/// Where a run starts and what it reads and writes.
struct RunOptions {
  std::string directory = {};                 ///< working directory; empty = this one
  std::string input = {};                     ///< text on standard input
  std::string out_device = {};                ///< standard output goes to this file in place of being kept
  std::vector<std::string> environment = {};  ///< "NAME=value" more
};

/// Runs `weft` with these arguments, no shell between.
inline ProgramRun run_weft(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  const TempDir scratch;
  spill(scratch.file("in"), options.input);
  const std::string out = options.out_device.empty() ? scratch.file("out") : options.out_device;
  const pid_t child = ::fork();
  if (child == 0) {
    const int in_fd = ::open(scratch.file("in").c_str(), O_RDONLY);
    const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT, 0600);
    const int err_fd = ::open(scratch.file("err").c_str(), O_WRONLY | O_CREAT, 0600);
    if (in_fd < 0 || out_fd < 0 || err_fd < 0) ::_exit(126);
    ::dup2(in_fd, 0);
    ::dup2(out_fd, 1);
    ::dup2(err_fd, 2);
    if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(126);
    for (const std::string& variable : options.environment) ::putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> argv{const_cast<char*>("weft")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(WEFT_PROGRAM, argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    ADD_FAILURE() << "cannot run " << WEFT_PROGRAM;
    return {};
  }
  ProgramRun run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (options.out_device.empty()) run.out = slurp(out);
  run.err = slurp(scratch.file("err"));
  return run;
}

}  // namespace weft::test
