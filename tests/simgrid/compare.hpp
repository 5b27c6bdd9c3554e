// SPDX-License-Identifier: BSD-3-Clause
//
// Weft's link loads and times of statically routed jobs against SimGrid, which shares no code with it.
//
// WHAT IS COMPARED
//   A fat tree with d-mod-k routing (fat_tree.hpp) goes to Weft as two texts, ibnetdiscover's and opensm's, and to
//   SimGrid as a fat-tree zone of its own. place() puts jobs on it, around busy nodes. Then, within 5 % each:
//
//   bytes    what each directed link carries, by static_loads, against SimGrid's rates over time; each term alone
//   share    the part of each link's capacity that the term takes while it runs
//   fair     the rate of each flow over a link that the term waits for, where flows are equally long: its part of the
//            link's bytes, of the link's bandwidth
//   terms    the time of each term alone, from the score of a job that has that term only
//   step     the step's time. Weft's model runs terms one after another, and so does SimGrid here
//   at once  all terms' flows together: the drain time of the score's bottleneck
//   shared   all jobs' flows together: the longest of the score's drain times of this and the running jobs
//
//   No link may be done in SimGrid before Weft's drain time of it is over: that is a lower bound whatever the sharing.
//
// WHY A DRAIN TIME IS A FINISH TIME
//   The flows of a term are equally long. Max-min fairness gives those on the link with the least capacity a flow equal
//   parts of it until they end together, which is that link's bytes over its bandwidth; all others are faster. Of flows
//   of unequal length (a matrix; several terms or jobs at once) the last may leave its bottleneck half idle while it
//   waits for another link, so that the drain time is a bound that need not be reached: the cases with a name reach it
//   within 5 %, those drawn at random are held to the bound, and print what they come to.
//   A running job's own drain time is no finish time either, where its flows are the shorter ones: only the longest is.
//
// LEFT OUT OF WEFT'S TIME
//   Latencies and the tree's efficiency, which are constants of NCCL and no sharing; NVLink takes no time.
#pragma once

#include "site.hpp"

namespace weft::simgrid_test {

/// Between two numbers, as a part of the larger one.
[[nodiscard]] double difference(double a, double b);

/// Both sides of one number.
struct Pair {
  double weft = 0, simgrid = 0;
  [[nodiscard]] double off() const { return difference(weft, simgrid); }
};

/// What one case comes to. `bytes`, `share`, `fair` and `terms` are the largest difference over links and terms.
struct Comparison {
  std::size_t nodes = 0, flows = 0, phases = 0, links = 0;
  double bytes = 0, share = 0, fair = 0, terms = 0;
  double early = 0;  ///< the most by which SimGrid is through with a link before its drain time
  Pair step, at_once, shared;
};

/// Throws where the case cannot be made or SimGrid does not run.
[[nodiscard]] Comparison compare(const Case& c, const std::string& tables);

/// In one line; of a pair Weft's number first.
void print(const std::string& name, const Comparison& r);

}  // namespace weft::simgrid_test
