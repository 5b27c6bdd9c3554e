/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bridge: what slurmctld asks of Weft, in plain C.
 *
 * DESCRIPTION
 *   libweft_slurm.so holds the whole engine behind these functions. The C shim (plugin/shim), which alone knows Slurm's
 *   headers, dlopens it inside slurmctld, and only there, takes weft_bridge_get_api() and calls through the table.
 *   Nothing here knows a Slurm type: nodes are indices into the node table that bind() was given, sets are ascending
 *   arrays of indices, texts are NUL-terminated bytes.
 *
 * PROMISES
 *   - No function throws, exits, prints or raises a signal. A null handle or a null required pointer is answered by
 *     WEFT_EINVAL (or a DELEGATE verdict), never by a crash. Out of memory is a result like any other.
 *   - Whatever a user wrote reaches messages only escaped: printable ASCII, bounded, no line ends.
 *   - No file is read and nothing waits under choose(), whole_domains(), route() and their kind: files are read by
 *     open() alone, the decision log is written by a thread of its own over a bounded queue.
 *   - The same inputs give the same bytes out, on every machine; only the wall-clock safety net may turn a choice into
 *     a DELEGATE, and then says so.
 *
 * THREADS
 *   open, bind and close belong to one thread at a time; everything else may be called from any number of threads at
 *   once, also while bind() replaces the node table (a call sees the old table or the new one, never a mix). The log
 *   callback may be called from any thread, the background writer's among them.
 *
 * MEMORY
 *   Arrays and buffers in a request are the caller's and are not kept. Output arrays are the caller's too, with their
 *   capacity beside them. What the library hands out is a weft_bridge or a weft_bridge_topology, each with its free.
 */
#ifndef WEFT_BRIDGE_H
#define WEFT_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define WEFT_NOEXCEPT noexcept
extern "C" {
#else
#define WEFT_NOEXCEPT
#endif

#ifdef __GNUC__ /* exported, though all else in the library is hidden */
#pragma GCC visibility push(default)
#endif

#define WEFT_BRIDGE_ABI 3u      /* changes with any change of a struct or a signature */
#define WEFT_TEXT_MAX 512u      /* bytes of a message or summary, its NUL among them */
#define WEFT_ERROR_MAX 2048u    /* bytes of an error with its line and caret, NUL among them */
#define WEFT_SPEC_MAX 4096u     /* longest SPEC taken, without a NUL */
#define WEFT_NO_NODE UINT32_MAX /* "no node" where an index is asked for */

/* What functions return. 0 is success, everything else negative. */
enum weft_status {
  WEFT_OK = 0,
  WEFT_EINVAL = -1,   /* a null pointer, an index past the table, an unsorted set */
  WEFT_EFILE = -2,    /* weft.yaml or a file it names cannot be read or is wrong; the error text says where */
  WEFT_EUNBOUND = -3, /* bind() has not succeeded yet */
  WEFT_ENOTFOUND = -4,
  WEFT_ESPACE = -5,   /* the caller's array is too small; the needed size has been stored */
  WEFT_EINTERNAL = -6 /* a bug or out of memory; logged */
};

enum weft_log_level { WEFT_LOG_ERROR = 1, WEFT_LOG_INFO = 2, WEFT_LOG_DEBUG = 3 };

/* One message, one line or (error with caret) a few; escaped, at most WEFT_ERROR_MAX bytes. Must not call back. */
typedef void (*weft_log_fn)(void* user, enum weft_log_level level, const char* message);

typedef struct weft_bridge weft_bridge;
typedef struct weft_bridge_topology weft_bridge_topology;

/* Reads weft.yaml and the files that it names (relative to it). On success *out is a bridge, to be closed. On
 * WEFT_EFILE `error` (may be NULL, `error_size` bytes) holds file:line:column, the reason and the line with a caret.
 * `log` may be NULL. Notes about the files (assumptions, oddities) go to the log. Reads files, takes up to seconds on
 * large fabrics: call it from init or build_config, not under a job's evaluation. Each call to `out` is independent:
 * two bridges may live side by side, so a reload can be tried before the old one is closed. */
int weft_bridge_open(const char* weft_yaml, weft_log_fn log, void* log_user, weft_bridge** out, char* error,
                     size_t error_size) WEFT_NOEXCEPT;

/* Waits for the decision log to be written out (at most 2 s) and frees everything. NULL is allowed. */
void weft_bridge_close(weft_bridge* bridge) WEFT_NOEXCEPT;

/* The program's version, "0.1.0". Static. */
const char* weft_bridge_version(void) WEFT_NOEXCEPT;

struct weft_bind_report {
  uint32_t bound;                      /* nodes that both know */
  uint32_t only_slurm;                 /* nodes of the table that the fabric does not have */
  uint32_t only_fabric;                /* nodes of the fabric that the table does not have */
  char only_slurm_list[WEFT_TEXT_MAX]; /* as a hostlist, cut with "..." where it is longer */
  char only_fabric_list[WEFT_TEXT_MAX];
};

/* Ties table indices to fabric nodes by name. names[i] may be NULL (a hole in the table). May be called again when
 * nodes are added or removed. Differences are no error: they are logged once a bind and reported; such nodes are left
 * to stock selection. `report` may be NULL. */
int weft_bridge_bind(weft_bridge* bridge, size_t count, const char* const* names,
                     struct weft_bind_report* report) WEFT_NOEXCEPT;

/* rank[i] >= 1 for every i: fabric order first (nodes of a leaf side by side, leaves of a pod side by side), then nodes
 * that the fabric does not know, in table order, then holes. Ranks are unique. Needs no bind: for
 * topology_p_generate_node_ranking, which comes first. */
int weft_bridge_node_ranks(const weft_bridge* bridge, size_t count, const char* const* names,
                           uint32_t* rank) WEFT_NOEXCEPT;

enum weft_verdict {
  WEFT_PLACED = 0,   /* restrict the job to `nodes` */
  WEFT_DELEGATE = 1, /* let stock selection run on all usable nodes; `reason` says why (may be empty: nothing to say) */
  WEFT_NOT_NOW = 2,  /* the job must wait; `reason` in words for squeue */
  WEFT_NEVER = 3     /* no state of the cluster would do, or the SPEC is wrong; refuse at submission with `reason` */
};

/* Why, for the shim to switch on and for counters. */
enum weft_cause {
  WEFT_CAUSE_NONE = 0,
  WEFT_CAUSE_UNBOUND = 1,    /* delegate: no node table yet */
  WEFT_CAUSE_FOREIGN = 2,    /* delegate: required or too many usable nodes are not in the fabric */
  WEFT_CAUSE_MIXED = 3,      /* delegate: no SPEC, no GPUs asked for, and usable nodes that the fabric does not know */
  WEFT_CAUSE_DEADLINE = 4,   /* delegate: the wall-clock net */
  WEFT_CAUSE_INTERNAL = 5,   /* delegate: exception, out of memory, a broken invariant */
  WEFT_CAUSE_REQUEST = 6,    /* delegate: the request itself contradicts the table (a bug of the caller) */
  WEFT_CAUSE_SPEC = 7,       /* never: SPEC malformed, or it contradicts the job; the arithmetic is in the reason */
  WEFT_CAUSE_CONSTRAINT = 8, /* not now or never: max_leaves, segment, exclusive ... cannot be met */
  WEFT_CAUSE_CAPACITY = 9,   /* delegate or not now: too few usable nodes or resources; Slurm has the better word */
  WEFT_CAUSE_SPREAD = 10     /* delegate: --spread-job asks for the opposite of what Weft does */
};

enum weft_mode {
  WEFT_MODE_UNKNOWN = 0,
  WEFT_MODE_RUN_NOW = 1,
  WEFT_MODE_WILL_RUN = 2, /* backfill, --test-only, expected start */
  WEFT_MODE_SUBMIT = 3    /* can it ever run? usable holds all nodes of the partition that fit */
};

/* Request flags. */
#define WEFT_REQ_CONTIGUOUS 0x1u      /* --contiguous: neighbours in the node table's order */
#define WEFT_REQ_SPREAD 0x2u          /* --spread-job */
#define WEFT_REQ_EXCLUSIVE_TOPO 0x4u  /* --exclusive=topo: whole leaf domains, shared with nobody */
#define WEFT_REQ_SPEC_FROM_EXTRA 0x8u /* the SPEC came from --extra, else from SPANK (for the log and messages) */

/* What the job is and which nodes it may have. Zero means "not said" wherever a number may be absent. Zero the struct,
 * set `size` = sizeof, then fill. */
struct weft_request {
  uint32_t size;
  uint32_t mode;  /* enum weft_mode */
  uint32_t flags; /* WEFT_REQ_* */
  uint32_t job_id;
  uint32_t array_job_id, array_task_id; /* array_job_id 0: no array job */
  uint32_t het_job_id, het_offset;      /* het_job_id 0: no het job */

  const char* spec; /* not NUL-terminated; NULL where the user said nothing. Hostile until checked here. */
  size_t spec_length;

  /* Node table indices, strictly ascending. */
  const uint32_t* usable; /* nodes that Slurm would accept now */
  size_t usable_count;
  const uint32_t* required; /* --nodelist; each also in usable. All of them will be in the answer. */
  size_t required_count;
  /* Nodes that the job could ever have (its partition, features and so on, busy and down ones too): tells "not now"
   * from "never". NULL: every node of the table. */
  const uint32_t* possible;
  size_t possible_count;
  /* Nodes that the job could have today if it were alone: those that are up, with its features, in its reservation;
   * each usable one among them. For patience (see worth_waiting); NULL: not known, then the job does not wait. */
  const uint32_t* reach;
  size_t reach_count;

  uint32_t min_nodes, req_nodes, max_nodes; /* as in topology_eval_t. req_nodes 0: no wish, the fewest that do. */

  /* The job's size. Ranks of a SPEC are the job's GPUs where it asks for GPUs, else its tasks; a SPEC whose product
   * equals the tasks is taken too (one rank a task). */
  uint32_t tasks;          /* --ntasks, in all */
  uint32_t tasks_per_node; /* --ntasks-per-node */
  uint32_t gpus;           /* --gpus, in all */
  uint32_t gpus_per_node;
  uint32_t gpus_per_task;

  /* How many nodes are needed where only -n, -c or --gpus is given: what each usable node could give to this job,
   * parallel to `usable`, and how much the job needs in all. NULL or 0: does not limit. The chosen nodes sum to at
   * least that. */
  const uint32_t* node_cpus;
  uint64_t need_cpus;
  const uint32_t* node_gpus;
  uint64_t need_gpus;

  const uint32_t* weights; /* node Weight, parallel to usable; NULL: all equal */

  /* Which GPUs each usable node has for this job, parallel to `usable`: bit g is GPU g in the order of gres.conf, which
   * is to be that of the fabric's node type. 0: not known (all are taken to be free). NULL: not known of any. Looked at
   * where gpus_per_node, or gpus_per_task and tasks_per_node, say how many each node gives. */
  const uint64_t* free_gpus;

  uint32_t
      max_switches; /* --switches=N: leaves. 0: none. Soft: a choice that needs more says so in switches_exceeded */
  uint32_t segment; /* --segment: nodes. 0: none */

  uint64_t budget_steps; /* 0: weft.yaml's */
  uint64_t deadline_us;  /* 0: weft.yaml's */
};

/* The answer. Set `size`, `nodes` and `nodes_size`; choose() fills the rest. */
struct weft_choice {
  uint32_t size;
  uint32_t nodes_size; /* capacity of nodes, in entries; usable_count is always enough */
  uint32_t* nodes;     /* PLACED: indices in RANK ORDER, each once */
  uint32_t node_count;
  uint32_t gpus_said; /* 1: gpus[] has been filled */
  uint64_t* gpus;     /* nodes_size entries, or NULL. PLACED, and the request's free_gpus counted: the GPUs to take of
                       * nodes[i], as many of each as the job asks for; on one set of rails where that can be */

  uint32_t verdict; /* enum weft_verdict */
  uint32_t cause;   /* enum weft_cause */
  uint32_t ranks_per_node;
  uint32_t leaves, pods;       /* domains used; 0 where the fabric has no such level */
  uint32_t switches_exceeded;  /* 1: more leaves than max_switches (set best_switch = false) */
  uint32_t worth_waiting;      /* PLACED: 1: patience asks to wait for nearer nodes; `reason` says why */
  uint32_t patience_seconds;   /* and for so long at most */
  double cross_spine_bytes;    /* modelled, a step; 0 where the user gave no layout (see summary) */
  double gap;                  /* (value - bound) / bound of the objective's first term; negative: no bound known */
  uint64_t elapsed_us;         /* of the whole call */
  uint64_t decision;           /* number in the decision log, from 1; 0: not logged */
  char reason[WEFT_TEXT_MAX];  /* DELEGATE, NOT_NOW, NEVER: a sentence without a full stop. PLACED: empty, but
                                * where worth_waiting. */
  char summary[WEFT_TEXT_MAX]; /* PLACED: "leaves=4 pods=1 cross_spine=0B/step gap=0.00" for scontrol show job */
};

/* Chooses nodes and their rank order. Always fills `choice` (verdict DELEGATE on any fault) unless a pointer is NULL or
 * a `size` is wrong: then WEFT_EINVAL. Time is bounded by budget_steps; the deadline is checked too. */
int weft_bridge_choose(weft_bridge* bridge, const struct weft_request* request,
                       struct weft_choice* choice) WEFT_NOEXCEPT;

/* 1: a job with this SPEC (NULL: none) may be told to wait for nearer nodes, so its `reach` is worth finding out. */
int weft_bridge_patient(const weft_bridge* bridge, const char* spec, size_t length) WEFT_NOEXCEPT;

/* Told by the shim once Slurm's own code has had its say: the nodes that the job really got for decision `decision` (as
 * the decision log's second line about it; used by `weft stats` for fallbacks). `reason` NULL: taken as chosen. */
void weft_bridge_outcome(weft_bridge* bridge, uint64_t decision, int taken, const char* reason) WEFT_NOEXCEPT;

/* What the stock plugins offer. */

/* --exclusive=topo: the nodes of every leaf domain that a node of the set is in, ascending; nodes the fabric does not
 * know stand for themselves. WEFT_ESPACE where `size` is too small (*count is what is needed). In and out may not
 * overlap. */
int weft_bridge_whole_domains(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count, uint32_t* out,
                              size_t size, size_t* count) WEFT_NOEXCEPT;

/* Hostlist function: nodes below a switch (all that reach it going up only), or of a domain by its name (pod2, rack1).
 * Ascending. WEFT_ENOTFOUND where neither is called that. */
int weft_bridge_named_nodes(const weft_bridge* bridge, const char* name, uint32_t* out, size_t size,
                            size_t* count) WEFT_NOEXCEPT;

/* How broken up a set of available nodes is, counted as topology/block does: the sizes of all leaf and pod domains that
 * are not wholly in the set, summed. Less is better. 0 before bind. */
uint32_t weft_bridge_fragmentation(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count) WEFT_NOEXCEPT;

/* RouteTree: cuts a set into at most `width` groups of about equal size that follow the fabric's order and end with a
 * leaf where one ends near by. `nodes` any order; order[] (node_count entries) gets them group by group, start[] (width
 * + 1 entries) where each group begins and, last, node_count. *groups is their number, at least 1 for a non-empty set.
 * Nodes that the fabric does not know come last. *depth is the depth of the tree if every group is cut again in the
 * same way. */
int weft_bridge_route(const weft_bridge* bridge, const uint32_t* nodes, size_t node_count, uint32_t width,
                      uint32_t* order, uint32_t* start, uint32_t* groups, uint32_t* depth) WEFT_NOEXCEPT;

/* One switch for `scontrol show topology`. Strings live as long as the listing. */
struct weft_topology_record {
  const char* name;
  uint32_t tier; /* 1 = leaf */
  int up;
  const char* plane; /* "" where the fabric has one plane */
  const char* nodes; /* hostlist of the nodes below, "" for none; names as in the node table */
  uint32_t node_count;
  const char* switches;     /* hostlist of the switches one tier or more below that it is cabled to, "" for none */
  uint32_t links, links_up; /* cables */
  uint64_t bandwidth_mbps;  /* sum over cables that are up, one direction */
  const char* faults;       /* "down: PSU; link spine2 down", "" for none */
};

/* A listing of the bound fabric: switches by tier, then by name in the fabric's order. `node` and `sw` filter (NULL:
 * all): the switches above that node; that switch. NULL on failure or where the filter names nothing. Independent of
 * the bridge once made. */
weft_bridge_topology* weft_bridge_topology_new(const weft_bridge* bridge, const char* node,
                                               const char* sw) WEFT_NOEXCEPT;
size_t weft_bridge_topology_count(const weft_bridge_topology* topology) WEFT_NOEXCEPT;
const struct weft_topology_record* weft_bridge_topology_record(const weft_bridge_topology* topology,
                                                               size_t i) WEFT_NOEXCEPT;
/* "Fabric=... digest=... nodes=... bound=...": one line about the fabric and the counters below. */
const char* weft_bridge_topology_headline(const weft_bridge_topology* topology) WEFT_NOEXCEPT;
void weft_bridge_topology_free(weft_bridge_topology* topology) WEFT_NOEXCEPT;

struct weft_counters {
  uint64_t placed, delegated, not_now, never;
  uint64_t deadline_overruns, internal_faults;
  uint64_t log_written, log_dropped;
  uint64_t total_us, max_us; /* over all choose() calls */
};
int weft_bridge_get_counters(const weft_bridge* bridge, struct weft_counters* out) WEFT_NOEXCEPT;

/* Checks a SPEC's text alone (no job, no fabric). WEFT_OK, or WEFT_EINVAL with the reason in `error`. The SPANK plugin,
 * which must not load the engine, uses weft_spec_parse() of spec/weft_spec.h, a static library without dependencies:
 * the same parser. */
int weft_bridge_check_spec(const char* spec, size_t length, char* error, size_t error_size) WEFT_NOEXCEPT;

/* --weft=@job.yaml: reads a job file and writes it as a SPEC (NUL-terminated, at most WEFT_SPEC_MAX bytes). Needs no
 * bridge: the SPANK plugin dlopens the library on the submit host for this alone, and says which package is missing if
 * it cannot. WEFT_EFILE with the reason. What a SPEC cannot carry (matrix, algorithms) is refused, never dropped. */
int weft_bridge_job_to_spec(const char* job_yaml, char* spec, size_t spec_size, char* error,
                            size_t error_size) WEFT_NOEXCEPT;

struct weft_bridge_api {
  uint32_t abi;  /* WEFT_BRIDGE_ABI */
  uint32_t size; /* of this struct */
  int (*open)(const char*, weft_log_fn, void*, weft_bridge**, char*, size_t);
  void (*close)(weft_bridge*);
  const char* (*version)(void);
  int (*bind)(weft_bridge*, size_t, const char* const*, struct weft_bind_report*);
  int (*node_ranks)(const weft_bridge*, size_t, const char* const*, uint32_t*);
  int (*choose)(weft_bridge*, const struct weft_request*, struct weft_choice*);
  int (*patient)(const weft_bridge*, const char*, size_t);
  void (*outcome)(weft_bridge*, uint64_t, int, const char*);
  int (*whole_domains)(const weft_bridge*, const uint32_t*, size_t, uint32_t*, size_t, size_t*);
  int (*named_nodes)(const weft_bridge*, const char*, uint32_t*, size_t, size_t*);
  uint32_t (*fragmentation)(const weft_bridge*, const uint32_t*, size_t);
  int (*route)(const weft_bridge*, const uint32_t*, size_t, uint32_t, uint32_t*, uint32_t*, uint32_t*, uint32_t*);
  weft_bridge_topology* (*topology_new)(const weft_bridge*, const char*, const char*);
  size_t (*topology_count)(const weft_bridge_topology*);
  const struct weft_topology_record* (*topology_record)(const weft_bridge_topology*, size_t);
  const char* (*topology_headline)(const weft_bridge_topology*);
  void (*topology_free)(weft_bridge_topology*);
  int (*get_counters)(const weft_bridge*, struct weft_counters*);
  int (*check_spec)(const char*, size_t, char*, size_t);
  int (*job_to_spec)(const char*, char*, size_t, char*, size_t);
};

/* The table, or NULL where the library is of another ABI. Static. */
const struct weft_bridge_api* weft_bridge_get_api(uint32_t abi) WEFT_NOEXCEPT;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
