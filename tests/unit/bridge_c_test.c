/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The header and the library from plain C, as the shim uses them. Returns NULL, or what went wrong. */
#include <stdio.h>
#include <string.h>

#include "weft_bridge.h"
#include "weft_spec.h"

#define CHECK(holds)             \
  do {                           \
    if (!(holds)) return #holds; \
  } while (0)

const char* weft_bridge_c_test(const char* weft_yaml);

static void count_messages(void* user, enum weft_log_level level, const char* message) {
  if (level <= WEFT_LOG_INFO && message[0] != '\0') ++*(int*)user;
}

const char* weft_bridge_c_test(const char* weft_yaml) {
  const struct weft_bridge_api* api = weft_bridge_get_api(WEFT_BRIDGE_ABI);
  const char* names[] = {"n3", NULL, "n1", "n2"};
  const uint32_t usable[] = {0, 2, 3};
  uint32_t ranks[4], nodes[3];
  char error[WEFT_ERROR_MAX];
  int messages = 0;
  weft_bridge* bridge = NULL;
  struct weft_bind_report report;
  struct weft_request request;
  struct weft_choice choice;
  CHECK(api != NULL && api->abi == WEFT_BRIDGE_ABI && api->size == sizeof(*api));
  CHECK(api->open(weft_yaml, count_messages, &messages, &bridge, error, sizeof(error)) == WEFT_OK);
  CHECK(messages > 0);
  CHECK(api->node_ranks(bridge, 4, names, ranks) == WEFT_OK);
  CHECK(ranks[0] == 3 && ranks[1] == 4 && ranks[2] == 1 && ranks[3] == 2);
  CHECK(api->bind(bridge, 4, names, &report) == WEFT_OK && report.bound == 3 && report.only_fabric == 13);
  memset(&request, 0, sizeof(request));
  memset(&choice, 0, sizeof(choice));
  request.size = sizeof(request);
  request.usable = usable;
  request.usable_count = 3;
  request.min_nodes = request.max_nodes = 3;
  choice.size = sizeof(choice);
  choice.nodes = nodes;
  choice.nodes_size = 3;
  CHECK(api->choose(bridge, &request, &choice) == WEFT_OK);
  CHECK(choice.verdict == WEFT_PLACED && choice.node_count == 3);
  CHECK(nodes[0] == 2 && nodes[1] == 3 && nodes[2] == 0);
  CHECK(api->check_spec("tp=8", 4, error, sizeof(error)) == WEFT_OK);
  CHECK(api->check_spec("tp", 2, error, sizeof(error)) == WEFT_EINVAL && strlen(error) > 0);
  CHECK(strlen(api->version()) > 0);
  api->close(bridge);
  return NULL;
}
