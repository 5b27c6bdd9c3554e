/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Did the user of srun say where tasks go? Reads srun's command line as srun will.
 */
#ifndef WEFT_SRUN_ARGUMENTS_H
#define WEFT_SRUN_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* True where an option before the command settles node count, task count, nodes or distribution (-N -n -w -F -m -r -x
 * --ntasks-per-..., --het-group, --jobid, --interactive ...): then the order of ranks is the user's own. `arguments` is
 * what /proc/self/cmdline holds: words, each ended by a NUL; the first is the program. An option that this list of
 * srun's does not know is taken for one without a separate argument. */
bool weft_srun_settles_layout(const char* arguments, size_t length);

#endif
