// The other half of the bench: hosts that obey at once, and clients of the API. They live on a loop and a
// thread of their own, so that their CPU time is not the master's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/estate/cloud.h"
#include "core/signal.h"
#include "wire/link.h"

namespace hostler::bench {

class Players {
public:
    // Of so many hosts of eight GPUs. `cloud` is on `estate`, and outlives this.
    Players(Loop& loop, Timers& timers, Loop& estate, Cloud& cloud, std::size_t hosts, std::size_t tenants);
    ~Players();

    std::vector<std::string> host_ids() const;
    // Connects the hosts, and returns when all are ready. From then on somebody watches all instances.
    Task<> begin();
    Task<> close();

    // `count` instances that stay, `at_once` under way; every other one has an inactivity timeout.
    Task<> fill(std::size_t count, std::size_t at_once);
    // `at_once` clients each create an instance, wait until it runs, delete it and wait until its host has
    // let it go, until `count` such lives are over, or `time` is.
    Task<std::size_t> live(std::size_t count, Duration time, std::size_t at_once);
    Task<> dry_run(std::size_t count);
    Task<> call(Asked asked);  // Errors: internal: the answer is another than 2xx.
    // `act` with each number below `count`, `at_once` under way.
    Task<> each(std::size_t count, std::size_t at_once, std::function<Task<>(std::size_t)> act);
    // Hosts report each 10 s, or not at all.
    void report(bool so) { reporting_ = so; }

private:
    class PlayedHost;
    class Watcher;
    struct Life;
    std::string tenant(std::size_t number) const;
    Task<> create(Ask what, std::string name, std::string of, std::string more = {});
    Task<> until(std::string name, std::string phase);
    Task<> live_once(std::size_t number);
    void hear(const std::string& events);

    Loop& loop_;
    Timers& timers_;
    Loop& estate_;
    Cloud& cloud_;
    const std::size_t tenants_;
    std::vector<std::unique_ptr<PlayedHost>> hosts_;
    std::unique_ptr<Watcher> watcher_;
    std::map<std::string, Life> lives_;  // By instanceID.
    std::string heard_;                  // The begin of an event.
    std::size_t made_ = 0;
    std::size_t welcomed_ = 0;
    Signal welcomed_changed_;
    bool reporting_ = true;
    TaskGroup tasks_;
};

}  // namespace hostler::bench
