/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * JobSubmitPlugins=weft: refuses a SPEC that does not fit its job, with the arithmetic, as the user submits it. A
 * topology plugin can only refuse a job with one of Slurm's own sentences; this hook has a text of its own. Optional.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off: config.h and the aliases of slurm_xlator.h come before all of Slurm's headers. */
#include "config.h"
#include "src/common/slurm_xlator.h"
/* clang-format on */

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/slurmctld.h"
#include "weft_job.h"
#include "weft_spec.h"

const char plugin_name[] = "job_submit weft plugin";
const char plugin_type[] = "job_submit/weft";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void) { return SLURM_SUCCESS; }

extern int fini(void) { return SLURM_SUCCESS; }

static uint32_t _known(uint32_t value) { return ((value == NO_VAL) || (value == INFINITE)) ? 0 : value; }

/* The job's size as far as it is settled before nodes are chosen. */
static struct weft_spec_job _size(const job_desc_msg_t* job) {
  struct weft_spec_job size = {0};
  uint32_t least = _known(job->min_nodes), most = _known(job->max_nodes);
  uint32_t per_node =
      ((job->ntasks_per_node == NO_VAL16) || (job->ntasks_per_node == INFINITE16)) ? 0 : job->ntasks_per_node;

  if (least && (!most || (most == least))) size.nodes = least;
  size.tasks = _known(job->num_tasks);
  if (!size.tasks && per_node) size.tasks = (uint64_t)per_node * size.nodes;
  size.gpus = weft_gpus(job->tres_per_job);
  if (!size.gpus) size.gpus = (uint64_t)weft_gpus(job->tres_per_node) * size.nodes;
  if (!size.gpus) size.gpus = weft_gpus(job->tres_per_task) * size.tasks;
  return size;
}

static int _check(const job_desc_msg_t* job, char** err_msg) {
  char message[WEFT_SPEC_MESSAGE] = "";
  const char* text = NULL;
  size_t length = 0;
  struct weft_spec spec;
  struct weft_spec_job size = _size(job);
  uint32_t ranks, dp;

  weft_find_spec(job->extra, job->spank_job_env, _known(job->spank_job_env_size), &text, &length);
  if (!text) return SLURM_SUCCESS;
  if (weft_spec_parse(text, length, &spec, message, sizeof(message)) != 0) {
    *err_msg = xstrdup_printf("weft: %s", message);
    return ESLURM_REQUESTED_TOPO_CONFIG_UNAVAILABLE;
  }
  /* A range of nodes is settled with them, later. */
  if ((size.nodes || size.gpus) && (weft_spec_fit(&spec, &size, &ranks, &dp, message, sizeof(message)) != 0) &&
      (size.gpus || size.tasks)) {
    *err_msg = xstrdup_printf("weft: %s", message);
    return ESLURM_REQUESTED_TOPO_CONFIG_UNAVAILABLE;
  }
  return SLURM_SUCCESS;
}

extern int job_submit(job_desc_msg_t* job_desc, uint32_t submit_uid, char** err_msg) {
  return _check(job_desc, err_msg);
}

extern int job_modify(job_desc_msg_t* job_desc, job_record_t* job_ptr, uint32_t submit_uid, char** err_msg) {
  char message[WEFT_SPEC_MESSAGE] = "";
  const char* text = NULL;
  size_t length = 0;
  struct weft_spec spec;

  /* Only the text: the sizes may be in the record or in the change. */
  weft_find_spec(job_desc->extra, NULL, 0, &text, &length);
  if (text && (weft_spec_parse(text, length, &spec, message, sizeof(message)) != 0)) {
    *err_msg = xstrdup_printf("weft: %s", message);
    return ESLURM_REQUESTED_TOPO_CONFIG_UNAVAILABLE;
  }
  return SLURM_SUCCESS;
}
