/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SPANK plugin: `--weft=SPEC` for sbatch, salloc and srun, checked as it is typed, and ranks in Weft's order.
 *
 * In srun (inside a job) and in the batch step it asks slurmctld for the job's record, where the rank order was
 * published, checks it against the job's nodes, and lays it down in a directory of the job's own. Everything runs as
 * the user; whatever goes wrong is told and leaves the job as Slurm alone would have it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "order.h"
#include "srun_arguments.h"
#include "weft_bridge.h"
#include "weft_spec.h"

SPANK_PLUGIN(weft, 1);

static const char* const kFiles[] = {"hosts", "ranks", "step"};

/* One process loads the plugin for one command or one step. */
static struct {
  char* spec; /* what goes along with the job */
  struct weft_directory directory;
  bool hostfile_set; /* SLURM_HOSTFILE is ours */
  struct weft_order batch_order;
  uid_t owner; /* of the directory, in slurmstepd */
  gid_t group;
} state = {.directory = {.fd = -1}};

/* --weft=@job.yaml: only libweft_slurm.so can read YAML, and only for this it is opened. */
static bool spec_of_file(const char* path, char* spec, size_t size, char* message, size_t message_size) {
  const char* const places[] = {WEFT_LIBRARY_DIR "/libweft_slurm.so", "libweft_slurm.so"};
  void* library = NULL;
  int (*read_job)(const char*, char*, size_t, char*, size_t) = NULL;
  for (size_t i = 0; i < 2 && library == NULL; ++i) library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) *(void**)&read_job = dlsym(library, "weft_bridge_job_to_spec");
  if (read_job == NULL) {
    snprintf(message, message_size,
             "a job file needs libweft_slurm.so on this host (%s); a SPEC on the command line does not",
             library == NULL ? dlerror() : "it is of another release");
    return false;
  }
  return read_job(path, spec, size, message, message_size) == WEFT_OK;
}

static int take_option(int value, const char* argument, int remote) {
  char spec[WEFT_SPEC_BYTES + 1] = "", message[WEFT_ERROR_MAX] = "";
  struct weft_spec parsed;
  (void)value;
  if (remote) return ESPANK_SUCCESS; /* checked where it was typed */
  if (argument == NULL || argument[0] == '\0') {
    slurm_error("--weft needs a SPEC such as tp=8,pp=4, or @job.yaml");
    return ESPANK_BAD_ARG;
  }
  if (argument[0] == '@') {
    if (!spec_of_file(argument + 1, spec, sizeof(spec), message, sizeof(message))) {
      slurm_error("--weft: %s", message);
      return ESPANK_BAD_ARG;
    }
    argument = spec;
  }
  if (weft_spec_parse(argument, strlen(argument), &parsed, message, sizeof(message)) != 0) {
    slurm_error("--weft: %s", message);
    return ESPANK_BAD_ARG;
  }
  free(state.spec);
  state.spec = strdup(argument);
  return ESPANK_SUCCESS;
}

static struct spank_option weft_option = {
    .name = "weft",
    .arginfo = "SPEC",
    .usage =
        "how the job trains and what its placement must keep: tp=8,pp=4,dp=16,segment=8,max_leaves=4 ... or @job.yaml",
    .has_arg = 1,
    .val = 0,
    .cb = take_option,
};

/* The job's rank order, as its record tells it. */
static bool ask_order(uint32_t job_id, struct weft_order* order) {
  job_info_msg_t* answer = NULL;
  bool found = false;
  if (slurm_load_job(&answer, job_id, SHOW_ALL) != SLURM_SUCCESS) return false;
  for (uint32_t i = 0; i < answer->record_count && !found; ++i) {
    const slurm_job_info_t* job = &answer->job_array[i];
    if (job->job_id != job_id || job->nodes == NULL) continue; /* other parts of a heterogeneous job */
    found = weft_order_parse(job->system_comment, job->nodes, order);
  }
  slurm_free_job_info_msg(answer);
  return found;
}

/* A growing text; without memory it stays what it is and `broken` tells. */
struct text {
  char* bytes;
  size_t length;
  bool broken;
};

static void add(struct text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text* text, const char* format, ...) {
  char* line = NULL;
  va_list arguments;
  va_start(arguments, format);
  const int size = vasprintf(&line, format, arguments);
  va_end(arguments);
  char* grown = size >= 0 ? realloc(text->bytes, text->length + (size_t)size + 1) : NULL;
  if (grown == NULL) {
    text->broken = true;
  } else {
    memcpy(grown + text->length, line, (size_t)size + 1);
    text->bytes = grown;
    text->length += (size_t)size;
  }
  if (size >= 0) free(line);
}

static bool put(const char* name, struct text* text) {
  const bool good = !text->broken && weft_directory_write(&state.directory, name, text->bytes, text->length);
  free(text->bytes);
  return good;
}

/* hosts: a node a line. ranks: Open MPI's rankfile, `each` ranks a node. */
static bool put_launcher_files(const struct weft_order* order, uint32_t each) {
  struct text hosts = {0}, ranks = {0};
  for (size_t i = 0; i < order->count; ++i) {
    add(&hosts, "%s\n", order->names[i]);
    for (uint32_t k = 0; k < each; ++k) add(&ranks, "rank %zu=%s slot=%u\n", i * each + k, order->names[i], k);
  }
  const bool good = put("hosts", &hosts);
  return put("ranks", &ranks) && good;
}

static bool user_settles_layout(void) {
  static const char* const kOwn[] = {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_ARBITRARY_NODELIST"};
  char words[65536];
  ssize_t length;
  for (size_t i = 0; i < sizeof(kOwn) / sizeof(kOwn[0]); ++i) {
    if (getenv(kOwn[i]) != NULL) return true;
  }
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  length = fd >= 0 ? read(fd, words, sizeof(words)) : -1;
  if (fd >= 0) close(fd);
  return length <= 0 || weft_srun_settles_layout(words, (size_t)length);
}

/* Tasks a node: what the job was asked to start, else one, as srun does. 0 where nodes have different numbers: the list
 * of them is in the order of slurmctld's node table, which the names we know are not. */
static uint32_t tasks_a_node(size_t count) {
  const char* wanted = getenv("SLURM_NTASKS");
  uint32_t* tasks;
  uint32_t each = 0;
  if (wanted == NULL && getenv("SLURM_NTASKS_PER_NODE") == NULL) return 1;
  tasks = calloc(count, sizeof(*tasks));
  if (tasks != NULL && weft_tasks_per_node(getenv("SLURM_TASKS_PER_NODE"), tasks, count)) {
    each = tasks[0];
    for (size_t i = 0; i < count; ++i) each = tasks[i] == each ? each : 0;
  }
  free(tasks);
  return wanted == NULL || (uint64_t)each * count == strtoull(wanted, NULL, 10) ? each : 0;
}

/* srun's hostfile: a line a task. */
static bool put_step_file(const struct weft_order* order, uint32_t each) {
  struct text text = {0};
  for (size_t i = 0; i < order->count; ++i) {
    for (uint32_t t = 0; t < each; ++t) add(&text, "%s\n", order->names[i]);
  }
  return put("step", &text);
}

static void set_rank0(const struct weft_order* order) {
  setenv("MASTER_ADDR", order->names[0], 0); /* the user's own stays */
}

static void order_step(uint32_t job_id, const struct weft_order* order) {
  const uint32_t each = tasks_a_node(order->count);
  char path[sizeof(state.directory.path) + 8];
  if (each == 0 || !weft_directory_make(&state.directory, getenv("TMPDIR"), job_id)) return;
  if (put_step_file(order, each)) {
    snprintf(path, sizeof(path), "%s/step", state.directory.path);
    state.hostfile_set = setenv("SLURM_HOSTFILE", path, 1) == 0;
  } else {
    slurm_error("weft: cannot write the rank order to %s; ranks stay in Slurm's order", state.directory.path);
  }
}

/* Before srun reads its environment. */
static void prepare_srun(void) {
  const char* id = getenv("SLURM_JOB_ID");
  struct weft_order order;
  if (id == NULL || getenv("SLURM_JOB_NODELIST") == NULL || user_settles_layout()) return;
  const uint32_t job_id = (uint32_t)strtoul(id, NULL, 10);
  if (!ask_order(job_id, &order)) return;
  set_rank0(&order);
  if (order.by_hostfile) order_step(job_id, &order);
  weft_order_free(&order);
}

static void export_file(spank_t spank, const char* variable, const char* name) {
  char path[sizeof(state.directory.path) + 8];
  snprintf(path, sizeof(path), "%s/%s", state.directory.path, name);
  spank_setenv(spank, variable, path, 1);
}

/* In slurmstepd, still as root: once it has taken on the user's name it holds a lock that every message to slurmctld
 * needs, and would end itself. */
static void ask_for_batch(spank_t spank) {
  uint32_t job_id = 0, step = 0;
  if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS || step != SLURM_BATCH_SCRIPT) return;
  if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS) return;
  if (!ask_order(job_id, &state.batch_order)) slurm_verbose("weft: slurmctld tells no rank order of job %u", job_id);
}

/* As the user on the job's first node, before the script. */
static void prepare_batch(spank_t spank) {
  const struct weft_order* order = &state.batch_order;
  char parent[2048] = "/tmp", own[256];
  uint32_t job_id = 0;
  if (order->count == 0 || spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS) return;
  if (spank_getenv(spank, "TMPDIR", parent, sizeof(parent)) != ESPANK_SUCCESS) strcpy(parent, "/tmp");
  if (spank_getenv(spank, "MASTER_ADDR", own, sizeof(own)) == ESPANK_ENV_NOEXIST) {
    spank_setenv(spank, "MASTER_ADDR", order->names[0], 0);
  }
  state.owner = geteuid();
  state.group = getegid();
  if (weft_directory_make(&state.directory, parent, job_id) &&
      put_launcher_files(order, order->ranks_per_node > 0 ? order->ranks_per_node : 1)) {
    export_file(spank, "WEFT_HOSTFILE", "hosts");
    export_file(spank, "WEFT_RANKFILE", "ranks");
  } else {
    slurm_error("weft: cannot write the rank order of job %u below %s", job_id, parent);
  }
}

int slurm_spank_init(spank_t spank, int argc, char** argv) {
  const spank_context_t context = spank_context();
  (void)argc;
  (void)argv;
  if (context == S_CTX_LOCAL) prepare_srun();
  if (context == S_CTX_REMOTE) ask_for_batch(spank);
  if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE) {
    return spank_option_register(spank, &weft_option);
  }
  return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
  const spank_context_t context = spank_context();
  (void)argc;
  (void)argv;
  if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR) return ESPANK_SUCCESS;
  /* Once for each part of a heterogeneous job. Slurm calls take_option() again for parts that say nothing. */
  if (state.spec != NULL) {
    spank_job_control_setenv(spank, "WEFT_SPEC", state.spec, 1);
    free(state.spec);
    state.spec = NULL;
  } else {
    spank_job_control_unsetenv(spank, "WEFT_SPEC");
  }
  /* srun has read it; a srun that a task starts must not. */
  if (state.hostfile_set) unsetenv("SLURM_HOSTFILE");
  return ESPANK_SUCCESS;
}

int slurm_spank_user_init(spank_t spank, int argc, char** argv) {
  (void)argc;
  (void)argv;
  prepare_batch(spank);
  return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int argc, char** argv) {
  const bool root = geteuid() == 0 && state.owner != 0;
  (void)spank;
  (void)argc;
  (void)argv;
  /* slurmstepd is root again by now, and the directory is the user's to play with. */
  if (root && (setegid(state.group) != 0 || seteuid(state.owner) != 0)) return ESPANK_ERROR;
  weft_directory_remove(&state.directory, kFiles, sizeof(kFiles) / sizeof(kFiles[0]));
  if (root && (seteuid(0) != 0 || setegid(0) != 0)) return ESPANK_ERROR;
  weft_order_free(&state.batch_order);
  free(state.spec);
  state.spec = NULL;
  return ESPANK_SUCCESS;
}
