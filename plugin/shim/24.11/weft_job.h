/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What stands in a job's texts: its SPEC and its GPUs.
 */
#ifndef WEFT_JOB_H
#define WEFT_JOB_H

#include <stddef.h>
#include <stdint.h>

/* The GPUs of a TRES list such as "gres/gpu:h100:4,license/x:1"; types add up. */
extern uint32_t weft_gpus(const char* tres);

/* The SPEC of a job: the token "weft:SPEC" of --extra, else what the SPANK plugin sent along. *spec is NULL where there
 * is none; returns 1 where it is from --extra, else 0. Two tokens: the whole text, which no parser takes. */
extern int weft_find_spec(const char* extra, char* const* spank_env, uint32_t spank_env_size, const char** spec,
                          size_t* length);

#endif
