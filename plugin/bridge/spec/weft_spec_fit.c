/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SPEC against the job that it came with. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "weft_spec.h"

struct report {
  char* text;
  size_t size;
};

static int refuse(const struct report* to, const char* format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(const struct report* to, const char* format, ...) {
  va_list args;
  if (to->text == NULL || to->size == 0) return -1;
  va_start(args, format);
  (void)vsnprintf(to->text, to->size, format, args);
  va_end(args);
  return -1;
}

/* "16 nodes, 128 GPUs and 16 tasks" */
static void describe(const struct weft_spec_job* job, char* buffer, size_t size) {
  size_t used = 0;
  const struct {
    uint64_t count;
    const char* word;
  } parts[] = {{job->nodes, "node"},
               {job->gpus != 0 || job->tasks != 0 ? job->gpus : (uint64_t)job->nodes * job->node_gpus, "GPU"},
               {job->tasks, "task"}};
  int left = 0;
  for (int i = 0; i < 3; ++i) left += parts[i].count != 0;
  for (int i = 0, said = 0; i < 3 && used < size; ++i) {
    if (parts[i].count == 0) continue;
    --left;
    const int n = snprintf(buffer + used, size - used, "%s%" PRIu64 " %s%s",
                           said == 0   ? ""
                           : left == 0 ? " and "
                                       : ", ",
                           parts[i].count, parts[i].word, parts[i].count == 1 ? "" : "s");
    if (n > 0) used += (size_t)n;
    said = 1;
  }
  if (used == 0 && size > 0) buffer[0] = '\0';
}

static int check_experts(const struct weft_spec* spec, uint32_t dp, const struct report* to) {
  const uint64_t experts = (uint64_t)dp * spec->size[WEFT_DIM_CP];
  if (experts % spec->size[WEFT_DIM_EP] == 0) return 0;
  return refuse(to, "ep %u does not divide dp %u x cp %u = %" PRIu64, spec->size[WEFT_DIM_EP], dp,
                spec->size[WEFT_DIM_CP], experts);
}

int weft_spec_fit(const struct weft_spec* spec, const struct weft_spec_job* job, uint32_t* ranks, uint32_t* dp,
                  char* error, size_t error_size) {
  const struct report to = {error, error_size};
  const uint64_t inner =
      (uint64_t)spec->size[WEFT_DIM_TP] * spec->size[WEFT_DIM_CP] * spec->size[WEFT_DIM_PP]; /* parsed: at most 2^22 */
  const uint64_t assumed = job->gpus == 0 && job->tasks == 0 ? (uint64_t)job->nodes * job->node_gpus : 0;
  char sizes[96], has[128];
  describe(job, has, sizeof(has));
  (void)snprintf(sizes, sizeof(sizes), "tp %u x cp %u x pp %u", spec->size[WEFT_DIM_TP], spec->size[WEFT_DIM_CP],
                 spec->size[WEFT_DIM_PP]);
  uint64_t total = 0, own_dp = spec->size[WEFT_DIM_DP];
  if (spec->given[WEFT_DIM_DP]) {
    total = inner * own_dp;
    if (total != job->gpus && total != job->tasks && total != assumed)
      return refuse(&to, "%s x dp %u = %" PRIu64 " ranks, but the job has %s", sizes, spec->size[WEFT_DIM_DP], total,
                    has);
  } else {
    total = job->gpus != 0 ? job->gpus : job->tasks != 0 ? job->tasks : assumed;
    if (total == 0 || total > WEFT_SPEC_MAX_RANKS)
      return refuse(&to, "the job has %s: a layout takes 1 to %u ranks", has[0] != '\0' ? has : "no ranks",
                    WEFT_SPEC_MAX_RANKS);
    if (total % inner != 0)
      return refuse(&to, "%s = %" PRIu64 " does not divide %" PRIu64 " ranks; the job has %s", sizes, inner, total,
                    has);
    own_dp = total / inner;
  }
  if (job->nodes != 0 && total % job->nodes != 0)
    return refuse(&to, "%" PRIu64 " ranks do not divide over %u nodes", total, job->nodes);
  if (check_experts(spec, (uint32_t)own_dp, &to) != 0) return -1;
  *ranks = (uint32_t)total;
  *dp = (uint32_t)own_dp;
  return 0;
}
