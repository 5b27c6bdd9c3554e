/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TopologyPlugin=topology/weft for Slurm 24.11: the symbols that Slurm asks for, and nothing decided here.
 *
 * Every daemon and many a client load this file. Only slurmctld opens the engine (weft_engine.c); all others get the
 * behaviour of topology/default and need neither a fabric file nor libweft_slurm.so.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "weft_shim.h"

const char plugin_name[] = "topology weft plugin";
const char plugin_type[] = "topology/weft";
/* 100 to 104 are Slurm's own; must stay under 2^31. "weft" in letters of five bits. */
const uint32_t plugin_id = 0x000b94d4;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* What topology_p_get_bitmap() handed out: Slurm does not free it. One entry a name that the fabric knows. */
typedef struct {
  char* name;
  bitstr_t* map;
} named_map_t;

static struct {
  pthread_mutex_t mutex;
  list_t* list;
} named = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void _free_named(void* x) {
  named_map_t* entry = x;

  FREE_NULL_BITMAP(entry->map);
  xfree(entry->name);
  xfree(entry);
}

static int _find_named(void* x, void* key) { return !xstrcmp(((named_map_t*)x)->name, key); }

extern int init(void) {
  verbose("%s loaded", plugin_name);
  return SLURM_SUCCESS;
}

extern int fini(void) {
  if (!running_in_slurmctld()) return SLURM_SUCCESS;
  weft_notes_stop();
  weft_engine_close();
  slurm_mutex_lock(&named.mutex);
  FREE_NULL_LIST(named.list);
  slurm_mutex_unlock(&named.mutex);
  return SLURM_SUCCESS;
}

/* Files that an administrator may believe to be in force. */
static void _warn_of_strays(void) {
  const char* strays[] = {"topology.yaml", "topology.conf"};

  for (size_t i = 0; i < ARRAY_SIZE(strays); i++) {
    char* path = get_extra_conf_path((char*)strays[i]);
    if (!access(path, F_OK))
      warning("weft: %s is there, but topology/weft takes its fabric from weft.yaml%s", path,
              i ? "" : "; later Slurm releases would use it in place of TopologyPlugin: remove it");
    xfree(path);
  }
}

extern int topology_p_build_config(void) {
  if (!running_in_slurmctld() || !node_record_count) return SLURM_SUCCESS;
  _warn_of_strays();
  if (!weft_engine_open()) {
    /*
     * A reconfiguration is a new process, and slurmctld ignores an error from here: to end it is the way to
     * let the old process go on with the fabric it has.
     */
    if (getenv("SLURMCTLD_RECONF")) fatal("weft: reconfiguration refused: %s", weft_engine_error());
    error("weft: no fabric; stock selection for all jobs until `scontrol reconfigure` with a good weft.yaml");
    return SLURM_SUCCESS;
  }
  slurm_mutex_lock(&named.mutex);
  FREE_NULL_LIST(named.list);
  slurm_mutex_unlock(&named.mutex);
  weft_engine_bind();
  weft_notes_start();
  return SLURM_SUCCESS;
}

extern int topology_p_eval_nodes(topology_eval_t* topo_eval) { return weft_eval(topo_eval); }

extern int topology_p_whole_topo(bitstr_t* node_mask) {
  weft_bridge* engine = running_in_slurmctld() ? weft_engine() : NULL;
  uint32_t *nodes, *whole;
  size_t count, found = 0, size = node_record_count;

  if (!engine) return SLURM_SUCCESS;
  nodes = weft_indices(node_mask, &count);
  whole = xcalloc(size + 1, sizeof(*whole));
  if (weft_api()->whole_domains(engine, nodes, count, whole, size, &found) == WEFT_OK)
    for (size_t i = 0; i < found; i++) bit_set(node_mask, whole[i]);
  xfree(nodes);
  xfree(whole);
  return SLURM_SUCCESS;
}

extern bitstr_t* topology_p_get_bitmap(char* name) {
  weft_bridge* engine = running_in_slurmctld() ? weft_engine() : NULL;
  named_map_t* entry = NULL;
  uint32_t* nodes;
  size_t count = 0;

  if (!engine || !name) return NULL;
  slurm_mutex_lock(&named.mutex);
  if (!named.list) named.list = list_create(_free_named);
  entry = list_find_first(named.list, _find_named, name);
  /* Sized for an older node table: Slurm may still hold it, so it is left in the list under no name. */
  if (entry && (bit_size(entry->map) != node_record_count)) {
    xfree(entry->name);
    entry = NULL;
  }
  nodes = xcalloc(node_record_count + 1, sizeof(*nodes));
  if (!entry && (weft_api()->named_nodes(engine, name, nodes, node_record_count, &count) == WEFT_OK)) {
    entry = xmalloc(sizeof(*entry));
    entry->name = xstrdup(name);
    entry->map = bit_alloc(node_record_count);
    for (size_t i = 0; i < count; i++) bit_set(entry->map, nodes[i]);
    list_append(named.list, entry);
  }
  xfree(nodes);
  slurm_mutex_unlock(&named.mutex);
  return entry ? entry->map : NULL;
}

/* Called first of all, before the node hash exists: names by index. */
extern bool topology_p_generate_node_ranking(void) {
  const char** names;
  uint32_t* rank;
  bool ranked = false, kept = false;

  if (!running_in_slurmctld() || !node_record_count) return false;
  names = xcalloc(node_record_count + 1, sizeof(*names));
  rank = xcalloc(node_record_count + 1, sizeof(*rank));
  for (int i = 0; i < node_record_count; i++)
    if (node_record_table_ptr[i]) names[i] = node_record_table_ptr[i]->name;
  if (weft_engine_open())
    ranked = weft_api()->node_ranks(weft_engine_unlocked(), node_record_count, names, rank) == WEFT_OK;
  if (ranked)
    weft_order_save(rank);
  else
    kept = weft_order_load(rank);
  for (int i = 0; (ranked || kept) && (i < node_record_count); i++)
    if (node_record_table_ptr[i]) node_record_table_ptr[i]->node_rank = rank[i];
  info("weft: nodes are in %s order", ranked ? "fabric" : kept ? "the last good start's" : "name");
  xfree(names);
  xfree(rank);
  return ranked || kept;
}

extern int topology_p_get_node_addr(char* node_name, char** addr, char** pattern) {
  return common_topo_get_node_addr(node_name, addr, pattern);
}

/* One hostlist a group; nodes of the list that have left the table go alone. */
static int _route(weft_bridge* engine, hostlist_t* hl, hostlist_t*** sp_hl, int* count, uint16_t tree_width) {
  int total = hostlist_count(hl), known = 0, depth = SLURM_ERROR;
  uint32_t *nodes = xcalloc(total + 1, sizeof(*nodes)), *order = xcalloc(total + 1, sizeof(*order));
  uint32_t* start = xcalloc(tree_width + 2, sizeof(*start));
  uint32_t groups = 0, levels = 0;
  slurmctld_lock_t node_read = {.node = READ_LOCK};
  hostlist_iterator_t* it = hostlist_iterator_create(hl);
  char* name;

  lock_slurmctld(node_read);
  while ((name = hostlist_next(it))) {
    node_record_t* node = find_node_record(name);
    if (node) nodes[known++] = node->index;
    free(name);
  }
  hostlist_iterator_destroy(it);
  if ((known == total) &&
      (weft_api()->route(engine, nodes, known, tree_width, order, start, &groups, &levels) == WEFT_OK)) {
    *sp_hl = xcalloc(groups, sizeof(hostlist_t*));
    for (*count = 0; *count < (int)groups; (*count)++) {
      (*sp_hl)[*count] = hostlist_create(NULL);
      for (uint32_t i = start[*count]; i < start[*count + 1]; i++)
        hostlist_push_host((*sp_hl)[*count], node_record_table_ptr[order[i]]->name);
    }
    depth = levels;
  }
  unlock_slurmctld(node_read);
  if (depth >= 0)
    while ((name = hostlist_shift(hl))) /* stock leaves it empty */
      free(name);
  xfree(nodes);
  xfree(order);
  xfree(start);
  return depth;
}

extern int topology_p_split_hostlist(hostlist_t* hl, hostlist_t*** sp_hl, int* count, uint16_t tree_width) {
  weft_bridge* engine = running_in_slurmctld() ? weft_engine_unlocked() : NULL;
  int depth;

  if (!tree_width) tree_width = slurm_conf.tree_width;
  if (engine && common_topo_route_tree() && (hostlist_count(hl) > tree_width)) {
    depth = _route(engine, hl, sp_hl, count, tree_width);
    if (depth >= 0) return depth;
  }
  return common_topo_split_hostlist_treewidth(hl, sp_hl, count, tree_width);
}

extern int topology_p_topology_free(void* topoinfo_ptr) {
  weft_listing_free(topoinfo_ptr);
  return SLURM_SUCCESS;
}

extern int topology_p_get(topology_data_t type, void* data) {
  switch (type) {
    case TOPO_DATA_TOPOLOGY_PTR: {
      dynamic_plugin_data_t** out = data;

      *out = xmalloc(sizeof(**out));
      (*out)->data = weft_listing_new();
      (*out)->plugin_id = plugin_id;
      return SLURM_SUCCESS;
    }
    case TOPO_DATA_REC_CNT: *(int*)data = weft_listing_count(); return SLURM_SUCCESS;
    case TOPO_DATA_EXCLUSIVE_TOPO: *(int*)data = 1; return SLURM_SUCCESS;
  }
  error("weft: unknown question %d", type);
  return SLURM_ERROR;
}

extern int topology_p_topology_pack(void* topoinfo_ptr, buf_t* buffer, uint16_t protocol_version) {
  if (protocol_version < SLURM_MIN_PROTOCOL_VERSION) return SLURM_ERROR;
  weft_listing_pack(topoinfo_ptr, buffer);
  return SLURM_SUCCESS;
}

extern int topology_p_topology_print(void* topoinfo_ptr, char* nodes_list, char** out) {
  weft_listing_print(topoinfo_ptr, nodes_list, out);
  return SLURM_SUCCESS;
}

extern int topology_p_topology_unpack(void** topoinfo_pptr, buf_t* buffer, uint16_t protocol_version) {
  *topoinfo_pptr = weft_listing_unpack(buffer);
  return *topoinfo_pptr ? SLURM_SUCCESS : SLURM_ERROR;
}

extern uint32_t topology_p_get_fragmentation(bitstr_t* node_mask) {
  weft_bridge* engine = running_in_slurmctld() ? weft_engine() : NULL;
  uint32_t *nodes, score;
  size_t count;

  if (!engine) return 0;
  nodes = weft_indices(node_mask, &count);
  score = weft_api()->fragmentation(engine, nodes, count);
  xfree(nodes);
  return score;
}
