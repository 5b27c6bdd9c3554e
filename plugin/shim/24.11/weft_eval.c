/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * topology_p_eval_nodes(): Weft picks the nodes, Slurm's own code hands out CPUs, GPUs and cores on them.
 *
 * slurmctld asks several times a job (submission, main and backfill scheduler, --test-only) and never says for what; it
 * holds its locks meanwhile. So nothing here waits or reads a file, every answer stands alone, and whatever goes wrong
 * ends in the selection that Slurm would have made without a plugin.
 */
#include "weft_shim.h"

/* What common_topo_choose_nodes() changes, kept for a second try. It copies the core map of every node that it is
 * shown, twelve thousand on a large cluster; so it is shown those of the chosen nodes alone. */
typedef struct {
  bitstr_t* node_map;
  bitstr_t** all_cores; /* the caller's */
  bitstr_t** cores;     /* those of the chosen nodes, NULL elsewhere: not copies */
  bitstr_t** before;    /* copies of them */
  uint32_t max_nodes;
} saved_t;

static void _show_chosen(topology_eval_t* eval, const struct weft_choice* choice) {
  bit_clear_all(eval->node_map);
  for (uint32_t i = 0; i < choice->node_count; i++) bit_set(eval->node_map, choice->nodes[i]);
}

static saved_t _narrow(topology_eval_t* eval, const struct weft_choice* choice) {
  saved_t saved = {.node_map = bit_copy(eval->node_map), .all_cores = eval->avail_core, .max_nodes = eval->max_nodes};

  if (eval->avail_core) {
    saved.cores = xcalloc(node_record_count, sizeof(*saved.cores));
    for (uint32_t i = 0; i < choice->node_count; i++)
      saved.cores[choice->nodes[i]] = eval->avail_core[choice->nodes[i]];
    saved.before = copy_core_array(saved.cores);
    eval->avail_core = saved.cores;
  }
  _show_chosen(eval, choice);
  return saved;
}

static void _widen(topology_eval_t* eval, const saved_t* saved) {
  bit_copybits(eval->node_map, saved->node_map);
  if (saved->before) core_array_or(eval->avail_core, saved->before);
  eval->max_nodes = saved->max_nodes;
}

static void _drop(saved_t* saved) {
  FREE_NULL_BITMAP(saved->node_map);
  free_core_array(&saved->before);
  xfree(saved->cores);
}

/* Orders of an administrator or a user that ask for another way to select than by topology; as in eval_nodes(). */
static bool _asks_for_stock(const topology_eval_t* eval) {
  const job_record_t* job = eval->job_ptr;

  return (job->bit_flags & SPREAD_JOB) || (eval->cr_type & CR_LLN) ||
         (job->part_ptr && (job->part_ptr->flags & PART_FLAG_LLN));
}

static void _add_order(char** text, const topology_eval_t* eval, const uint32_t* nodes, size_t count);

static int _stock(topology_eval_t* eval) {
  int rc = common_topo_choose_nodes(eval);
  char* text = NULL;
  uint32_t* nodes;
  size_t count;

  if ((rc == SLURM_SUCCESS) && weft_engine()) {
    nodes = weft_indices(eval->node_map, &count);
    text = xstrdup("by=slurm");
    _add_order(&text, eval, nodes, count);
    xfree(nodes);
  }
  weft_note_placement(eval->job_ptr, text);
  xfree(text);
  return rc;
}

/* --switches=N@t: more leaves than N are fine once the job has waited for t seconds (as topology/tree). Patience is the
 * same for jobs that do not ask. */
static void _judge_waiting(job_record_t* job, const struct weft_choice* choice) {
  time_t now = time(NULL), waited;

  if (!job->wait4switch_start && (job->req_switch || choice->worth_waiting)) job->wait4switch_start = now;
  waited = now - job->wait4switch_start;
  if (job->req_switch && choice->switches_exceeded && (waited < (time_t)job->wait4switch)) {
    job->best_switch = false;
    weft_note_reason(job->job_id, "waiting for fewer leaf switches (--switches)");
  } else if (choice->worth_waiting && (waited < (time_t)choice->patience_seconds)) {
    job->best_switch = false;
    debug("weft: %pJ %s", job, choice->reason);
    weft_note_reason(job->job_id, choice->reason);
  }
}

/* " order=weft ranks=n[1-8],n[17-24]": what the SPANK plugin reads. `order=table`: ranks follow the node table anyhow,
 * so that srun needs no hostfile; but the table is in fabric order, which nobody outside knows, so the names are told
 * all the same. */
static void _add_order(char** text, const topology_eval_t* eval, const uint32_t* nodes, size_t count) {
  hostlist_t* order = hostlist_create(NULL);
  bool ascending = true, first = true;
  uint32_t last = 0;
  char* names;

  for (size_t i = 0; i < count; i++) {
    if (!bit_test(eval->node_map, nodes[i])) continue; /* Slurm needed fewer */
    ascending = ascending && (first || (nodes[i] > last));
    last = nodes[i];
    first = false;
    hostlist_push_host(order, node_record_table_ptr[nodes[i]]->name);
  }
  names = hostlist_ranged_string_xmalloc(order);
  xstrfmtcat(*text, " order=%s", ascending ? "table" : "weft");
  if (names && (strlen(names) <= WEFT_ORDER_MAX))
    xstrfmtcat(*text, " ranks=%s", names);
  else
    xstrcat(*text, " ranks=too_long");
  xfree(names);
  FREE_NULL_HOSTLIST(order);
}

static char* _placement_text(const topology_eval_t* eval, const struct weft_choice* choice) {
  char* text = xstrdup(choice->summary);

  if (choice->ranks_per_node) xstrfmtcat(text, " ranks_per_node=%u", choice->ranks_per_node);
  _add_order(&text, eval, choice->nodes, choice->node_count);
  return text;
}

/* Slurm's code on the nodes that it is shown, each held to the chosen GPUs (or not). */
static int _on_chosen(topology_eval_t* eval, const struct weft_choice* choice, bool hold) {
  weft_kept_gpus_t** kept = xcalloc(choice->node_count + 1, sizeof(*kept));
  int rc;

  for (uint32_t i = 0; hold && (i < choice->node_count); i++)
    kept[i] = weft_hold_to_gpus(eval->avail_res_array[choice->nodes[i]], choice->gpus[i]);
  rc = common_topo_choose_nodes(eval);
  for (uint32_t i = 0; hold && (i < choice->node_count); i++) {
    if (kept[i] && (rc != SLURM_SUCCESS)) weft_release_gpus(kept[i]);
    weft_drop_gpus(kept[i]);
  }
  xfree(kept);
  return rc;
}

/*
 * When a job cannot run now Slurm asks once more, with all nodes that the job could ever have, and holds the job
 * (refuses it at submission) if it gets none even then. So a job that waits for a repair of the fabric needs a yes to
 * that question. The hook does not say which question it is: for whole nodes, some of them busy, it can be no other.
 */
static bool _asks_for_ever(const topology_eval_t* eval) {
  return (eval->job_ptr->details->whole_node & WHOLE_NODE_REQUIRED) && !slurm_preemption_enabled() &&
         idle_node_bitmap && !bit_super_set(eval->node_map, idle_node_bitmap);
}

/* The job gets `choice`, or Slurm's code says why it cannot. */
static int _take(topology_eval_t* eval, const weft_question_t* question, const struct weft_choice* choice) {
  job_record_t* job = eval->job_ptr;
  bool ever = _asks_for_ever(eval); /* of all nodes on offer */
  saved_t saved = _narrow(eval, choice);
  int rc = _on_chosen(eval, choice, choice->gpus_said);
  char* text;

  if ((rc != SLURM_SUCCESS) && choice->gpus_said) {
    debug("weft: %pJ: Slurm cannot use the GPUs chosen, others on the same nodes", job);
    _widen(eval, &saved);
    _show_chosen(eval, choice);
    rc = _on_chosen(eval, choice, false);
  }
  eval->avail_core = saved.all_cores;
  if (rc == SLURM_SUCCESS) {
    _judge_waiting(job, choice);
    /* A job that waits claims no placement. */
    text = (job->best_switch && !ever) ? _placement_text(eval, choice) : NULL;
    weft_note_placement(job, text);
    xfree(text);
    if (job->best_switch) weft_api()->outcome(weft_engine(), choice->decision, 1, NULL);
  } else if (question->request.spec) {
    /* The user's own constraints: nodes that break them are no way out. */
    weft_note_placement(job, NULL);
    weft_note_reason(job->job_id, "Slurm cannot lay the job out on the nodes that fit its weft SPEC");
    weft_api()->outcome(weft_engine(), choice->decision, 0, "refused by Slurm");
  } else {
    debug("weft: %pJ: Slurm cannot use the %u nodes chosen, stock selection", job, choice->node_count);
    weft_api()->outcome(weft_engine(), choice->decision, 0, "refused by Slurm");
    _widen(eval, &saved);
    rc = _stock(eval);
  }
  _drop(&saved);
  return rc;
}

/* Faults of ours, once a kind at full voice: a job a second would drown the log. */
static void _complain(const job_record_t* job, const struct weft_choice* choice) {
  static uint32_t told;

  switch (choice->cause) {
    case WEFT_CAUSE_UNBOUND:
    case WEFT_CAUSE_DEADLINE:
    case WEFT_CAUSE_INTERNAL:
    case WEFT_CAUSE_REQUEST:
      if (!(told & (1u << choice->cause)))
        error("weft: %pJ: %s; stock selection (further ones of this kind at debug level)", job, choice->reason);
      told |= 1u << choice->cause;
      break;
  }
  debug("weft: %pJ: stock selection: %s", job, choice->reason);
}

static int _not_now(topology_eval_t* eval, const weft_question_t* question) {
  const struct weft_request* request = &question->request;

  if (request->usable_count < request->possible_count) return ESLURM_NODES_BUSY;
  if (_asks_for_ever(eval)) return common_topo_choose_nodes(eval);
  /* All are on offer already: of all errors that of licenses alone leaves a job waiting whatever comes next. */
  return ESLURM_LICENSES_UNAVAILABLE;
}

/* A submission is tried several times over. */
static void _tell_never(const job_record_t* job, const struct weft_choice* choice) {
  static uint32_t told;

  if (told != job->job_id)
    info("weft: %pJ can never run: %s", job, choice->reason);
  else
    debug("weft: %pJ can never run: %s", job, choice->reason);
  told = job->job_id;
}

static int _answer(topology_eval_t* eval, const weft_question_t* question, const struct weft_choice* choice) {
  job_record_t* job = eval->job_ptr;

  switch (choice->verdict) {
    case WEFT_PLACED:
      for (uint32_t i = 0; i < choice->node_count; i++)
        if ((choice->nodes[i] >= (uint32_t)node_record_count) || !bit_test(eval->node_map, choice->nodes[i])) {
          error("weft: %pJ: node index %u was not on offer; stock selection", job, choice->nodes[i]);
          return _stock(eval);
        }
      return _take(eval, question, choice);
    case WEFT_NOT_NOW:
      debug("weft: %pJ waits: %s", job, choice->reason);
      weft_note_placement(job, NULL);
      weft_note_reason(job->job_id, choice->reason);
      return _not_now(eval, question);
    case WEFT_NEVER:
      _tell_never(job, choice);
      weft_note_placement(job, NULL);
      weft_note_reason(job->job_id, choice->reason);
      return ESLURM_REQUESTED_TOPO_CONFIG_UNAVAILABLE;
    default: _complain(job, choice); return _stock(eval);
  }
}

extern int weft_eval(topology_eval_t* eval) {
  struct weft_choice choice = {.size = sizeof(choice)};
  weft_question_t question;
  weft_bridge* engine;
  int rc;

  eval->eval_nodes = NULL;
  eval->trump_others = false;
  eval->job_ptr->best_switch = true; /* else an earlier answer's stays, whoever gives this one */
  if (!(engine = weft_engine()) || _asks_for_stock(eval)) return _stock(eval);
  weft_question_init(&question, eval);
  choice.nodes = xcalloc(question.request.usable_count + 1, sizeof(*choice.nodes));
  choice.gpus = xcalloc(question.request.usable_count + 1, sizeof(*choice.gpus));
  choice.nodes_size = question.request.usable_count;
  if (weft_api()->choose(engine, &question.request, &choice) != WEFT_OK) {
    choice.verdict = WEFT_DELEGATE;
    choice.cause = WEFT_CAUSE_REQUEST;
    strlcpy(choice.reason, "the bridge did not understand the request", sizeof(choice.reason));
  }
  rc = _answer(eval, &question, &choice);
  xfree(choice.nodes);
  xfree(choice.gpus);
  weft_question_free(&question);
  return rc;
}
