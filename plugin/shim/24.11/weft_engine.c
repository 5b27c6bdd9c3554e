/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Opens libweft_slurm.so and the fabric inside slurmctld. A process loads one fabric: `scontrol reconfigure` starts a
 * new slurmctld, so there is nothing to swap under anybody's feet.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>

#include "weft_shim.h"

#define WEFT_LIBRARY "libweft_slurm.so"

static struct {
  pthread_mutex_t mutex;
  bool tried;
  void* library;
  const struct weft_bridge_api* api;
  weft_bridge* bridge;
  char* why_not;
  int bound_count;  /* node_record_count at the last bind */
  int bound_active; /* active_node_record_count likewise */
} engine = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void _log(void* user, enum weft_log_level level, const char* message) {
  switch (level) {
    case WEFT_LOG_ERROR: error("weft: %s", message); break;
    case WEFT_LOG_INFO: info("weft: %s", message); break;
    default: debug("weft: %s", message);
  }
}

static void* _open_library(char** why_not) {
  /* Beside this file first: an administrator who tries another build moves one directory. */
  const char* places[] = {NULL, WEFT_LIBRARY_DIR "/" WEFT_LIBRARY, WEFT_LIBRARY};
  char beside[PATH_MAX] = "";
  Dl_info self;

  if (dladdr((void*)_open_library, &self) && self.dli_fname && (strlen(self.dli_fname) < sizeof(beside))) {
    char copy[PATH_MAX];
    strcpy(copy, self.dli_fname);
    if (snprintf(beside, sizeof(beside), "%s/" WEFT_LIBRARY, dirname(copy)) < (int)sizeof(beside)) places[0] = beside;
  }
  for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
    void* library = places[i] ? dlopen(places[i], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) {
      xfree(*why_not);
      return library;
    }
    /* The first that exists has the reason that matters. */
    if (places[i] && (!*why_not || (!access(places[i], F_OK) && !xstrstr(*why_not, places[i])))) {
      xfree(*why_not);
      *why_not = xstrdup(dlerror());
    }
  }
  return NULL;
}

static bool _open(char** why_not) {
  const struct weft_bridge_api* (*get_api)(uint32_t);
  char* path = NULL;
  char text[WEFT_ERROR_MAX] = "";
  int rc;

  if (!(engine.library = _open_library(why_not))) return false;
  get_api = dlsym(engine.library, "weft_bridge_get_api");
  engine.api = get_api ? get_api(WEFT_BRIDGE_ABI) : NULL;
  if (!engine.api || (engine.api->size < sizeof(*engine.api))) {
    engine.api = NULL;
    *why_not = xstrdup(WEFT_LIBRARY " is of another release than topology_weft.so: install both from one package");
    return false;
  }
  path = get_extra_conf_path("weft.yaml");
  rc = engine.api->open(path, _log, NULL, &engine.bridge, text, sizeof(text));
  if (rc != WEFT_OK) {
    engine.bridge = NULL;
    *why_not = xstrdup_printf("%s: %s", path, text[0] ? text : "cannot be opened");
  }
  xfree(path);
  return engine.bridge != NULL;
}

extern bool weft_engine_open(void) {
  bool ok;

  if (!running_in_slurmctld()) return false;
  slurm_mutex_lock(&engine.mutex);
  if (!engine.tried) {
    engine.tried = true;
    if (_open(&engine.why_not))
      info("weft: engine %s loaded", engine.api->version());
    else
      error("weft: %s", engine.why_not);
  }
  ok = engine.bridge != NULL;
  slurm_mutex_unlock(&engine.mutex);
  return ok;
}

extern void weft_engine_bind(void) {
  struct weft_bind_report report = {0};
  const char** names;
  int rc;

  if (!engine.bridge) return;
  names = xcalloc(node_record_count + 1, sizeof(*names));
  for (int i = 0; i < node_record_count; i++)
    if (node_record_table_ptr[i]) names[i] = node_record_table_ptr[i]->name;
  rc = engine.api->bind(engine.bridge, node_record_count, names, &report);
  xfree(names);
  engine.bound_count = node_record_count;
  engine.bound_active = active_node_record_count;
  if (rc != WEFT_OK)
    error("weft: cannot bind the fabric to Slurm's nodes (%d); stock selection for all jobs", rc);
  else
    info("weft: fabric bound: %u nodes, %u only in slurm.conf, %u only in the fabric", report.bound, report.only_slurm,
         report.only_fabric);
}

extern weft_bridge* weft_engine(void) {
  /* `scontrol create node` and `delete` change the table without a word to topology plugins. */
  if (engine.bridge && ((engine.bound_count != node_record_count) || (engine.bound_active != active_node_record_count)))
    weft_engine_bind();
  return engine.bridge;
}

extern weft_bridge* weft_engine_unlocked(void) { return engine.bridge; }

extern const struct weft_bridge_api* weft_api(void) { return engine.api; }

extern const char* weft_engine_error(void) { return engine.bridge ? NULL : engine.why_not; }

extern void weft_engine_close(void) {
  slurm_mutex_lock(&engine.mutex);
  if (engine.bridge) engine.api->close(engine.bridge);
  engine.bridge = NULL;
  /* The library stays mapped: its log thread may still be on its way out. */
  engine.tried = false;
  xfree(engine.why_not);
  slurm_mutex_unlock(&engine.mutex);
}

extern uint32_t* weft_indices(bitstr_t* map, size_t* count) {
  int first = bit_ffs(map), last = (first < 0) ? -1 : bit_fls(map);
  uint32_t* list = xcalloc(bit_set_count(map) + 1, sizeof(*list));

  *count = 0;
  for (int i = first; (i >= 0) && (i <= last); i++)
    if (bit_test(map, i)) list[(*count)++] = i;
  return list;
}
