// Where the two ends of a tunnel meet: each shows its ticket, then bytes go both ways until one of them ends.
#pragma once

#include <functional>
#include <list>

#include "core/stream.h"
#include "core/task_group.h"
#include "roles/access/guard.h"
#include "roles/access/settings.h"
#include "roles/access/tickets.h"

namespace hostler::access {

struct TunnelCounters {
    std::uint64_t opened = 0;     // Both ends met.
    std::uint64_t refused = 0;    // No or a wrong greeting, an unknown ticket, a limit.
    std::uint64_t abandoned = 0;  // The other end did not come in time.
    std::uint64_t bytes = 0;      // Copied by tunnels that have ended, both ways.
};

class Tunnels {
public:
    Tunnels(Loop& loop, Timers& timers, Random& random, const Settings& settings, Guard& guard);

    // Who is offered a connection by its first line. true: it has taken the stream.
    using Other = std::function<bool(std::string_view line, StreamPtr& stream)>;
    void offer_to(Other other) { other_ = std::move(other); }

    Task<> serve(Listener& listener);  // Until cancelled; await close() afterwards.
    Task<> close();

    // Errors: exhausted.
    Result<Tickets::Pair> mint(const std::string& host);
    void forget(std::uint64_t tunnel) { tickets_.forget_tunnel(tunnel); }
    void cut(std::string_view host);  // Ends all tunnels to it, and voids their tickets.

    std::size_t open() const { return open_.size(); }
    std::size_t greetings() const { return greetings_; }
    std::size_t tickets() const { return tickets_.size(); }
    const TunnelCounters& counters() const { return counters_; }

private:
    struct Waiting {  // One end that is there first.
        std::string host;
        StreamPtr stream;
        End end = End::gateway;
        Instant expires{};
    };
    struct Open {
        std::string host;
        StreamPtr agent;
        StreamPtr gateway;
    };

    Task<> greet(StreamPtr stream);
    Task<> join(std::uint64_t tunnel, Open ends);
    Task<> sweep();
    bool room_for(const std::string& host) const;

    Timers& timers_;
    Random& random_;
    const Settings& settings_;
    Guard& guard_;
    Tickets tickets_;
    Other other_;
    std::size_t greetings_ = 0;
    std::map<std::uint64_t, Waiting> waiting_;
    std::map<std::uint64_t, Open> open_;
    std::map<std::string, std::size_t, std::less<>> open_per_host_;
    TunnelCounters counters_;
    TaskGroup tasks_;
};

}  // namespace hostler::access
