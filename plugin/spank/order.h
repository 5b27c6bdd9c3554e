/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rank order that slurmctld published in the job's record, and files of it for launchers.
 */
#ifndef WEFT_SPANK_ORDER_H
#define WEFT_SPANK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The job's nodes in rank order. */
struct weft_order {
  char** names;
  size_t count;
  uint32_t ranks_per_node; /* 0: not said */
  bool by_hostfile;        /* srun would not come to this order by itself */
};

/* Finds "weft{... ranks=LIST}" in a SystemComment and checks that it names each of the job's nodes once. False, and the
 * order left empty, where Weft wrote nothing, or about other nodes. */
bool weft_order_parse(const char* system_comment, const char* job_nodes, struct weft_order* out);

/* The names of a hostlist, in its order. */
bool weft_order_of_nodes(const char* job_nodes, struct weft_order* out);

void weft_order_free(struct weft_order* order);

/* SLURM_TASKS_PER_NODE ("8(x3),4") for `count` nodes into `tasks`; false where it is for another number of nodes. */
bool weft_tasks_per_node(const char* text, uint32_t* tasks, size_t count);

/* A directory of the job's own, 0700, made anew: nobody else can have put anything there. */
struct weft_directory {
  int fd; /* -1: none */
  char path[4096];
};

bool weft_directory_make(struct weft_directory* directory, const char* parent, uint32_t job_id);
/* Writes a file of that name into it: 0600, never over an existing one, through no symbolic link. */
bool weft_directory_write(const struct weft_directory* directory, const char* name, const char* text, size_t length);
/* Removes the files named and the directory. */
void weft_directory_remove(struct weft_directory* directory, const char* const* names, size_t count);

#endif
