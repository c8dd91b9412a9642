// Connections without work, kept for the next request that goes the same way.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "http/outlet.h"

namespace hostler::http {

using OutletPtr = std::shared_ptr<Outlet>;

struct PoolLimits {
    std::size_t idle_max = 8;                       // Kept per key.
    std::size_t keys_max = 1024;                    // The one used longest ago makes room.
    Duration idle_time = std::chrono::seconds{50};  // Less than what servers usually wait.
};

class Pool {
public:
    Pool(Timers& timers, PoolLimits limits);

    // The youngest that still lives; null when there is none. `trust`: what was put back a moment ago is
    // taken without a look, which costs a system call; the request must be one that may be repeated if the
    // server has just left.
    enum class Look { always, trust };
    OutletPtr take(std::string_view key, Look look = Look::always);
    // Keeps it when it can carry another request, closes it otherwise. `holds` lives as long as it is kept.
    void put(std::string_view key, OutletPtr outlet, std::shared_ptr<const void> holds = {});
    void forget(std::string_view key);
    void forget_if(const std::function<bool(std::string_view key)>& condition);
    std::size_t size() const;

private:
    struct Kept {
        OutletPtr outlet;
        std::shared_ptr<const void> holds;
        Instant since;
    };
    void sweep();

    Timers& timers_;
    PoolLimits limits_;
    std::map<std::string, std::deque<Kept>, std::less<>> kept_;
    Alarm sweep_;
};

}  // namespace hostler::http
