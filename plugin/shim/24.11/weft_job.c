// SPDX-License-Identifier: GPL-2.0-or-later
#include "weft_job.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off: config.h and the aliases of slurm_xlator.h come before all of Slurm's headers. */
#include "config.h"
#include "src/common/slurm_xlator.h"
/* clang-format on */

#include "slurm/slurm.h"
#include "src/common/xstring.h"
#include "weft_spec.h"

#define SPANK_SPEC "WEFT_SPEC="

extern uint32_t weft_gpus(const char* tres) {
  uint64_t sum = 0;

  for (const char* at = tres; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    size_t length = strcspn(at, ",");
    const char* number = NULL;

    if (strncmp(at, "gres/gpu", 8) && strncmp(at, "gres:gpu", 8)) continue;
    if ((length > 8) && !strchr(":=/", at[8])) continue; /* gres/gpumem and its kind */
    for (const char* c = at + 8; c < at + length; c++)
      if (strchr(":=", *c)) number = c + 1;
    sum += (number && (*number >= '0') && (*number <= '9')) ? strtoull(number, NULL, 10) : 1;
  }
  return (sum < NO_VAL) ? sum : NO_VAL - 1;
}

/* The SPEC that the SPANK plugin made of --weft (a job file is one by then). The option as it was typed is there too,
 * but Slurm gives that of one part of a heterogeneous job to all. */
static const char* _in_spank(char* const* env, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    const char* entry = env[i];

    if (!strncmp(entry, "SPANK_", 6)) entry += 6;
    if (!strncmp(entry, SPANK_SPEC, strlen(SPANK_SPEC))) return entry + strlen(SPANK_SPEC);
  }
  return NULL;
}

extern int weft_find_spec(const char* extra, char* const* spank_env, uint32_t spank_env_size, const char** spec,
                          size_t* length) {
  switch (weft_spec_in_extra(extra ? extra : "", spec, length)) {
    case 0:
      *spec = _in_spank(spank_env, spank_env_size);
      *length = *spec ? strlen(*spec) : 0;
      return 0;
    case 1: return 1;
    default:
      *spec = extra;
      *length = strlen(extra);
      return 1;
  }
}
