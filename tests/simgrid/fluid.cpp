// SPDX-License-Identifier: BSD-3-Clause
#include "fluid.hpp"

#include <simgrid/forward.h>  // version.h does not stand alone
#include <simgrid/version.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <simgrid/s4u.hpp>
#include <stdexcept>

namespace weft::simgrid_test {
namespace {

namespace s4u = simgrid::s4u;

constexpr double kHostSpeed = 1e9;  // nothing computes

std::string host_name(std::uint64_t nic) { return "nic" + std::to_string(nic); }

// What version 4 (Debian 13) calls otherwise than version 3 (Debian 12).
#if SIMGRID_VERSION >= 40000
s4u::NetZone* fat_tree_zone(const FatTree& tree, double bandwidth) {
  return s4u::Engine::get_instance()
      ->get_netzone_root()
      ->add_netzone_fatTree("tree", tree.levels(), tree.m, tree.w, tree.p, bandwidth, 0,
                            s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->set_host_cb([](s4u::NetZone* zone, const std::vector<unsigned long>& /*coord*/, unsigned long id) {
        return zone->add_host(host_name(id), kHostSpeed);
      });
}
s4u::NetZone* full_zone() { return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full("tree"); }
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) { return zone->add_host(name, kHostSpeed); }
s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->add_link(name, bandwidth);
}
void add_route(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, const std::vector<s4u::LinkInRoute>& route) {
  zone->add_route(from, to, route, false);
}
void add_actor(s4u::Host* host, const std::function<void()>& code) { s4u::Engine::add_actor("all", host, code); }
double rate_on(const s4u::Link* link) { return link->get_load(); }
#else
s4u::NetZone* fat_tree_zone(const FatTree& tree, double bandwidth) {
  const s4u::ClusterCallbacks callbacks(
      [](s4u::NetZone* zone, const std::vector<unsigned long>& /*coord*/, unsigned long id) {
        return std::make_pair(zone->create_host(host_name(id), kHostSpeed)->seal()->get_netpoint(),
                              static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
      });
  return s4u::create_fatTree_zone("tree", nullptr, s4u::FatTreeParams(tree.levels(), tree.m, tree.w, tree.p), callbacks,
                                  bandwidth, 0, s4u::Link::SharingPolicy::SPLITDUPLEX);
}
s4u::NetZone* full_zone() { return s4u::create_full_zone("tree"); }
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) { return zone->create_host(name, kHostSpeed); }
s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->create_link(name, bandwidth);
}
void add_route(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, const std::vector<s4u::LinkInRoute>& route) {
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
}
void add_actor(s4u::Host* host, const std::function<void()>& code) { s4u::Actor::create("all", host, code); }
double rate_on(const s4u::Link* link) { return link->get_usage(); }
#endif

// The tree as a SimGrid platform.
class Platform {
 public:
  explicit Platform(const FatTree& tree) : tree_(tree), links_(std::size_t{2} * tree.cable_count(), nullptr) {
    if (*std::max_element(tree.p.begin(), tree.p.end()) == 1)
      own_zone();
    else
      explicit_routes();
  }
  [[nodiscard]] s4u::Host* host(std::uint32_t nic) const { return hosts_[nic]; }
  [[nodiscard]] double rate(std::uint32_t directed) const {
    return links_[directed] == nullptr ? 0 : rate_on(links_[directed]);
  }

 private:
  void own_zone() {
    fat_tree_zone(tree_, 200e9 / 8)->seal();
    find_hosts();
    for (std::uint32_t a = 0; a < tree_.count(0); ++a)
      for (std::uint32_t b = 0; b < tree_.count(0); ++b)
        if (a != b) match_route(a, b);
    for (const auto& [cable, gbps] : tree_.slow_gbps)
      for (const std::uint32_t directed : {2 * cable, 2 * cable + 1}) {
        if (links_[directed] == nullptr) throw std::runtime_error("a slow cable is on no route");
        links_[directed]->set_bandwidth(tree_.bytes_per_second(cable));
      }
  }

  // One SimGrid link is one directed cable and the other way round, over all routes.
  void match_route(std::uint32_t from, std::uint32_t to) {
    std::vector<s4u::Link*> links;
    double latency = 0;
    hosts_[from]->route_to(hosts_[to], links, &latency);
    const std::vector<std::uint32_t> formula = tree_.route(from, to);
    bool same = links.size() == formula.size();
    for (std::size_t i = 0; same && i < links.size(); ++i) {
      s4u::Link*& here = links_[formula[i]];
      if (here == nullptr && cable_of_.emplace(links[i], formula[i]).second) here = links[i];
      same = here == links[i] && cable_of_.at(links[i]) == formula[i];
    }
    if (!same) throw std::runtime_error(fmt::format("SimGrid's route from {} to {} is not d-mod-k's", from, to));
  }

  void explicit_routes() {
    s4u::NetZone* zone = full_zone();
    for (std::uint32_t n = 0; n < tree_.count(0); ++n) add_host(zone, host_name(n))->seal();
    for (std::uint32_t directed = 0; directed < links_.size(); ++directed) {
      links_[directed] = add_link(zone, "link" + std::to_string(directed), tree_.bytes_per_second(directed / 2));
      links_[directed]->set_latency(0)->seal();
    }
    find_hosts();
    for (std::uint32_t a = 0; a < tree_.count(0); ++a)
      for (std::uint32_t b = 0; b < tree_.count(0); ++b) {
        if (a == b) continue;
        std::vector<s4u::LinkInRoute> route;
        for (const std::uint32_t directed : tree_.route(a, b)) route.emplace_back(links_[directed]);
        add_route(zone, hosts_[a], hosts_[b], route);
      }
    zone->seal();
  }

  void find_hosts() {
    for (std::uint32_t n = 0; n < tree_.count(0); ++n)
      hosts_.push_back(s4u::Engine::get_instance()->host_by_name(host_name(n)));
  }

  const FatTree& tree_;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::Link*> links_;                 // by directed cable
  std::map<s4u::Link*, std::uint32_t> cable_of_;  // asked, never iterated
};

std::vector<s4u::CommPtr> start(const Platform& platform, const Phase& phase) {
  std::vector<s4u::CommPtr> out;
  for (const Transfer& t : phase)
    out.push_back(s4u::Comm::sendto_async(platform.host(t.from), platform.host(t.to),
                                          static_cast<std::uint64_t>(std::llround(t.bytes))));
  return out;
}

// Twice: the first run tells when transfers end, the second reads the links' rates half way between those.
PhaseResult run_phase(const Platform& platform, const Phase& phase, std::size_t directed_cables) {
  PhaseResult out;
  out.bytes.assign(directed_cables, 0);
  double begin = s4u::Engine::get_clock();
  const std::vector<s4u::CommPtr> first = start(platform, phase);
  for (const s4u::CommPtr& comm : first) comm->wait();
  for (const s4u::CommPtr& comm : first) out.finish.push_back(comm->get_finish_time() - begin);

  std::vector<double> events = out.finish;
  std::sort(events.begin(), events.end());
  begin = s4u::Engine::get_clock();
  const std::vector<s4u::CommPtr> second = start(platform, phase);
  double last = 0;
  for (const double event : events) {
    // Apart by rounding alone: one event.
    if (event - last <= 1e-9 * events.back()) continue;
    s4u::this_actor::sleep_until(begin + (last + event) / 2);
    for (std::uint32_t d = 0; d < directed_cables; ++d) out.bytes[d] += platform.rate(d) * (event - last);
    last = event;
  }
  for (const s4u::CommPtr& comm : second) comm->wait();
  return out;
}

void write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n <= 0) ::_exit(4);
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

std::vector<double> simulate(const FatTree& tree, const std::vector<Phase>& phases) {
  // A thread an actor: switching stacks in user space is not for ASan.
  std::array<std::string, 9> words{"simgrid",
                                   "--log=root.thres:warning",
                                   "--cfg=contexts/factory:thread",
                                   "--cfg=network/model:CM02",
                                   "--cfg=network/bandwidth-factor:1",
                                   "--cfg=network/latency-factor:1",
                                   "--cfg=network/weight-S:0",
                                   "--cfg=network/TCP-gamma:0",
                                   "--cfg=network/crosstraffic:0"};
  std::array<char*, 10> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  int argc = words.size();
  const s4u::Engine engine(&argc, argv.data());
  const Platform platform(tree);
  std::vector<double> out;
  add_actor(platform.host(0), [&] {
    for (const Phase& phase : phases) {
      const PhaseResult r = run_phase(platform, phase, std::size_t{2} * tree.cable_count());
      out.insert(out.end(), r.finish.begin(), r.finish.end());
      out.insert(out.end(), r.bytes.begin(), r.bytes.end());
    }
  });
  engine.run();
  return out;
}

// The child's numbers, or its words after a leading '!'.
[[noreturn]] void child(int fd, const FatTree& tree, const std::vector<Phase>& phases) {
  try {
    const std::vector<double> numbers = simulate(tree, phases);
    write_all(fd, ".", 1);
    write_all(fd, numbers.data(), numbers.size() * sizeof(double));
  } catch (const std::exception& e) {
    const std::string words = std::string("!") + e.what();
    write_all(fd, words.data(), words.size());
  }
  ::_exit(0);
}

std::string read_all(int fd) {
  std::string out;
  std::array<char, 65536> chunk{};
  for (ssize_t n = 0; (n = ::read(fd, chunk.data(), chunk.size())) > 0;)
    out.append(chunk.data(), static_cast<std::size_t>(n));
  return out;
}

}  // namespace

FluidResult run_fluid(const FatTree& tree, const std::vector<Phase>& phases) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {{}, "no pipe"};
  std::fflush(nullptr);  // else the child may say again what is still in a buffer
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    child(ends[1], tree, phases);
  }
  ::close(ends[1]);
  const std::string said = pid < 0 ? std::string() : read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return {{}, "no child"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || said.empty()) return {{}, "SimGrid came to a bad end"};
  if (said[0] == '!') return {{}, said.substr(1)};
  std::vector<double> numbers((said.size() - 1) / sizeof(double));
  std::copy(said.begin() + 1, said.end(), reinterpret_cast<char*>(numbers.data()));
  FluidResult out;
  auto at = numbers.begin();
  for (const Phase& phase : phases) {
    const auto cables = static_cast<std::ptrdiff_t>(2 * std::size_t{tree.cable_count()});
    const auto flows = static_cast<std::ptrdiff_t>(phase.size());
    if (numbers.end() - at < flows + cables) return {{}, "SimGrid's child said too little"};
    out.phases.push_back({{at, at + flows}, {at + flows, at + flows + cables}});
    at += flows + cables;
  }
  return out;
}

}  // namespace weft::simgrid_test
