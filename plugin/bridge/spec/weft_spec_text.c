/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SPEC as text again, and text made safe. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "weft_spec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the order of their enums. */
static const char* const k_dims[] = {"tp", "cp", "ep", "pp", "dp"};
static const char* const k_levels[] = {"", "nvlink", "leaf", "pod"};
static const char* const k_objectives[] = {"", "traffic", "time", "spread"};
static const char* const k_cross_rails[] = {"", "pxn", "fabric"};
static const char* const k_collectives[] = {"allreduce", "reduce_scatter", "allgather",
                                            "broadcast", "alltoall",       "neighbour"};
static const char* const k_algorithms[] = {"ring", "tree", "hierarchical", "auto"};

struct writer {
  char* buffer;
  size_t size, used; /* used counts what does not fit too */
  int items;
};

static void put(struct writer* to, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer* to, const char* format, ...) {
  va_list args;
  const size_t left = to->used < to->size ? to->size - to->used : 0;
  va_start(args, format);
  const int n = vsnprintf(left > 0 ? to->buffer + to->used : NULL, left, format, args);
  va_end(args);
  if (n > 0) to->used += (size_t)n;
}

static void put_key(struct writer* to, const char* key, const char* suffix) {
  put(to, "%s%s%s=", to->items++ > 0 ? "," : "", key, suffix);
}

static void put_number(struct writer* to, const char* key, uint32_t value) {
  if (value == 0) return;
  put_key(to, key, "");
  put(to, "%u", value);
}

static void put_word(struct writer* to, const char* key, const char* word) {
  if (*word == '\0') return;
  put_key(to, key, "");
  put(to, "%s", word);
}

static void put_bytes(struct writer* to, uint64_t bytes) {
  static const char* const units[] = {"TiB", "GiB", "MiB", "KiB"};
  for (size_t u = 0; u < COUNT(units); ++u) {
    const int shift = 40 - 10 * (int)u;
    if (bytes % (UINT64_C(1) << shift) != 0) continue;
    put(to, "%llu%s", (unsigned long long)(bytes >> shift), units[u]);
    return;
  }
  put(to, "%lluB", (unsigned long long)bytes);
}

size_t weft_spec_write(const struct weft_spec* spec, char* buffer, size_t buffer_size) {
  struct writer to = {buffer, buffer == NULL ? 0 : buffer_size, 0, 0};
  if (to.size > 0) buffer[0] = '\0';
  for (int d = 0; d < WEFT_DIMS; ++d)
    if (spec->given[d]) put_number(&to, k_dims[d], spec->size[d]);
  if (spec->order_given) {
    put_key(&to, "order", "");
    for (int d = 0; d < WEFT_DIMS; ++d) put(&to, "%s%s", d > 0 ? "-" : "", k_dims[spec->order[d]]);
  }
  put_number(&to, "segment", spec->segment);
  put_word(&to, "segment_level", k_levels[spec->segment_level]);
  put_number(&to, "max_leaves", spec->max_leaves);
  put_number(&to, "max_pods", spec->max_pods);
  put_word(&to, "exclusive", k_levels[spec->exclusive]);
  put_word(&to, "objective", k_objectives[spec->objective]);
  if (spec->patience_given) {
    put_key(&to, "patience", "");
    put(&to, "%u", spec->patience / 100);
    if (spec->patience % 100 != 0) put(&to, ".%u", spec->patience % 100 / 10);
    if (spec->patience % 10 != 0) put(&to, "%u", spec->patience % 10);
  }
  for (uint8_t t = 0; t < spec->term_count; ++t) {
    const struct weft_spec_term* term = &spec->terms[t];
    if (t > 0 && spec->terms[t - 1].dim == term->dim)
      put(&to, "+");
    else
      put_key(&to, k_dims[term->dim], "_traffic");
    put(&to, "%s:", k_collectives[term->collective]);
    put_bytes(&to, term->bytes);
    if (term->algorithm != WEFT_RING) put(&to, ":%s", k_algorithms[term->algorithm]);
  }
  put_word(&to, "cross_rail", k_cross_rails[spec->cross_rail]);
  return to.used;
}

size_t weft_spec_defaults(struct weft_spec_term* terms) {
  static const struct weft_spec_term usual[] = {
      {WEFT_DIM_TP, WEFT_ALLREDUCE, WEFT_RING, UINT64_C(12) << 30},
      {WEFT_DIM_CP, WEFT_ALLGATHER, WEFT_RING, UINT64_C(2) << 30},
      {WEFT_DIM_EP, WEFT_ALLTOALL, WEFT_RING, UINT64_C(2) << 30},
      {WEFT_DIM_PP, WEFT_NEIGHBOUR, WEFT_RING, UINT64_C(512) << 20},
      {WEFT_DIM_DP, WEFT_REDUCE_SCATTER, WEFT_RING, UINT64_C(4) << 30},
      {WEFT_DIM_DP, WEFT_ALLGATHER, WEFT_RING, UINT64_C(4) << 30},
  };
  memcpy(terms, usual, sizeof(usual));
  return COUNT(usual);
}

static int is_break(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';'; }

int weft_spec_in_extra(const char* extra, const char** spec, size_t* length) {
  static const char prefix[] = "weft:";
  int found = 0;
  if (extra == NULL) return 0;
  for (const char* at = extra; *at != '\0';) {
    size_t word = 0;
    while (at[word] != '\0' && !is_break(at[word])) ++word;
    if (word >= sizeof(prefix) - 1 && memcmp(at, prefix, sizeof(prefix) - 1) == 0) {
      if (found) return -1;
      found = 1;
      *spec = at + sizeof(prefix) - 1;
      *length = word - (sizeof(prefix) - 1);
    }
    at += word;
    while (is_break(*at)) ++at;
  }
  return found;
}

size_t weft_spec_escape(const char* bytes, size_t length, size_t limit, char* buffer, size_t buffer_size) {
  static const char digits[] = "0123456789abcdef";
  size_t used = 0;
  if (buffer_size == 0) return 0;
  for (size_t i = 0; i < length; ++i) {
    const unsigned char c = (unsigned char)bytes[i];
    const int plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    if (i == limit || used + (plain ? 1 : 4) + (i + 1 < length ? 3 : 0) >= buffer_size) {
      for (int dot = 0; dot < 3 && used + 1 < buffer_size; ++dot) buffer[used++] = '.';
      break;
    }
    if (plain) {
      buffer[used++] = (char)c;
    } else {
      buffer[used++] = '\\';
      buffer[used++] = 'x';
      buffer[used++] = digits[c >> 4];
      buffer[used++] = digits[c & 15];
    }
  }
  buffer[used] = '\0';
  return used;
}
