/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SPANK plugin's pure parts: srun's command line, the published order, the job's own directory.
 */
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "order.h"
#include "srun_arguments.h"

static int failed, checks;

static void check(const char* what, int good) {
  ++checks;
  if (good) return;
  ++failed;
  printf("NOT OK  %s\n", what);
}

/* Words separated by '|', as a command line in /proc. */
static int settles(const char* words) {
  char line[512];
  const size_t length = strlen(words) + 1;
  memcpy(line, words, length);
  for (size_t i = 0; i < length; ++i) {
    if (line[i] == '|') line[i] = '\0';
  }
  return weft_srun_settles_layout(line, length);
}

static void test_arguments(void) {
  static const char* const kSettle[] = {"srun|-N2|a",
                                        "srun|-N|2|a",
                                        "srun|-n4|a",
                                        "srun|-lN2|a",
                                        "srun|--nodes=2|a",
                                        "srun|--nodes|2|a",
                                        "srun|-w|n1|a",
                                        "srun|-m|block|a",
                                        "srun|--dist=x|a",
                                        "srun|-p|main|-n|4|a",
                                        "srun|--partition|main|-n4|a",
                                        "srun|-x|n1|a",
                                        "srun|-r1|a",
                                        "srun|--interactive|--pty|bash",
                                        "srun|a|:|b",
                                        "srun|--het-group=0,1|a",
                                        "srun|--ntasks-per-node=4|a",
                                        "srun|-F|f|a",
                                        "srun|--jobid=7|a"};
  static const char* const kLeave[] = {"srun|a",
                                       "srun|a|-N|2",
                                       "srun|-l|a|-n4",
                                       "srun|-p|main|a|-n4",
                                       "srun|--|a|-N2",
                                       "srun|-c4|a",
                                       "srun|--label|a",
                                       "srun|--mpi=pmix|a|-w|x",
                                       "srun|--mpi|pmix|a|-w|x",
                                       "srun|-J|name|a",
                                       "srun|--unbuffered|python|-m|train",
                                       "srun|-o|out|-u|a"};
  for (size_t i = 0; i < sizeof(kSettle) / sizeof(*kSettle); ++i) check(kSettle[i], settles(kSettle[i]));
  for (size_t i = 0; i < sizeof(kLeave) / sizeof(*kLeave); ++i) check(kLeave[i], !settles(kLeave[i]));
  check("a command line that is cut short", weft_srun_settles_layout("srun\0a", 6));
}

static int order_is(const char* comment, const char* nodes, const char* wanted, int by_hostfile) {
  struct weft_order order;
  char got[256] = "";
  if (!weft_order_parse(comment, nodes, &order)) return wanted == NULL;
  for (size_t i = 0; i < order.count; ++i) {
    strcat(got, order.names[i]);
    strcat(got, " ");
  }
  const int good = wanted != NULL && strcmp(got, wanted) == 0 && order.by_hostfile == by_hostfile;
  weft_order_free(&order);
  return good;
}

static void test_order(void) {
  check("an order", order_is("weft{leaves=1 order=weft ranks=n[3-4],n1}", "n[1,3-4]", "n3 n4 n1 ", 1));
  check("the table's", order_is("a weft{ranks_per_node=8 order=table ranks=n[3-4]} b", "n[3-4]", "n3 n4 ", 0));
  check("other nodes", order_is("weft{order=weft ranks=n[3-4]}", "n[3-5]", NULL, 0));
  check("a node twice", order_is("weft{order=weft ranks=n3,n3}", "n[3-4]", NULL, 0));
  check("too long", order_is("weft{order=weft ranks=too_long}", "n[3-4]", NULL, 0));
  check("no end", order_is("weft{order=weft ranks=n[3-4]", "n[3-4]", NULL, 0));
  check("nothing",
        order_is(NULL, "n[3-4]", NULL, 0) && order_is("x", "n1", NULL, 0) && order_is("weft{}", NULL, NULL, 0));
}

static void test_tasks(void) {
  uint32_t tasks[4];
  check("8(x3),4", weft_tasks_per_node("8(x3),4", tasks, 4) && tasks[2] == 8 && tasks[3] == 4);
  check("too many", !weft_tasks_per_node("8(x5)", tasks, 4));
  check("too few", !weft_tasks_per_node("8(x3)", tasks, 4));
  check("no number", !weft_tasks_per_node("x", tasks, 1) && !weft_tasks_per_node("", tasks, 1) &&
                         !weft_tasks_per_node("0", tasks, 1));
  check("no parenthesis", !weft_tasks_per_node("8(x3", tasks, 3));
}

static void test_directory(void) {
  static const char* const kNames[] = {"hosts", "link"};
  struct weft_directory directory;
  char path[5000];
  struct stat st;
  check("is made", weft_directory_make(&directory, "/tmp", 7));
  check("for its owner alone", stat(directory.path, &st) == 0 && (st.st_mode & 0777) == 0700);
  check("takes a file", weft_directory_write(&directory, "hosts", "n1\n", 3));
  snprintf(path, sizeof(path), "%s/hosts", directory.path);
  check("of its owner alone", stat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 3);
  check("but never over another", !weft_directory_write(&directory, "hosts", "n2\n", 3));
  snprintf(path, sizeof(path), "%s/link", directory.path);
  check("nor through a link", symlink("/tmp/weft-not-there", path) == 0 &&
                                  !weft_directory_write(&directory, "link", "x", 1) &&
                                  access("/tmp/weft-not-there", F_OK) != 0);
  snprintf(path, sizeof(path), "%s", directory.path);
  weft_directory_remove(&directory, kNames, 2);
  check("is gone", access(path, F_OK) != 0);
  check("no parent", !weft_directory_make(&directory, "/nowhere/at/all", 7));
  weft_directory_remove(&directory, kNames, 2);
}

int main(void) {
  test_arguments();
  test_order();
  test_tasks();
  test_directory();
  printf("%d of %d checks failed\n", failed, checks);
  return failed != 0;
}
