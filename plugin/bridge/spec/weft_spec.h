/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a user says about a job: the SPEC of `--weft=SPEC` and of the token `weft:SPEC` in `--extra`.
 *
 * DESCRIPTION
 *   Comma-separated key=value, no blanks, every key at most once, at most WEFT_SPEC_BYTES bytes:
 *
 *     tp cp ep pp dp      sizes of the parallel dimensions; absent: 1, dp: what is left of the ranks
 *     order               innermost first, "tp-cp-ep-dp-pp" (the default, Megatron's); ep may be left out where it is 1
 *     segment             nodes, in rank order, in runs of this many inside one domain of segment_level
 *     segment_level       nvlink | leaf (default) | pod
 *     max_leaves max_pods most leaves, pods
 *     exclusive           nvlink | leaf | pod: whole domains, shared with nobody
 *     objective           traffic | time | spread; default: weft.yaml's
 *     patience            0: start as soon as there are nodes enough; else weft.yaml's `patience` for this job
 *     tp_traffic ...      per step and group, "collective:bytes[:algorithm]", several joined by "+":
 *                         dp_traffic=reduce_scatter:4GiB+allgather:4GiB. Absent for all dimensions: see
 * weft_spec_defaults() cross_rail          pxn | fabric
 *
 *   Anything else is refused. C without allocation, locale or dependencies: the same code runs in slurmctld, where the
 * text is hostile, and in the SPANK plugin, where it can be refused at once. Messages show the user's bytes only
 * escaped.
 *
 * THREADS any number. TIME linear in the text.
 */
#ifndef WEFT_SPEC_H
#define WEFT_SPEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define WEFT_SPEC_NOEXCEPT noexcept
extern "C" {
#else
#define WEFT_SPEC_NOEXCEPT
#endif

#define WEFT_SPEC_BYTES 4096u
#define WEFT_SPEC_MESSAGE 512u /* every message fits, NUL included */
#define WEFT_SPEC_MAX_RANKS (1u << 22)
#define WEFT_SPEC_MAX_NODES (1u << 20)
#define WEFT_SPEC_MAX_BYTES (UINT64_C(1) << 50) /* of one traffic term */
#define WEFT_SPEC_TERMS 16u
#define WEFT_SPEC_MAX_PATIENCE 100000u /* in hundredths */

enum weft_spec_dim { WEFT_DIM_TP, WEFT_DIM_CP, WEFT_DIM_EP, WEFT_DIM_PP, WEFT_DIM_DP, WEFT_DIMS };
enum weft_spec_level { WEFT_LEVEL_NONE, WEFT_LEVEL_NVLINK, WEFT_LEVEL_LEAF, WEFT_LEVEL_POD };
enum weft_spec_objective { WEFT_OBJECTIVE_DEFAULT, WEFT_OBJECTIVE_TRAFFIC, WEFT_OBJECTIVE_TIME, WEFT_OBJECTIVE_SPREAD };
enum weft_spec_cross_rail { WEFT_CROSS_RAIL_DEFAULT, WEFT_CROSS_RAIL_PXN, WEFT_CROSS_RAIL_FABRIC };
enum weft_spec_collective {
  WEFT_ALLREDUCE,
  WEFT_REDUCE_SCATTER,
  WEFT_ALLGATHER,
  WEFT_BROADCAST,
  WEFT_ALLTOALL,
  WEFT_NEIGHBOUR
};
enum weft_spec_algorithm { WEFT_RING, WEFT_TREE, WEFT_HIERARCHICAL, WEFT_AUTO };

struct weft_spec_term {
  uint8_t dim, collective, algorithm;
  uint64_t bytes; /* what one rank puts in */
};

/* A parsed SPEC. Zero where nothing was said, but for `size` (1) and `order` (the default). */
struct weft_spec {
  uint32_t size[WEFT_DIMS];
  uint8_t given[WEFT_DIMS]; /* 1: the dimension was named */
  uint8_t order[WEFT_DIMS]; /* innermost first */
  uint8_t order_given;
  uint8_t segment_level, exclusive; /* enum weft_spec_level */
  uint8_t objective, cross_rail;
  uint8_t term_count;
  uint32_t segment; /* nodes; 0: none */
  uint32_t max_leaves, max_pods;
  uint32_t patience; /* in hundredths */
  uint8_t patience_given;
  struct weft_spec_term terms[WEFT_SPEC_TERMS]; /* by dim, then as written */
};

/* What a job asks for; 0: not said. */
struct weft_spec_job {
  uint32_t nodes;
  uint64_t tasks, gpus; /* in all */
  uint32_t node_gpus;   /* GPUs of its nodes, as the fabric says; used where neither tasks nor gpus are known */
};

/* The layout of a SPEC that says nothing. */
void weft_spec_init(struct weft_spec* out) WEFT_SPEC_NOEXCEPT;

/* 0, or -1 with a message ("unknown key \"tpp\" at byte 6; keys are ...") in `error` (may be NULL; cut to error_size).
 * `out` is only written on success. */
int weft_spec_parse(const char* text, size_t length, struct weft_spec* out, char* error,
                    size_t error_size) WEFT_SPEC_NOEXCEPT;

/* The canonical text: what parses writes and re-reads equal. Bytes needed without the NUL; above buffer_size - 1: cut.
 */
size_t weft_spec_write(const struct weft_spec* spec, char* buffer, size_t buffer_size) WEFT_SPEC_NOEXCEPT;

/* Ranks are the job's GPUs where it asks for GPUs, else its tasks, else nodes x node_gpus; where the SPEC names dp, its
 * product may be any of GPUs and tasks. Stores ranks and dp. -1 with the arithmetic in `error` where the SPEC does not
 * fit. */
int weft_spec_fit(const struct weft_spec* spec, const struct weft_spec_job* job, uint32_t* ranks, uint32_t* dp,
                  char* error, size_t error_size) WEFT_SPEC_NOEXCEPT;

/* Traffic of a SPEC that names none: volumes of a dense model's order of size (a 70B model at a sequence of 8,192), so
 * that the dimensions weigh as they usually do: tp allreduce 12GiB, cp allgather 2GiB, ep alltoall 2GiB, pp neighbour
 * 512MiB, dp reduce_scatter 4GiB and allgather 4GiB. Fills `terms` (at least 6) and returns their number. */
size_t weft_spec_defaults(struct weft_spec_term* terms) WEFT_SPEC_NOEXCEPT;

/* Finds the token "weft:SPEC" in the text of --extra: at its start or after a blank or ';', up to the next of those. 1:
 * found, *spec and *length point into `extra`; 0: none; -1: it stands twice. */
int weft_spec_in_extra(const char* extra, const char** spec, size_t* length) WEFT_SPEC_NOEXCEPT;

/* Copies bytes as printable ASCII: others, '"' and '\' as \xNN; at most `limit` of them, then "...". Always
 * NUL-terminates (where buffer_size > 0). Returns the bytes stored without the NUL. */
size_t weft_spec_escape(const char* bytes, size_t length, size_t limit, char* buffer,
                        size_t buffer_size) WEFT_SPEC_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
