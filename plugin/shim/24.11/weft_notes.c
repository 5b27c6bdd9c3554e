/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a job's record says about Weft: the placement (SystemComment) and the reason to wait (StateDesc).
 *
 * The scheduler clears StateDesc after each look at a job, later than the hook runs. So reasons are kept in a small
 * table and a thread puts them back under the job write lock, a few times a second at most and only while there are
 * any.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "weft_shim.h"

#define OPEN "weft{"

/* Direct mapped: two waiting jobs whose ids are SLOTS apart share a slot, and the later one has it. */
#define SLOTS 4096

/* Seconds that a reason outlives the evaluation that gave it: the schedulers look at a waiting job more often than
 * that. */
#define LASTS 180

/* The thread takes the job write lock five times a second at most. */
#define PAUSE_US 200000

typedef struct {
  uint32_t job_id; /* 0: free */
  time_t given;
  char text[WEFT_TEXT_MAX];
} reason_t;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  pthread_t thread;
  bool running, stop, fresh;
  reason_t* slots;
  uint32_t used;
} notes = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Lives in slurmctld; this file is loaded by programs that have no such thing. */
extern time_t last_job_update __attribute__((weak));

extern void weft_note_placement(job_record_t* job, const char* text) {
  char* ours = job->system_comment ? strstr(job->system_comment, OPEN) : NULL;
  char* fresh = NULL;

  if (ours) {
    const char* end = strchr(ours, '}');
    if (ours > job->system_comment) fresh = xstrndup(job->system_comment, ours - job->system_comment);
    if (end && end[1]) xstrcat(fresh, end + 1);
  } else if (job->system_comment) {
    fresh = xstrdup(job->system_comment);
  }
  if (text) xstrfmtcat(fresh, "%s" OPEN "%s}", (fresh && (fresh[strlen(fresh) - 1] != ' ')) ? " " : "", text);
  if (!xstrcmp(fresh, job->system_comment)) {
    xfree(fresh);
    return;
  }
  xfree(job->system_comment);
  job->system_comment = fresh;
  if (&last_job_update) last_job_update = time(NULL);
}

extern void weft_note_reason(uint32_t job_id, const char* text) {
  reason_t* slot;

  slurm_mutex_lock(&notes.mutex);
  if (notes.slots && job_id) {
    slot = &notes.slots[job_id % SLOTS];
    if (!slot->job_id) notes.used++;
    slot->job_id = job_id;
    slot->given = time(NULL);
    strlcpy(slot->text, text, sizeof(slot->text));
    notes.fresh = true;
    slurm_cond_signal(&notes.wake);
  }
  slurm_mutex_unlock(&notes.mutex);
}

static void _forget(uint32_t job_id) {
  reason_t* slot;

  slurm_mutex_lock(&notes.mutex);
  slot = &notes.slots[job_id % SLOTS];
  if (job_id && (slot->job_id == job_id)) {
    slot->job_id = 0;
    notes.used--;
  }
  slurm_mutex_unlock(&notes.mutex);
}

/* Puts a reason into its job; false where it has had its time. */
static bool _tell(const reason_t* reason) {
  job_record_t* job = find_job_record(reason->job_id);

  if (!job || !IS_JOB_PENDING(job) || ((time(NULL) - reason->given) > LASTS)) return false;
  weft_note_placement(job, NULL); /* of a look at another day's nodes */
  /* Other reasons (priority, dependency, limits, a hold) come before ours; for licenses see _not_now(). */
  if (((job->state_reason == WAIT_RESOURCES) || (job->state_reason == FAIL_BAD_CONSTRAINTS) ||
       ((job->state_reason == WAIT_LICENSES) && !job->license_list)) &&
      !job->state_desc) {
    job->state_desc = xstrdup(reason->text);
    last_job_update = time(NULL);
  }
  return true;
}

static void _tell_all(reason_t* due, uint32_t count) {
  slurmctld_lock_t job_write = {.job = WRITE_LOCK};

  lock_slurmctld(job_write);
  for (uint32_t i = 0; i < count; i++)
    if (_tell(&due[i])) due[i].job_id = 0; /* stays in the table */
  unlock_slurmctld(job_write);
  for (uint32_t i = 0; i < count; i++) _forget(due[i].job_id);
}

static void* _run(void* unused) {
  reason_t* due = xcalloc(SLOTS, sizeof(*due));
  uint32_t count;

  prctl(PR_SET_NAME, "weft_notes", NULL, NULL, NULL);
  slurm_mutex_lock(&notes.mutex);
  while (!notes.stop) {
    struct timespec until = {.tv_sec = time(NULL) + 1};

    if (!notes.used) {
      slurm_cond_wait(&notes.wake, &notes.mutex);
      continue;
    }
    if (!notes.fresh) slurm_cond_timedwait(&notes.wake, &notes.mutex, &until);
    if (notes.stop) break;
    /* The scheduler that gave the reason is about to clear the field, with the lock held that we need. */
    slurm_mutex_unlock(&notes.mutex);
    usleep(PAUSE_US);
    slurm_mutex_lock(&notes.mutex);
    notes.fresh = false;
    count = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
      if (notes.slots[i].job_id) due[count++] = notes.slots[i];
    slurm_mutex_unlock(&notes.mutex);
    _tell_all(due, count);
    slurm_mutex_lock(&notes.mutex);
  }
  slurm_mutex_unlock(&notes.mutex);
  xfree(due);
  return NULL;
}

extern void weft_notes_start(void) {
  slurm_mutex_lock(&notes.mutex);
  if (!notes.running) {
    notes.slots = xcalloc(SLOTS, sizeof(*notes.slots));
    notes.stop = false;
    notes.running = true;
    slurm_thread_create(&notes.thread, _run, NULL);
  }
  slurm_mutex_unlock(&notes.mutex);
}

extern void weft_notes_stop(void) {
  bool join;

  slurm_mutex_lock(&notes.mutex);
  join = notes.running;
  notes.stop = true;
  notes.running = false;
  slurm_cond_broadcast(&notes.wake);
  slurm_mutex_unlock(&notes.mutex);
  if (join) slurm_thread_join(notes.thread);
  slurm_mutex_lock(&notes.mutex);
  xfree(notes.slots);
  notes.used = 0;
  slurm_mutex_unlock(&notes.mutex);
}
