// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE /* mkdtemp, O_DIRECTORY, O_NOFOLLOW */
#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kMaxNodes = 1 << 20 };

void weft_order_free(struct weft_order* order) {
  for (size_t i = 0; i < order->count; ++i) free(order->names[i]);
  free(order->names);
  *order = (struct weft_order){0};
}

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

bool weft_order_of_nodes(const char* job_nodes, struct weft_order* out) {
  hostlist_t* list = job_nodes != NULL ? slurm_hostlist_create(job_nodes) : NULL;
  const int count = list != NULL ? slurm_hostlist_count(list) : 0;
  *out = (struct weft_order){0};
  if (count > 0 && count <= kMaxNodes) out->names = calloc((size_t)count, sizeof(*out->names));
  for (int i = 0; out->names != NULL && i < count; ++i) {
    char* name = slurm_hostlist_shift(list);
    if (name == NULL) break;
    out->names[out->count++] = name;
  }
  if (list != NULL) slurm_hostlist_destroy(list);
  if (count > 0 && out->count == (size_t)count) return true;
  weft_order_free(out);
  return false;
}

static bool same_nodes(const struct weft_order* a, const struct weft_order* b) {
  bool same = a->count == b->count;
  char** left = malloc(a->count * sizeof(*left));
  char** right = malloc(b->count * sizeof(*right));
  if (left == NULL || right == NULL) same = false;
  if (same) {
    memcpy(left, a->names, a->count * sizeof(*left));
    memcpy(right, b->names, b->count * sizeof(*right));
    qsort(left, a->count, sizeof(*left), by_name);
    qsort(right, b->count, sizeof(*right), by_name);
    for (size_t i = 0; same && i < a->count; ++i) same = strcmp(left[i], right[i]) == 0;
  }
  free(left);
  free(right);
  return same;
}

/* The value of " KEY=" between `from` and `end`, copied; NULL where absent. Values hold no blanks. */
static char* value_of(const char* from, const char* end, const char* key) {
  const size_t size = strlen(key);
  for (const char* at = from; at + size < end; ++at) {
    if ((at == from || at[-1] == ' ') && strncmp(at, key, size) == 0) {
      const char* value = at + size;
      const size_t length = strcspn(value, " }");
      return strndup(value, length);
    }
  }
  return NULL;
}

bool weft_order_parse(const char* system_comment, const char* job_nodes, struct weft_order* out) {
  const char* from = system_comment != NULL ? strstr(system_comment, "weft{") : NULL;
  const char* end = from != NULL ? strchr(from, '}') : NULL;
  struct weft_order all;
  char *ranks, *per_node, *kind;
  bool good;
  *out = (struct weft_order){0};
  if (end == NULL || !weft_order_of_nodes(job_nodes, &all)) return false;
  from += strlen("weft{");
  ranks = value_of(from, end, "ranks=");
  per_node = value_of(from, end, "ranks_per_node=");
  kind = value_of(from, end, "order=");
  good = ranks != NULL && weft_order_of_nodes(ranks, out) && same_nodes(out, &all);
  if (!good) weft_order_free(out);
  if (good && per_node != NULL) out->ranks_per_node = (uint32_t)strtoul(per_node, NULL, 10);
  if (good) out->by_hostfile = kind != NULL && strcmp(kind, "weft") == 0;
  free(ranks);
  free(per_node);
  free(kind);
  weft_order_free(&all);
  return good;
}

bool weft_tasks_per_node(const char* text, uint32_t* tasks, size_t count) {
  size_t done = 0;
  while (text != NULL && *text != '\0') {
    char* end;
    unsigned long each, times = 1;
    errno = 0;
    each = strtoul(text, &end, 10);
    if (end == text || errno != 0 || each == 0 || each > 65535) return false;
    if (strncmp(end, "(x", 2) == 0) {
      char* after;
      times = strtoul(end + 2, &after, 10);
      if (after == end + 2 || *after != ')') return false;
      end = after + 1;
    }
    if (times > count - done) return false;
    for (unsigned long i = 0; i < times; ++i) tasks[done++] = (uint32_t)each;
    if (*end != ',' && *end != '\0') return false;
    text = *end == ',' ? end + 1 : end;
  }
  return done == count && count > 0;
}

bool weft_directory_make(struct weft_directory* directory, const char* parent, uint32_t job_id) {
  directory->fd = -1;
  if (parent == NULL || parent[0] != '/') parent = "/tmp";
  /* No hyphen: mpirun of Open MPI 5 takes no path with one for a rankfile. */
  const int length = snprintf(directory->path, sizeof(directory->path), "%s/weft_%u_XXXXXX", parent, job_id);
  if (length < 0 || (size_t)length >= sizeof(directory->path) || mkdtemp(directory->path) == NULL) {
    directory->path[0] = '\0';
    return false;
  }
  directory->fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory->fd < 0) {
    rmdir(directory->path);
    directory->path[0] = '\0';
  }
  return directory->fd >= 0;
}

bool weft_directory_write(const struct weft_directory* directory, const char* name, const char* text, size_t length) {
  const int fd = openat(directory->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool good = fd >= 0;
  while (good && length > 0) {
    const ssize_t written = write(fd, text, length);
    if (written < 0 && errno == EINTR) continue;
    good = written > 0;
    if (good) {
      text += written;
      length -= (size_t)written;
    }
  }
  if (fd >= 0 && close(fd) != 0) good = false;
  return good;
}

void weft_directory_remove(struct weft_directory* directory, const char* const* names, size_t count) {
  if (directory->fd < 0) return;
  for (size_t i = 0; i < count; ++i) unlinkat(directory->fd, names[i], 0);
  close(directory->fd);
  rmdir(directory->path);
  directory->fd = -1;
  directory->path[0] = '\0';
}
