/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The node table's order of the last good start, kept in StateSaveLocation. Slurm stores what running jobs hold node by
 * node in table order. A slurmctld that starts without its fabric (weft.yaml spoilt, a file system not there yet) must
 * not order the table by name all of a sudden: running jobs would be taken to hold each other's CPUs and GPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "weft_shim.h"

typedef struct {
  const char* name;
  int index;
} named_t;

static int _by_name(const void* a, const void* b) {
  return strcmp(((const named_t*)a)->name, ((const named_t*)b)->name);
}

static char* _path(const char* suffix) {
  return xstrdup_printf("%s/weft_node_order%s", slurm_conf.state_save_location, suffix);
}

extern void weft_order_save(const uint32_t* rank) {
  const char** in_order = xcalloc(node_record_count + 1, sizeof(*in_order));
  char *path = _path(""), *fresh = _path(".new");
  FILE* file = fopen(fresh, "we");
  bool good = file != NULL;

  for (int i = 0; i < node_record_count; i++)
    if (node_record_table_ptr[i] && (rank[i] >= 1) && (rank[i] <= (uint32_t)node_record_count))
      in_order[rank[i] - 1] = node_record_table_ptr[i]->name;
  for (int i = 0; good && (i < node_record_count); i++)
    if (in_order[i]) good = fprintf(file, "%s\n", in_order[i]) > 0;
  if (file && fclose(file)) good = false;
  if (!good || rename(fresh, path)) {
    error("weft: cannot keep the node order in %s: %m", path);
    (void)unlink(fresh);
  }
  xfree(in_order);
  xfree(path);
  xfree(fresh);
}

extern bool weft_order_load(uint32_t* rank) {
  char *path = _path(""), *line = NULL;
  FILE* file = fopen(path, "re");
  named_t* table = xcalloc(node_record_count + 1, sizeof(*table));
  size_t size = 0, count = 0;
  uint32_t next = 1;
  ssize_t length;

  for (int i = 0; i < node_record_count; i++)
    if (node_record_table_ptr[i]) table[count++] = (named_t){node_record_table_ptr[i]->name, i};
  qsort(table, count, sizeof(*table), _by_name);
  while (file && ((length = getline(&line, &size, file)) > 0)) {
    named_t key = {line, 0}, *found;

    if (line[length - 1] == '\n') line[length - 1] = '\0';
    found = bsearch(&key, table, count, sizeof(*table), _by_name);
    if (found && !rank[found->index]) rank[found->index] = next++;
  }
  if (file) fclose(file);
  free(line);
  xfree(table);
  xfree(path);
  if (next == 1) return false;
  for (int i = 0; i < node_record_count; i++)
    if (!rank[i]) rank[i] = next++;
  return true;
}
