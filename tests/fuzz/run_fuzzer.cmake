# SPDX-License-Identifier: BSD-3-Clause
# Runs one fuzzer for SECONDS on a scratch copy of its corpus, so that what it finds never lands in the source tree.
# A failing input stays in SCRATCH/found for a look and a place in the corpus.
file(GLOB seeds ${CORPUS}/*)
list(LENGTH seeds count)
if(count EQUAL 0)
  message(FATAL_ERROR "fuzzer ${NAME} has no seeds in ${CORPUS}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH}/corpus ${SCRATCH}/found)
file(COPY ${seeds} DESTINATION ${SCRATCH}/corpus)
set(options -max_total_time=${SECONDS} -seed=20261 -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1
            -artifact_prefix=${SCRATCH}/found/)
if(EXISTS ${DICT})
  list(APPEND options -dict=${DICT})
endif()
execute_process(COMMAND ${PROGRAM} ${options} ${SCRATCH}/corpus RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  file(GLOB found ${SCRATCH}/found/*)
  message(FATAL_ERROR "fuzzer ${NAME} failed (${result}); input: ${found}")
endif()
