/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stand-in for libweft_slurm.so whose answers the SPEC orders ("say=never"), to see what the shim makes of each,
 * wrong ones among them. Without an order it takes the last usable nodes, in descending order: easy to tell from stock
 * selection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_bridge.h"

struct weft_bridge {
  size_t count;
  int reverse;
};

static int d_open(const char* yaml, weft_log_fn log, void* user, weft_bridge** out, char* error, size_t size) {
  char text[256] = "";
  FILE* f = fopen(yaml, "r");
  if (f == NULL || fread(text, 1, sizeof(text) - 1, f) == 0 || strstr(text, "broken") != NULL) {
    snprintf(error, size, "%s:1:1: the double finds nothing good here", f == NULL ? "absent" : "weft.yaml");
    if (f != NULL) fclose(f);
    return WEFT_EFILE;
  }
  fclose(f);
  *out = calloc(1, sizeof(**out));
  (*out)->reverse = strstr(text, "reverse") != NULL;
  if (log != NULL) log(user, WEFT_LOG_INFO, "double opened");
  return WEFT_OK;
}
static void d_close(weft_bridge* b) { free(b); }
static const char* d_version(void) { return "double"; }
static int d_bind(weft_bridge* b, size_t count, const char* const* names, struct weft_bind_report* report) {
  (void)names;
  b->count = count;
  if (report != NULL) report->bound = (uint32_t)count;
  return WEFT_OK;
}
static int d_node_ranks(const weft_bridge* b, size_t count, const char* const* names, uint32_t* rank) {
  (void)names;
  for (size_t i = 0; i < count; ++i) rank[i] = (uint32_t)(b->reverse ? count - i : i + 1);
  return WEFT_OK;
}

static int says(const struct weft_request* r, const char* what) {
  char text[256] = "", wanted[64];
  if (r->spec == NULL) return 0;
  memcpy(text, r->spec, r->spec_length < sizeof(text) - 1 ? r->spec_length : sizeof(text) - 1);
  snprintf(wanted, sizeof(wanted), "say=%s", what);
  return strcmp(text, wanted) == 0;
}

static void verdict(struct weft_choice* c, uint32_t v, uint32_t cause, const char* reason) {
  c->verdict = v;
  c->cause = cause;
  c->node_count = 0;
  snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

static int d_choose(weft_bridge* b, const struct weft_request* r, struct weft_choice* c) {
  uint32_t wanted = r->req_nodes > r->min_nodes ? r->req_nodes : r->min_nodes;
  (void)b;
  if (says(r, "error")) return WEFT_EINVAL;
  if (says(r, "never")) return verdict(c, WEFT_NEVER, WEFT_CAUSE_CONSTRAINT, "the double will never have it"), WEFT_OK;
  if (says(r, "repair") || (says(r, "not_now") && r->usable_count < r->possible_count))
    return verdict(c, WEFT_NOT_NOW, WEFT_CAUSE_CONSTRAINT, "the double wants to wait"), WEFT_OK;
  if (says(r, "deadline")) return verdict(c, WEFT_DELEGATE, WEFT_CAUSE_DEADLINE, "the double was too slow"), WEFT_OK;
  if (says(r, "internal")) return verdict(c, WEFT_DELEGATE, WEFT_CAUSE_INTERNAL, "the double threw"), WEFT_OK;
  c->verdict = WEFT_PLACED;
  c->decision = 1;
  snprintf(c->summary, sizeof(c->summary), "leaves=1 pods=1 cross_spine=0B/step gap=0.00");
  if (says(r, "too_few") && wanted > 1) wanted = 1;
  for (size_t i = r->usable_count; i-- > 0 && c->node_count < wanted;) c->nodes[c->node_count++] = r->usable[i];
  if (says(r, "bad_index")) c->nodes[0] = 4000000000u;
  if (says(r, "switches")) c->switches_exceeded = 1;
  return WEFT_OK;
}
static int d_patient(const weft_bridge* b, const char* spec, size_t length) {
  (void)b, (void)spec, (void)length;
  return 1;
}
static void d_outcome(weft_bridge* b, uint64_t decision, int taken, const char* reason) {
  (void)b, (void)decision, (void)taken, (void)reason;
}
static int d_whole(const weft_bridge* b, const uint32_t* nodes, size_t count, uint32_t* out, size_t size,
                   size_t* found) {
  (void)b;
  if (size < count) return WEFT_ESPACE;
  memcpy(out, nodes, count * sizeof(*nodes));
  *found = count;
  return WEFT_OK;
}
static int d_named(const weft_bridge* b, const char* name, uint32_t* out, size_t size, size_t* found) {
  (void)b, (void)out, (void)size;
  *found = 0;
  return strcmp(name, "empty") == 0 ? WEFT_OK : WEFT_ENOTFOUND;
}
static uint32_t d_fragmentation(const weft_bridge* b, const uint32_t* nodes, size_t count) {
  (void)b, (void)nodes, (void)count;
  return 0;
}
static int d_route(const weft_bridge* b, const uint32_t* nodes, size_t count, uint32_t width, uint32_t* order,
                   uint32_t* start, uint32_t* groups, uint32_t* depth) {
  (void)b, (void)nodes, (void)count, (void)width, (void)order, (void)start, (void)groups, (void)depth;
  return WEFT_EINTERNAL; /* the shim must fall back to Slurm's own */
}
static weft_bridge_topology* d_topology_new(const weft_bridge* b, const char* node, const char* sw) {
  (void)b, (void)node, (void)sw;
  return NULL;
}
static size_t d_topology_count(const weft_bridge_topology* t) { return t != NULL; }
static const struct weft_topology_record* d_topology_record(const weft_bridge_topology* t, size_t i) {
  (void)t, (void)i;
  return NULL;
}
static const char* d_headline(const weft_bridge_topology* t) {
  (void)t;
  return "";
}
static void d_topology_free(weft_bridge_topology* t) { (void)t; }
static int d_counters(const weft_bridge* b, struct weft_counters* out) {
  (void)b;
  memset(out, 0, sizeof(*out));
  return WEFT_OK;
}
static int d_check_spec(const char* spec, size_t length, char* error, size_t size) {
  (void)spec, (void)length, (void)error, (void)size;
  return WEFT_OK;
}
static int d_job_to_spec(const char* path, char* spec, size_t size, char* error, size_t error_size) {
  (void)path, (void)spec, (void)size;
  snprintf(error, error_size, "the double reads no job files");
  return WEFT_EFILE;
}

const struct weft_bridge_api* weft_bridge_get_api(uint32_t abi) {
  static const struct weft_bridge_api api = {
      WEFT_BRIDGE_ABI, sizeof(api), d_open,         d_close,          d_version,         d_bind,
      d_node_ranks,    d_choose,    d_patient,      d_outcome,        d_whole,           d_named,
      d_fragmentation, d_route,     d_topology_new, d_topology_count, d_topology_record, d_headline,
      d_topology_free, d_counters,  d_check_spec,   d_job_to_spec};
  return abi == WEFT_BRIDGE_ABI ? &api : NULL;
}
