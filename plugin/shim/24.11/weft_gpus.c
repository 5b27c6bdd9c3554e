/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which GPUs of a node a job could have, and a job held to some of them.
 *
 * select/cons_tres lists for each node it offers which GRES the job could have there, by socket (sock_gres_t), and in
 * the end takes the job's GPUs from these very lists: the first ones on the sockets whose cores the job gets. So GPUs
 * that are to be left alone are taken off the list of this one question; nothing else of Slurm's is touched.
 */
#include "weft_shim.h"

#define WORD 64

/* The one list about GPUs; NULL where there is none, or several (GPUs of several types in one job). */
static sock_gres_t* _gpus_of(const avail_res_t* avail) {
  sock_gres_t *found = NULL, *each;
  list_itr_t* it;
  int count = 0;

  if (!avail || !avail->sock_gres_list) return NULL;
  it = list_iterator_create(avail->sock_gres_list);
  while ((each = list_next(it))) {
    if (!each->gres_state_job || !each->gres_state_node || xstrcmp(each->gres_state_job->gres_name, "gpu")) continue;
    found = each;
    count++;
  }
  list_iterator_destroy(it);
  return (count == 1) ? found : NULL;
}

static uint64_t _word(bitstr_t* map) {
  uint64_t word = 0;

  for (int i = 0; i < bit_size(map); i++)
    if (bit_test(map, i)) word |= 1ULL << i;
  return word;
}

static bool _fits(bitstr_t* map) { return !map || (bit_size(map) <= WORD); }

/* Lists by device, none of them longer than a word. */
static bool _readable(const sock_gres_t* gpus) {
  bool any = gpus->bits_any_sock != NULL;

  if (!_fits(gpus->bits_any_sock)) return false;
  for (int s = 0; gpus->bits_by_sock && (s < gpus->sock_cnt); s++) {
    if (!_fits(gpus->bits_by_sock[s])) return false;
    any = any || gpus->bits_by_sock[s];
  }
  return any;
}

/* Without cores or types in gres.conf there are no lists, but each device has its bit, and a job gets the lowest. */
static uint64_t _by_device(const sock_gres_t* gpus, uint32_t wanted) {
  const gres_node_state_t* node = gpus->gres_state_node->gres_data;
  uint64_t all, free, lowest = 0;

  if (!node->gres_bit_alloc || !_fits(node->gres_bit_alloc) || node->topo_cnt) return 0;
  all = (bit_size(node->gres_bit_alloc) == WORD) ? ~0ULL : (1ULL << bit_size(node->gres_bit_alloc)) - 1;
  free = gpus->use_total_gres ? all : all & ~_word(node->gres_bit_alloc);
  for (; free && wanted; free &= free - 1, wanted--) lowest |= free & -free;
  return lowest;
}

extern uint64_t weft_free_gpus(const avail_res_t* avail, uint32_t wanted) {
  const sock_gres_t* gpus = _gpus_of(avail);
  const gres_node_state_t* node;
  uint64_t free = 0;

  if (!gpus) return 0;
  if (!_readable(gpus)) return _by_device(gpus, wanted);
  node = gpus->gres_state_node->gres_data;
  if (gpus->bits_any_sock) free |= _word(gpus->bits_any_sock);
  for (int s = 0; gpus->bits_by_sock && (s < gpus->sock_cnt); s++)
    if (gpus->bits_by_sock[s] && gpus->cnt_by_sock && gpus->cnt_by_sock[s]) free |= _word(gpus->bits_by_sock[s]);
  if (!gpus->use_total_gres && node->gres_bit_alloc && _fits(node->gres_bit_alloc))
    free &= ~_word(node->gres_bit_alloc);
  return free;
}

/* A list of _gpus_of() as it was. */
struct weft_kept_gpus {
  sock_gres_t* gpus;
  bitstr_t *any, **by_sock;
  uint64_t cnt_any, *cnt_by_sock, total_cnt, total_cnt_before_filter;
};

static weft_kept_gpus_t* _keep(sock_gres_t* gpus) {
  weft_kept_gpus_t* kept = xmalloc(sizeof(*kept));

  kept->gpus = gpus;
  kept->cnt_any = gpus->cnt_any_sock;
  kept->total_cnt = gpus->total_cnt;
  kept->total_cnt_before_filter = gpus->total_cnt_before_filter;
  kept->any = gpus->bits_any_sock ? bit_copy(gpus->bits_any_sock) : NULL;
  kept->by_sock = xcalloc(gpus->sock_cnt + 1, sizeof(*kept->by_sock));
  kept->cnt_by_sock = xcalloc(gpus->sock_cnt + 1, sizeof(*kept->cnt_by_sock));
  for (int s = 0; gpus->bits_by_sock && (s < gpus->sock_cnt); s++)
    if (gpus->bits_by_sock[s]) kept->by_sock[s] = bit_copy(gpus->bits_by_sock[s]);
  for (int s = 0; gpus->cnt_by_sock && (s < gpus->sock_cnt); s++) kept->cnt_by_sock[s] = gpus->cnt_by_sock[s];
  return kept;
}

static uint64_t _cut(bitstr_t* map, uint64_t wanted) {
  for (int i = 0; i < bit_size(map); i++)
    if (!(wanted >> i & 1)) bit_clear(map, i);
  return bit_set_count(map);
}

extern weft_kept_gpus_t* weft_hold_to_gpus(avail_res_t* avail, uint64_t wanted) {
  sock_gres_t* gpus = _gpus_of(avail);
  const gres_job_state_t* job;
  weft_kept_gpus_t* kept;
  uint64_t left = 0;

  if (!wanted || !gpus || !_readable(gpus) || ((weft_free_gpus(avail, 0) & wanted) != wanted)) return NULL;
  job = gpus->gres_state_job->gres_data;
  if (job->gres_per_socket) return NULL; /* each socket's own number: Slurm's to see to */
  kept = _keep(gpus);
  if (gpus->bits_any_sock) left += gpus->cnt_any_sock = MIN(gpus->cnt_any_sock, _cut(gpus->bits_any_sock, wanted));
  for (int s = 0; gpus->bits_by_sock && (s < gpus->sock_cnt); s++) {
    if (!gpus->bits_by_sock[s]) continue;
    gpus->cnt_by_sock[s] = MIN(gpus->cnt_by_sock[s], _cut(gpus->bits_by_sock[s], wanted));
    left += gpus->cnt_by_sock[s];
  }
  gpus->total_cnt = MIN(gpus->total_cnt, left);
  return kept;
}

extern void weft_release_gpus(weft_kept_gpus_t* kept) {
  sock_gres_t* gpus = kept->gpus;

  gpus->cnt_any_sock = kept->cnt_any;
  gpus->total_cnt = kept->total_cnt;
  gpus->total_cnt_before_filter = kept->total_cnt_before_filter;
  if (kept->any) bit_copybits(gpus->bits_any_sock, kept->any);
  for (int s = 0; s < gpus->sock_cnt; s++) {
    if (kept->by_sock[s]) bit_copybits(gpus->bits_by_sock[s], kept->by_sock[s]);
    if (gpus->cnt_by_sock) gpus->cnt_by_sock[s] = kept->cnt_by_sock[s];
  }
}

extern void weft_drop_gpus(weft_kept_gpus_t* kept) {
  if (!kept) return;
  FREE_NULL_BITMAP(kept->any);
  for (int s = 0; s < kept->gpus->sock_cnt; s++) FREE_NULL_BITMAP(kept->by_sock[s]);
  xfree(kept->by_sock);
  xfree(kept->cnt_by_sock);
  xfree(kept);
}
