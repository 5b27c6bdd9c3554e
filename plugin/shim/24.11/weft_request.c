/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A job as a request to the bridge: Slurm's words for sizes into plain numbers, bitmaps into indices.
 */
#include "weft_job.h"
#include "weft_shim.h"

static uint32_t _known(uint32_t value) { return ((value == NO_VAL) || (value == INFINITE)) ? 0 : value; }

static uint32_t _known16(uint16_t value) { return ((value == NO_VAL16) || (value == INFINITE16)) ? 0 : value; }

/* Whose turn it is in Slurm's own order: equal for all where an administrator set no weights. The values have the
 * weight in their upper bits and what a node costs to bring up in the lower ones, and may be wider than the bridge's:
 * ranks will do. */
static uint32_t* _weights(const uint32_t* usable, size_t count) {
  uint32_t* rank;
  uint64_t last = 0, next;
  bool equal = true, wide = false;

  for (size_t i = 0; i < count; i++) {
    uint64_t weight = node_record_table_ptr[usable[i]]->sched_weight;
    equal = equal && (weight == node_record_table_ptr[usable[0]]->sched_weight);
    wide = wide || (weight > UINT32_MAX);
  }
  if (equal) return NULL;
  rank = xcalloc(count, sizeof(*rank));
  if (!wide) {
    for (size_t i = 0; i < count; i++) rank[i] = node_record_table_ptr[usable[i]]->sched_weight;
    return rank;
  }
  /* One pass a distinct weight; a cluster has a handful. */
  for (uint32_t level = 1;; level++, last = next) {
    next = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
      uint64_t weight = node_record_table_ptr[usable[i]]->sched_weight;
      if (((level == 1) || (weight > last)) && (weight < next)) next = weight;
    }
    if (next == UINT64_MAX) return rank;
    for (size_t i = 0; i < count; i++)
      if (node_record_table_ptr[usable[i]]->sched_weight == next) rank[i] = level;
  }
}

/* The nodes of a job's partition without those that the user excludes; NULL where it has no partition. */
static bitstr_t* _partition_map(const job_record_t* job) {
  bitstr_t* map;

  if (!job->part_ptr || !job->part_ptr->node_bitmap) return NULL;
  map = bit_copy(job->part_ptr->node_bitmap);
  if (job->details->exc_node_bitmap) bit_and_not(map, job->details->exc_node_bitmap);
  return map;
}

/* Nodes that the job could have in another hour. */
static uint32_t* _possible(const job_record_t* job, size_t* count) {
  bitstr_t* map = _partition_map(job);
  uint32_t* list;

  if (!map) return NULL;
  list = weft_indices(map, count);
  FREE_NULL_BITMAP(map);
  return list;
}

static int _and_feature(void* x, void* arg) {
  const job_feature_t* feature = x;
  bitstr_t* map = arg;
  bool plain = ((feature->op_code == FEATURE_OP_AND) || (feature->op_code == FEATURE_OP_END)) && !feature->count &&
               !feature->paren && !feature->bracket;

  if (!plain || !feature->node_bitmap_avail) return -1;
  bit_and(map, feature->node_bitmap_avail);
  return 0;
}

/* Nodes that the job could have today if nobody else were there. NULL where it asks for more than features that all of
 * its nodes have: then Weft cannot know. */
static uint32_t* _reach(const topology_eval_t* eval, size_t* count) {
  const job_record_t* job = eval->job_ptr;
  const job_details_t* details = job->details;
  bitstr_t* map = _partition_map(job);
  uint32_t* list = NULL;
  size_t all, kept = 0;

  if (!map) return NULL;
  if (job->resv_ptr && job->resv_ptr->node_bitmap) bit_and(map, job->resv_ptr->node_bitmap);
  if (!details->feature_list || (list_for_each_ro(details->feature_list, _and_feature, map) >= 0)) {
    bit_or(map, eval->node_map);
    list = weft_indices(map, &all);
    for (size_t i = 0; i < all; i++) {
      const node_record_t* node = node_record_table_ptr[list[i]];
      if (bit_test(eval->node_map, list[i]) ||
          (node && !IS_NODE_DOWN(node) && !IS_NODE_DRAIN(node) && !IS_NODE_FAIL(node)))
        list[kept++] = list[i];
    }
    *count = kept;
  }
  FREE_NULL_BITMAP(map);
  return list;
}

/* Nodes that common_topo_choose_nodes() will keep. */
static bool _keeps(const topology_eval_t* eval, int node) {
  const job_details_t* details = eval->job_ptr->details;
  const avail_res_t* avail = eval->avail_res_array[node];

  if (!node_record_table_ptr[node] || !avail || (avail->avail_cpus < 1)) return false;
  return !(details->whole_node & WHOLE_NODE_REQUIRED) || (details->max_cpus == NO_VAL) ||
         (details->max_cpus >= avail->avail_cpus);
}

static void _fill_nodes(weft_question_t* question, const topology_eval_t* eval) {
  struct weft_request* request = &question->request;
  const job_details_t* details = eval->job_ptr->details;
  size_t all, kept = 0;

  question->usable = weft_indices(eval->node_map, &all);
  question->cpus = xcalloc(all + 1, sizeof(*question->cpus));
  question->gpus = xcalloc(all + 1, sizeof(*question->gpus));
  for (size_t i = 0; i < all; i++) {
    uint32_t node = question->usable[i];
    if (!_keeps(eval, node)) continue;
    question->usable[kept] = node;
    question->cpus[kept] = eval->avail_res_array[node]->avail_cpus;
    question->gpus[kept] = eval->avail_res_array[node]->avail_gpus;
    kept++;
  }
  if (details->req_node_bitmap) question->required = weft_indices(details->req_node_bitmap, &request->required_count);
  question->possible = _possible(eval->job_ptr, &request->possible_count);
  if (weft_api()->patient(weft_engine(), request->spec, request->spec_length))
    question->reach = _reach(eval, &request->reach_count);
  question->weights = _weights(question->usable, kept);
  request->usable = question->usable;
  request->usable_count = kept;
  request->required = question->required;
  request->possible = question->possible;
  request->reach = question->reach;
  request->weights = question->weights;
}

/* Whole nodes come with all that they have. */
static void _fill_free_gpus(weft_question_t* question, const topology_eval_t* eval) {
  struct weft_request* request = &question->request;
  uint64_t wanted =
      request->gpus_per_node ? request->gpus_per_node : (uint64_t)request->gpus_per_task * request->tasks_per_node;

  if (!wanted || (wanted > UINT32_MAX) || (eval->job_ptr->details->whole_node & WHOLE_NODE_REQUIRED)) return;
  question->free_gpus = xcalloc(request->usable_count + 1, sizeof(*question->free_gpus));
  for (size_t i = 0; i < request->usable_count; i++)
    question->free_gpus[i] = weft_free_gpus(eval->avail_res_array[question->usable[i]], wanted);
  request->free_gpus = question->free_gpus;
}

static void _fill_size(weft_question_t* question, const topology_eval_t* eval) {
  struct weft_request* request = &question->request;
  const job_record_t* job = eval->job_ptr;
  const job_details_t* details = job->details;

  request->min_nodes = eval->min_nodes;
  request->req_nodes = eval->req_nodes;
  request->max_nodes = eval->max_nodes;
  request->tasks = _known(details->num_tasks);
  request->tasks_per_node = _known16(details->ntasks_per_node);
  /* As common_topo_choose_nodes() does it: no node without a task. */
  if (request->tasks && !request->tasks_per_node && (request->max_nodes > request->tasks))
    request->max_nodes = MAX(request->tasks, request->min_nodes);
  request->gpus = weft_gpus(job->tres_per_job);
  request->gpus_per_node = weft_gpus(job->tres_per_node);
  request->gpus_per_task = weft_gpus(job->tres_per_task);
  if (!details->overcommit && details->min_cpus) {
    request->node_cpus = question->cpus;
    request->need_cpus = details->min_cpus;
  }
  request->need_gpus = request->gpus ? request->gpus : (uint64_t)request->gpus_per_task * request->tasks;
  if (request->need_gpus) request->node_gpus = question->gpus;
  _fill_free_gpus(question, eval);
}

extern void weft_question_init(weft_question_t* question, const topology_eval_t* eval) {
  const job_record_t* job = eval->job_ptr;
  struct weft_request* request = &question->request;

  memset(question, 0, sizeof(*question));
  request->size = sizeof(*request);
  request->mode = WEFT_MODE_UNKNOWN; /* the hook does not say */
  request->job_id = job->job_id;
  if (job->array_job_id) {
    request->array_job_id = job->array_job_id;
    request->array_task_id = (job->array_task_id == NO_VAL) ? 0 : job->array_task_id;
  }
  request->het_job_id = job->het_job_id;
  request->het_offset = job->het_job_offset;
  if (job->details->contiguous) request->flags |= WEFT_REQ_CONTIGUOUS;
  if (job->bit_flags & SPREAD_JOB) request->flags |= WEFT_REQ_SPREAD;
  if (IS_JOB_WHOLE_TOPO(job)) request->flags |= WEFT_REQ_EXCLUSIVE_TOPO;
  request->max_switches = _known(job->req_switch);
  request->segment = _known16(job->details->segment_size);
  if (weft_find_spec(job->extra, job->spank_job_env, job->spank_job_env_size, &request->spec, &request->spec_length))
    request->flags |= WEFT_REQ_SPEC_FROM_EXTRA;
  _fill_nodes(question, eval);
  _fill_size(question, eval);
}

extern void weft_question_free(weft_question_t* question) {
  xfree(question->usable);
  xfree(question->required);
  xfree(question->possible);
  xfree(question->reach);
  xfree(question->cpus);
  xfree(question->gpus);
  xfree(question->free_gpus);
  xfree(question->weights);
}
