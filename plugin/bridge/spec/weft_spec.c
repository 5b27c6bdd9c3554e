/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SPEC's grammar. */
#include "weft_spec.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char* const k_dims[] = {"tp", "cp", "ep", "pp", "dp"};
static const char* const k_levels[] = {"nvlink", "leaf", "pod"};
static const char* const k_objectives[] = {"traffic", "time", "spread"};
static const char* const k_cross_rails[] = {"pxn", "fabric"};
static const char* const k_collectives[] = {"allreduce", "reduce_scatter", "allgather",
                                            "broadcast", "alltoall",       "neighbour"};
static const char* const k_algorithms[] = {"ring", "tree", "hierarchical", "auto"};

static const struct {
  const char* name;
  uint64_t bytes;
} k_units[] = {/* largest first: the writer takes the first that divides */
               {"TiB", UINT64_C(1) << 40}, {"GiB", UINT64_C(1) << 30},      {"MiB", UINT64_C(1) << 20},
               {"KiB", UINT64_C(1) << 10}, {"TB", UINT64_C(1000000000000)}, {"GB", UINT64_C(1000000000)},
               {"MB", UINT64_C(1000000)},  {"kB", UINT64_C(1000)},          {"B", 1}};

enum key {
  KEY_DIM, /* + enum weft_spec_dim */
  KEY_ORDER = KEY_DIM + WEFT_DIMS,
  KEY_SEGMENT,
  KEY_SEGMENT_LEVEL,
  KEY_MAX_LEAVES,
  KEY_MAX_PODS,
  KEY_EXCLUSIVE,
  KEY_OBJECTIVE,
  KEY_PATIENCE,
  KEY_TRAFFIC, /* + enum weft_spec_dim */
  KEY_CROSS_RAIL = KEY_TRAFFIC + WEFT_DIMS,
  KEY_COUNT
};
static const char* const k_keys[KEY_COUNT] = {
    "tp",         "cp",         "ep",        "pp",        "dp",       "order",      "segment",    "segment_level",
    "max_leaves", "max_pods",   "exclusive", "objective", "patience", "tp_traffic", "cp_traffic", "ep_traffic",
    "pp_traffic", "dp_traffic", "cross_rail"};

/* A run of the user's bytes. */
struct piece {
  const char* at;
  size_t length;
};

struct parser {
  const char* text;
  struct weft_spec spec;
  bool seen[KEY_COUNT];
  size_t seen_at[KEY_COUNT];
  char* error;
  size_t error_size;
};

static bool equals(struct piece p, const char* word) {
  return strlen(word) == p.length && memcmp(p.at, word, p.length) == 0;
}

static int refuse(struct parser* parser, const char* format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(struct parser* parser, const char* format, ...) {
  va_list args;
  if (parser->error == NULL || parser->error_size == 0) return -1;
  va_start(args, format);
  (void)vsnprintf(parser->error, parser->error_size, format, args);
  va_end(args);
  return -1;
}

/* The piece for a message, and where it stands counted from 1. */
struct shown {
  char text[160];
  size_t byte;
};
static struct shown show(const struct parser* parser, struct piece p) {
  struct shown out;
  (void)weft_spec_escape(p.at, p.length, 32, out.text, sizeof(out.text));
  out.byte = (size_t)(p.at - parser->text) + 1;
  return out;
}

/* "a, b or c" */
static void list_words(const char* const* words, size_t count, char* buffer, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < count && used < size; ++i) {
    const char* join = i == 0 ? "" : i + 1 == count ? " or " : ", ";
    const int n = snprintf(buffer + used, size - used, "%s%s", join, words[i]);
    if (n > 0) used += (size_t)n;
  }
}

static int read_word(struct parser* parser, const char* key, struct piece value, const char* const* words, size_t count,
                     uint8_t first, uint8_t* out) {
  char known[128];
  for (size_t i = 0; i < count; ++i) {
    if (!equals(value, words[i])) continue;
    *out = (uint8_t)(first + i);
    return 0;
  }
  list_words(words, count, known, sizeof(known));
  const struct shown s = show(parser, value);
  return refuse(parser, "%s is \"%s\" at byte %zu; expected %s", key, s.text, s.byte, known);
}

static int read_count(struct parser* parser, const char* key, struct piece value, uint32_t max, uint32_t* out) {
  uint64_t number = 0;
  bool digits = value.length > 0;
  for (size_t i = 0; i < value.length && digits; ++i) {
    digits = value.at[i] >= '0' && value.at[i] <= '9';
    if (digits && number <= max) number = number * 10 + (uint64_t)(value.at[i] - '0');
  }
  if (!digits || number == 0 || number > max) {
    const struct shown s = show(parser, value);
    return refuse(parser, "%s is \"%s\" at byte %zu; expected a whole number from 1 to %u", key, s.text, s.byte, max);
  }
  *out = (uint32_t)number;
  return 0;
}

/* whole + fraction / scale */
struct decimal {
  uint64_t whole, fraction, scale;
};

/* Digits, and perhaps a point and 1 to `decimals` more. Bytes read; 0 where that is not what stands there, or the whole
 * part goes on above `most`. */
static size_t decimal_of(struct piece p, size_t decimals, uint64_t most, struct decimal* out) {
  size_t i = 0, digits = 0;
  *out = (struct decimal){0, 0, 1};
  for (; i < p.length && p.at[i] >= '0' && p.at[i] <= '9'; ++i) {
    if (out->whole > most) return 0;
    out->whole = out->whole * 10 + (uint64_t)(p.at[i] - '0');
  }
  if (i == 0 || i == p.length || p.at[i] != '.') return i;
  for (++i; i < p.length && p.at[i] >= '0' && p.at[i] <= '9'; ++i, ++digits) {
    if (digits == decimals) return 0;
    out->fraction = out->fraction * 10 + (uint64_t)(p.at[i] - '0');
    out->scale *= 10;
  }
  return digits == 0 ? 0 : i;
}

/* "2", "2.5", "2.25" into hundredths. */
static int read_hundredths(struct parser* parser, const char* key, struct piece value, uint32_t max, uint32_t* out) {
  struct decimal d;
  const size_t read = decimal_of(value, 2, max / 100, &d);
  const uint64_t hundredths = d.whole * 100 + d.fraction * 100 / d.scale;
  if (read == 0 || read != value.length || hundredths > max) {
    const struct shown s = show(parser, value);
    return refuse(parser, "%s is \"%s\" at byte %zu; expected a number from 0 to %u, such as 2.5", key, s.text, s.byte,
                  max / 100);
  }
  *out = (uint32_t)hundredths;
  return 0;
}

/* "12GiB", "1.5GB": exact, or refused. */
static bool bytes_of(struct piece p, uint64_t* out) {
  struct decimal d;
  const size_t read = decimal_of(p, 6, WEFT_SPEC_MAX_BYTES, &d);
  if (read == 0) return false;
  const struct piece unit = {p.at + read, p.length - read};
  for (size_t u = 0; u < COUNT(k_units); ++u) {
    const uint64_t factor = k_units[u].bytes;
    if (!equals(unit, k_units[u].name)) continue;
    /* whole is at most 10 * 2^50, fraction below 10^6, factor at most 2^40: only the first product can overflow. */
    if (d.whole > WEFT_SPEC_MAX_BYTES / factor || d.fraction * factor % d.scale != 0) return false;
    const uint64_t value = d.whole * factor + d.fraction * factor / d.scale;
    if (value == 0 || value > WEFT_SPEC_MAX_BYTES) return false;
    *out = value;
    return true;
  }
  return false;
}

/* Cuts off what stands before `stop`; the rest, without it, stays. False where there was nothing left. */
static bool next_piece(struct piece* rest, char stop, struct piece* out) {
  if (rest->at == NULL) return false;
  const char* end = rest->length > 0 ? memchr(rest->at, stop, rest->length) : NULL;
  out->at = rest->at;
  if (end == NULL) {
    out->length = rest->length;
    rest->at = NULL;
    rest->length = 0;
  } else {
    out->length = (size_t)(end - rest->at);
    rest->at = end + 1;
    rest->length -= out->length + 1;
  }
  return true;
}

static int read_term(struct parser* parser, const char* key, uint8_t dim, struct piece text) {
  struct piece rest = text, word;
  struct weft_spec_term term = {dim, 0, WEFT_RING, 0};
  const struct shown s = show(parser, text);
  (void)next_piece(&rest, ':', &word);
  if (read_word(parser, key, word, k_collectives, COUNT(k_collectives), 0, &term.collective) != 0) return -1;
  if (!next_piece(&rest, ':', &word))
    return refuse(parser, "%s: \"%s\" at byte %zu says no bytes; expected collective:bytes such as %s:4GiB", key,
                  s.text, s.byte, k_collectives[term.collective]);
  if (!bytes_of(word, &term.bytes)) {
    const struct shown b = show(parser, word);
    return refuse(
        parser,
        "%s: bytes are \"%s\" at byte %zu; expected a whole number of bytes with its unit, up to 1024TiB, such as 4GiB",
        key, b.text, b.byte);
  }
  if (next_piece(&rest, ':', &word) &&
      read_word(parser, key, word, k_algorithms, COUNT(k_algorithms), 0, &term.algorithm) != 0)
    return -1;
  if (rest.at != NULL) {
    const struct shown more = show(parser, rest);
    return refuse(parser, "%s: \"%s\" at byte %zu is one part too many; expected collective:bytes[:algorithm]", key,
                  more.text, more.byte);
  }
  if (parser->spec.term_count == WEFT_SPEC_TERMS)
    return refuse(parser, "%s at byte %zu: more than %u traffic terms", key, s.byte, WEFT_SPEC_TERMS);
  /* by dim, whatever the order of the keys */
  size_t at = parser->spec.term_count++;
  for (; at > 0 && parser->spec.terms[at - 1].dim > dim; --at) parser->spec.terms[at] = parser->spec.terms[at - 1];
  parser->spec.terms[at] = term;
  return 0;
}

static int read_order(struct parser* parser, struct piece value) {
  struct piece rest = value, word;
  bool named[WEFT_DIMS] = {false};
  size_t count = 0;
  while (next_piece(&rest, '-', &word)) {
    int dim = WEFT_DIMS;
    for (int d = 0; d < WEFT_DIMS; ++d)
      if (equals(word, k_dims[d])) dim = d;
    const struct shown s = show(parser, word);
    if (dim == WEFT_DIMS)
      return refuse(parser,
                    "order: \"%s\" at byte %zu is no dimension; expected tp, cp, ep, pp, dp once each, innermost first",
                    s.text, s.byte);
    if (named[dim]) return refuse(parser, "order names %s twice, at byte %zu", s.text, s.byte);
    named[dim] = true;
    parser->spec.order[count++] = (uint8_t)dim;
  }
  for (int d = 0; d < WEFT_DIMS; ++d)
    if (!named[d] && d != WEFT_DIM_EP)
      return refuse(parser, "order does not name %s; expected tp, cp, ep, pp, dp once each", k_dims[d]);
  parser->spec.order_given = 1;
  if (named[WEFT_DIM_EP]) return 0;
  /* Its usual place, before dp, which is there; finish() refuses it where ep is not 1. */
  size_t at = count;
  while (parser->spec.order[at - 1] != WEFT_DIM_DP) --at;
  memmove(parser->spec.order + at, parser->spec.order + at - 1, count - at + 1);
  parser->spec.order[at - 1] = WEFT_DIM_EP;
  parser->spec.order_given = 2; /* until finish() has looked */
  return 0;
}

static int read_value(struct parser* parser, enum key key, struct piece value) {
  struct weft_spec* spec = &parser->spec;
  const char* name = k_keys[key];
  struct piece rest = value, word;
  switch (key) {
    case KEY_ORDER: return read_order(parser, value);
    case KEY_SEGMENT: return read_count(parser, name, value, WEFT_SPEC_MAX_NODES, &spec->segment);
    case KEY_MAX_LEAVES: return read_count(parser, name, value, WEFT_SPEC_MAX_NODES, &spec->max_leaves);
    case KEY_MAX_PODS: return read_count(parser, name, value, WEFT_SPEC_MAX_NODES, &spec->max_pods);
    case KEY_PATIENCE:
      spec->patience_given = 1;
      return read_hundredths(parser, name, value, WEFT_SPEC_MAX_PATIENCE, &spec->patience);
    case KEY_SEGMENT_LEVEL:
      return read_word(parser, name, value, k_levels, COUNT(k_levels), WEFT_LEVEL_NVLINK, &spec->segment_level);
    case KEY_EXCLUSIVE:
      return read_word(parser, name, value, k_levels, COUNT(k_levels), WEFT_LEVEL_NVLINK, &spec->exclusive);
    case KEY_OBJECTIVE:
      return read_word(parser, name, value, k_objectives, COUNT(k_objectives), WEFT_OBJECTIVE_TRAFFIC,
                       &spec->objective);
    case KEY_CROSS_RAIL:
      return read_word(parser, name, value, k_cross_rails, COUNT(k_cross_rails), WEFT_CROSS_RAIL_PXN,
                       &spec->cross_rail);
    default: break;
  }
  if (key < KEY_ORDER) {
    spec->given[key - KEY_DIM] = 1;
    return read_count(parser, name, value, WEFT_SPEC_MAX_RANKS, &spec->size[key - KEY_DIM]);
  }
  while (next_piece(&rest, '+', &word))
    if (read_term(parser, name, (uint8_t)(key - KEY_TRAFFIC), word) != 0) return -1;
  return 0;
}

static int read_item(struct parser* parser, struct piece item) {
  char known[256];
  const char* equal = item.length > 0 ? memchr(item.at, '=', item.length) : NULL;
  const struct shown s = show(parser, item);
  if (item.length == 0) return refuse(parser, "nothing between commas at byte %zu; expected key=value", s.byte);
  const struct piece name = {item.at, equal == NULL ? item.length : (size_t)(equal - item.at)};
  for (int key = 0; key < KEY_COUNT; ++key) {
    if (!equals(name, k_keys[key])) continue;
    if (equal == NULL)
      return refuse(parser, "%s at byte %zu has no value; expected %s=...", k_keys[key], s.byte, k_keys[key]);
    if (parser->seen[key])
      return refuse(parser, "%s stands twice, at byte %zu and at byte %zu", k_keys[key], parser->seen_at[key], s.byte);
    parser->seen[key] = true;
    parser->seen_at[key] = s.byte;
    const struct piece value = {equal + 1, item.length - name.length - 1};
    return read_value(parser, (enum key)key, value);
  }
  list_words(k_keys, KEY_COUNT, known, sizeof(known));
  const struct shown n = show(parser, name);
  return refuse(parser, "unknown key \"%s\" at byte %zu; expected %s", n.text, n.byte, known);
}

/* What needs the whole of it. */
static int finish(struct parser* parser) {
  struct weft_spec* spec = &parser->spec;
  uint64_t ranks = 1;
  for (int d = 0; d < WEFT_DIMS; ++d) {
    if (d == WEFT_DIM_EP) continue;
    ranks *= spec->size[d];
    if (ranks > WEFT_SPEC_MAX_RANKS)
      return refuse(parser, "tp %u x cp %u x pp %u x dp %u are more than %u ranks", spec->size[WEFT_DIM_TP],
                    spec->size[WEFT_DIM_CP], spec->size[WEFT_DIM_PP], spec->size[WEFT_DIM_DP], WEFT_SPEC_MAX_RANKS);
  }
  const uint32_t ep = spec->size[WEFT_DIM_EP];
  const uint64_t experts = (uint64_t)spec->size[WEFT_DIM_DP] * spec->size[WEFT_DIM_CP];
  if (spec->given[WEFT_DIM_DP] && experts % ep != 0)
    return refuse(parser, "ep %u does not divide dp %u x cp %u = %llu", ep, spec->size[WEFT_DIM_DP],
                  spec->size[WEFT_DIM_CP], (unsigned long long)experts);
  if (spec->order_given == 2) {
    if (ep != 1) return refuse(parser, "order does not name ep, which is %u", ep);
    spec->order_given = 1;
  }
  if (spec->segment_level != WEFT_LEVEL_NONE && spec->segment == 0)
    return refuse(parser, "segment_level without a segment; expected segment=8 or so beside it");
  if (spec->segment != 0 && spec->segment_level == WEFT_LEVEL_NONE) spec->segment_level = WEFT_LEVEL_LEAF;
  for (uint8_t t = 0; t < spec->term_count; ++t) {
    const uint8_t dim = spec->terms[t].dim;
    if (dim == WEFT_DIM_DP || spec->given[dim]) continue;
    return refuse(parser, "%s_traffic without %s; expected %s=8 or so beside it", k_dims[dim], k_dims[dim],
                  k_dims[dim]);
  }
  return 0;
}

void weft_spec_init(struct weft_spec* out) {
  static const uint8_t usual[WEFT_DIMS] = {WEFT_DIM_TP, WEFT_DIM_CP, WEFT_DIM_EP, WEFT_DIM_DP, WEFT_DIM_PP};
  memset(out, 0, sizeof(*out));
  for (int d = 0; d < WEFT_DIMS; ++d) out->size[d] = 1;
  memcpy(out->order, usual, sizeof(usual));
}

int weft_spec_parse(const char* text, size_t length, struct weft_spec* out, char* error, size_t error_size) {
  struct parser parser;
  struct piece rest = {text, length}, item;
  memset(&parser, 0, sizeof(parser));
  weft_spec_init(&parser.spec);
  parser.text = text;
  parser.error = error;
  parser.error_size = error_size;
  if (text == NULL || length == 0) return refuse(&parser, "the SPEC is empty; expected key=value such as tp=8,pp=4");
  if (length > WEFT_SPEC_BYTES) return refuse(&parser, "the SPEC has more than %u bytes", WEFT_SPEC_BYTES);
  while (next_piece(&rest, ',', &item))
    if (read_item(&parser, item) != 0) return -1;
  if (finish(&parser) != 0) return -1;
  *out = parser.spec;
  return 0;
}
