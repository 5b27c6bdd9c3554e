// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "app.hpp"

int main(int argc, char** argv) {
  // A reader that goes away is a failed write with a reason, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return weft::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("weft: internal error: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: internal error: %s\n", e.what());
  } catch (...) {
    std::fputs("weft: internal error: unknown exception\n", stderr);
  }
  return weft::cli::kExitInternal;
}
