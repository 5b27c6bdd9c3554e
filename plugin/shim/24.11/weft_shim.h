/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files of the shim for Slurm 24.11 share. The shim alone includes Slurm's internal headers; it knows exports
 * and bitmaps, nothing about fabrics. It is loaded on every node and by clients too: what is declared here does its
 * work inside slurmctld and is a cheap "no" everywhere else.
 */
#ifndef WEFT_SHIM_H
#define WEFT_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off: config.h and the aliases of slurm_xlator.h come before all of Slurm's headers. */
#include "config.h"
#include "src/common/slurm_xlator.h"
/* clang-format on */

#include "slurm/slurm_errno.h"
#include "src/common/bitstring.h"
#include "src/common/core_array.h"
#include "src/common/hostlist.h"
#include "src/common/job_features.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/pack.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#include "src/interfaces/topology.h"
#include "src/plugins/topology/common/common_topo.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#include "weft_bridge.h"

/* weft_engine.c: libweft_slurm.so and the fabric that it holds. */

/* Opens the library and weft.yaml, once; later calls return what the first one found. Only inside slurmctld. False
 * where there is no engine; the reason has been logged. */
extern bool weft_engine_open(void);

/* Ties the fabric to the node table as it is now. Logged. */
extern void weft_engine_bind(void);

/* The engine for one call, bound to the current node table; NULL where there is none (stock selection). The caller
 * holds slurmctld's node lock or is the only thread. */
extern weft_bridge* weft_engine(void);

/* As weft_engine(), for threads that hold no lock: never binds anew. */
extern weft_bridge* weft_engine_unlocked(void);

/* The table of functions; valid wherever weft_engine() is not NULL. */
extern const struct weft_bridge_api* weft_api(void);

/* Why there is no engine, for whom it concerns; NULL where there is one. */
extern const char* weft_engine_error(void);

extern void weft_engine_close(void);

/* The set bits of a map, ascending; xfree() it. *count is their number. */
extern uint32_t* weft_indices(bitstr_t* map, size_t* count);

/* weft_eval.c: topology_p_eval_nodes(). */

extern int weft_eval(topology_eval_t* eval);

/* weft_request.c: a job as a request to the bridge. */

typedef struct {
  struct weft_request request;
  uint32_t *usable, *required, *possible, *reach, *cpus, *gpus, *weights; /* owned; what the request points to */
  uint64_t* free_gpus;
} weft_question_t;

extern void weft_question_init(weft_question_t* question, const topology_eval_t* eval);
extern void weft_question_free(weft_question_t* question);

/* Longest rank order that goes into a job's record, which every `squeue` transfers. */
#define WEFT_ORDER_MAX 16384

/* weft_gpus.c: GPUs of nodes that a job shares with others. A set of GPUs is a word whose bit g is GPU g. */

/* GPUs of a node that the job could have, `wanted` of which it asks for; 0 where Slurm does not count them one by one,
 * or there are more than 64. */
extern uint64_t weft_free_gpus(const avail_res_t* avail, uint32_t wanted);

typedef struct weft_kept_gpus weft_kept_gpus_t;

/* Leaves the job no other GPUs of this node than those. NULL where that cannot be, and nothing has changed. Else
 * weft_release_gpus() puts all back as it was, and weft_drop_gpus() frees the memory of that. */
extern weft_kept_gpus_t* weft_hold_to_gpus(avail_res_t* avail, uint64_t gpus);
extern void weft_release_gpus(weft_kept_gpus_t* kept);
extern void weft_drop_gpus(weft_kept_gpus_t* kept);

/* weft_notes.c: what the job's record says. */

/* Writes the placement into the job's SystemComment, in place of an earlier one of ours; what others wrote there stays.
 * NULL takes ours out. Job write lock held. */
extern void weft_note_placement(job_record_t* job, const char* text);

/* Remembers in words why a job waits. slurmctld's scheduler clears a job's StateDesc after each look at it, so a thread
 * of ours puts it there, under the job write lock, for as long as the job waits. Never blocks. The hook cannot tell
 * when a reason is past (it is asked about other days too): the thread sees it in the job's state. */
extern void weft_note_reason(uint32_t job_id, const char* text);

extern void weft_notes_start(void);
extern void weft_notes_stop(void);

/* weft_order.c: the node table's order from one start to the next. rank[i] >= 1, unique, for node i of the table.
 * Called before the node hash exists. */

extern void weft_order_save(const uint32_t* rank);

/* rank[] zeroed before; false where no order is kept. Nodes that it does not know come last. */
extern bool weft_order_load(uint32_t* rank);

/* weft_listing.c: scontrol show topology. */

typedef struct {
  char *name, *plane, *nodes, *switches, *faults;
  uint16_t tier;
  bool up;
  uint32_t node_count, links, links_up;
  uint64_t bandwidth_mbps;
} weft_listed_switch_t;

typedef struct {
  char* headline;
  uint32_t count;
  weft_listed_switch_t* switches;
} weft_listing_t;

extern weft_listing_t* weft_listing_new(void);
extern void weft_listing_free(weft_listing_t* listing);
extern void weft_listing_pack(const weft_listing_t* listing, buf_t* buffer);
extern weft_listing_t* weft_listing_unpack(buf_t* buffer);
extern void weft_listing_print(const weft_listing_t* listing, const char* filter, char** out);
extern uint32_t weft_listing_count(void);

#endif
