/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `scontrol show topology`: slurmctld takes the listing from the bridge and packs it; the client, which has no engine,
 * unpacks, filters and prints it.
 */
#include <stdlib.h>

#include "weft_shim.h"

extern weft_listing_t* weft_listing_new(void) {
  weft_listing_t* listing = xmalloc(sizeof(*listing));
  const struct weft_bridge_api* api = weft_api();
  weft_bridge* engine = weft_engine();
  weft_bridge_topology* topology = engine ? api->topology_new(engine, NULL, NULL) : NULL;

  if (!topology) {
    listing->headline =
        xstrdup_printf("Fabric=none Reason=%s", weft_engine_error() ? weft_engine_error() : "no listing");
    return listing;
  }
  listing->headline = xstrdup(api->topology_headline(topology));
  listing->count = api->topology_count(topology);
  listing->switches = xcalloc(listing->count + 1, sizeof(*listing->switches));
  for (uint32_t i = 0; i < listing->count; i++) {
    const struct weft_topology_record* from = api->topology_record(topology, i);
    weft_listed_switch_t* to = &listing->switches[i];

    to->name = xstrdup(from->name);
    to->plane = xstrdup(from->plane);
    to->nodes = xstrdup(from->nodes);
    to->switches = xstrdup(from->switches);
    to->faults = xstrdup(from->faults);
    to->tier = from->tier;
    to->up = from->up;
    to->node_count = from->node_count;
    to->links = from->links;
    to->links_up = from->links_up;
    to->bandwidth_mbps = from->bandwidth_mbps;
  }
  api->topology_free(topology);
  return listing;
}

extern void weft_listing_free(weft_listing_t* listing) {
  if (!listing) return;
  for (uint32_t i = 0; listing->switches && (i < listing->count); i++) {
    xfree(listing->switches[i].name);
    xfree(listing->switches[i].plane);
    xfree(listing->switches[i].nodes);
    xfree(listing->switches[i].switches);
    xfree(listing->switches[i].faults);
  }
  xfree(listing->switches);
  xfree(listing->headline);
  xfree(listing);
}

extern void weft_listing_pack(const weft_listing_t* listing, buf_t* buffer) {
  packstr(listing->headline, buffer);
  pack32(listing->count, buffer);
  for (uint32_t i = 0; i < listing->count; i++) {
    const weft_listed_switch_t* s = &listing->switches[i];

    packstr(s->name, buffer);
    packstr(s->plane, buffer);
    packstr(s->nodes, buffer);
    packstr(s->switches, buffer);
    packstr(s->faults, buffer);
    pack16(s->tier, buffer);
    packbool(s->up, buffer);
    pack32(s->node_count, buffer);
    pack32(s->links, buffer);
    pack32(s->links_up, buffer);
    pack64(s->bandwidth_mbps, buffer);
  }
}

extern weft_listing_t* weft_listing_unpack(buf_t* buffer) {
  weft_listing_t* listing = xmalloc(sizeof(*listing));

  safe_unpackstr(&listing->headline, buffer);
  safe_unpack32(&listing->count, buffer);
  safe_xcalloc(listing->switches, listing->count, sizeof(*listing->switches));
  for (uint32_t i = 0; i < listing->count; i++) {
    weft_listed_switch_t* s = &listing->switches[i];

    safe_unpackstr(&s->name, buffer);
    safe_unpackstr(&s->plane, buffer);
    safe_unpackstr(&s->nodes, buffer);
    safe_unpackstr(&s->switches, buffer);
    safe_unpackstr(&s->faults, buffer);
    safe_unpack16(&s->tier, buffer);
    safe_unpackbool(&s->up, buffer);
    safe_unpack32(&s->node_count, buffer);
    safe_unpack32(&s->links, buffer);
    safe_unpack32(&s->links_up, buffer);
    safe_unpack64(&s->bandwidth_mbps, buffer);
  }
  return listing;

unpack_error:
  weft_listing_free(listing);
  return NULL;
}

static void _print(const weft_listed_switch_t* s, char** out) {
  char *line = NULL, *env;

  xstrfmtcat(line, "SwitchName=%s Tier=%u State=%s", s->name, s->tier, s->up ? "UP" : "DOWN");
  if (s->plane && s->plane[0]) xstrfmtcat(line, " Plane=%s", s->plane);
  xstrfmtcat(line, " Links=%u/%u LinkSpeed=%gGb/s", s->links_up, s->links, s->bandwidth_mbps / 1000.0);
  if (s->node_count) xstrfmtcat(line, " NodeCnt=%u Nodes=%s", s->node_count, s->nodes);
  if (s->switches && s->switches[0]) xstrfmtcat(line, " Switches=%s", s->switches);
  if (s->faults && s->faults[0]) xstrfmtcat(line, " Faults=\"%s\"", s->faults);
  if ((env = getenv("SLURM_TOPO_LEN"))) /* as the stock plugins */
    xstrfmtcat(*out, "%.*s\n", atoi(env), line);
  else
    xstrfmtcat(*out, "%s\n", line);
  xfree(line);
}

/* All nodes of a hostlist are below the switch. */
static bool _has_nodes(const weft_listed_switch_t* s, const char* nodes) {
  hostset_t* set;
  bool within;

  if (!s->nodes || !s->nodes[0] || !(set = hostset_create(s->nodes))) return false;
  within = hostset_within(set, nodes);
  hostset_destroy(set);
  return within;
}

extern void weft_listing_print(const weft_listing_t* listing, const char* filter, char** out) {
  bool any = false;

  *out = NULL;
  if (!filter || !filter[0]) {
    xstrfmtcat(*out, "%s\n", listing->headline);
    for (uint32_t i = 0; i < listing->count; i++) _print(&listing->switches[i], out);
    return;
  }
  for (uint32_t i = 0; i < listing->count; i++)
    if (!xstrcmp(listing->switches[i].name, filter)) {
      _print(&listing->switches[i], out);
      return;
    }
  for (uint32_t i = 0; i < listing->count; i++)
    if (_has_nodes(&listing->switches[i], filter)) {
      _print(&listing->switches[i], out);
      any = true;
    }
  if (!any) error("The fabric has no switch and no node named %s", filter);
}

extern uint32_t weft_listing_count(void) {
  weft_bridge* engine = weft_engine();
  weft_bridge_topology* topology = engine ? weft_api()->topology_new(engine, NULL, NULL) : NULL;
  uint32_t count = topology ? weft_api()->topology_count(topology) : 0;

  if (topology) weft_api()->topology_free(topology);
  return count;
}
