// SPDX-License-Identifier: BSD-3-Clause
#include "srun_arguments.h"

#include <string.h>

/* Short options of srun that take an argument, and those of them (and without one) that settle the layout. */
static const char kTakesArgument[] = "abcdeimnopqrtwxABCDFGJLMNPSTUW";
static const char kSettles[] = "NnwFmrxZ";

static const char* const kSettlesLong[] = {
    "nodes",
    "ntasks",
    "nodelist",
    "nodefile",
    "distribution",
    "relative",
    "exclude",
    "ntasks-per-node",
    "ntasks-per-core",
    "ntasks-per-gpu",
    "ntasks-per-socket",
    "ntasks-per-tres",
    "gpus-per-task",
    "het-group",
    "pack-group",
    "jobid",
    "interactive",
    "no-allocate",
    "test-only",
    "tasks-per-node",
    "use-min-nodes",
    "spread-job",
    "exact",
    "external-launcher",
    "tres-per-task",
};

/* Long options without an argument, or with one that only "=" can give. */
static const char* const kAlone[] = {
    "bcast",          "bell",       "compress",     "contiguous",    "debugger-test",
    "disable-status", "exclusive",  "get-user-env", "help",          "hold",
    "ignore-pbs",     "immediate",  "kill-command", "label",         "kill-on-bad-exit",
    "multi-prog",     "nice",       "no-bell",      "no-kill",       "no-requeue",
    "oom-kill-step",  "overcommit", "overlap",      "oversubscribe", "parsable",
    "preserve-env",   "propagate",  "pty",          "quiet",         "quit-on-interrupt",
    "reboot",         "requeue",    "resv-ports",   "send-libs",     "stepmgr",
    "umask",          "unbuffered", "usage",        "verbose",       "version",
    "whole",          "x11",
};

/* getopt takes any unambiguous beginning of a long name; to err towards the user's own order, any beginning counts. */
static bool in_list(const char* const* list, size_t count, const char* name, size_t length) {
  for (size_t i = 0; i < count; ++i) {
    if (length > 0 && strncmp(list[i], name, length) == 0) return true;
  }
  return false;
}

#define IN(list, name, length) in_list(list, sizeof(list) / sizeof((list)[0]), name, length)

/* A bundle such as "-lN4": letters up to one that takes an argument. *separate: the argument is the next word. */
static bool short_settles(const char* word, bool* separate) {
  for (const char* c = word + 1; *c != '\0'; ++c) {
    if (strchr(kSettles, *c) != NULL) return true;
    if (strchr(kTakesArgument, *c) != NULL) {
      *separate = c[1] == '\0';
      return false;
    }
  }
  return false;
}

static bool long_settles(const char* word, bool* separate) {
  const char* name = word + 2;
  const size_t length = strcspn(name, "=");
  if (IN(kSettlesLong, name, length)) return true;
  *separate = name[length] == '\0' && !IN(kAlone, name, length);
  return false;
}

bool weft_srun_settles_layout(const char* arguments, size_t length) {
  const char* end = arguments + length;
  const char* word = arguments;
  for (bool first = true; word < end; first = false) {
    const size_t size = strnlen(word, (size_t)(end - word));
    bool separate = false;
    if (size == (size_t)(end - word)) return true; /* cut short: not the whole command line */
    if (!first) {
      /* ":" joins the components of a heterogeneous step, whose hostfile would be one for all. */
      if (word[0] != '-' || size == 1) break;
      if (strcmp(word, "--") == 0) {
        word += size + 1;
        break;
      }
      if (word[1] == '-' ? long_settles(word, &separate) : short_settles(word, &separate)) return true;
    }
    word += size + 1;
    if (separate && word < end) word += strnlen(word, (size_t)(end - word)) + 1;
  }
  /* The command and its own words. */
  for (; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
    if (strcmp(word, ":") == 0) return true;
  }
  return false;
}
