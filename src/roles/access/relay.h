// The sessions of agents and what waits to pass between each of them and the master. No I/O: who reads and
// writes streams asks here what comes next.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/signal.h"
#include "core/timers.h"

namespace hostler::access {

struct Session {
    std::uint64_t number = 0;
    std::string host;  // "h-…"; empty: it may only join.
    std::string address;
    std::string why{};  // Not empty: it is over, for this reason.
    Instant heard{};    // When its agent last said something.

    std::deque<std::string> up{};  // Frames to the master.
    std::size_t up_bytes = 0;
    Signal up_drained{};
    std::deque<std::string> down{};  // Frames to the agent.
    std::size_t down_bytes = 0;
    Signal down_filled{};                       // Or the session is over.
    std::move_only_function<void()> hang_up{};  // Ends its connection; called once, when the session is over.

    bool over() const { return !why.empty(); }
};

using SessionPtr = std::shared_ptr<Session>;

class Relay {
public:
    struct Limits {
        std::size_t sessions_max = 20'000;
        std::size_t per_host_max = 2;
        std::size_t up_bytes_max = 1024 * 1024;
        std::size_t down_bytes_max = 4 * 1024 * 1024;
    };
    explicit Relay(Limits limits) : limits_(limits) {}

    // A host over its bound loses its oldest session. Errors: exhausted (full, or it drains).
    Result<SessionPtr> open(std::string host, std::string address, Instant now);
    void drain(bool draining) { draining_ = draining; }  // Those that are here stay until they leave.
    void leave() { leaving_ = true; }                    // The same, for good.
    bool leaving() const { return leaving_; }
    bool draining() const { return draining_ || leaving_; }
    void close(SessionPtr session, std::string why);
    void close_host(std::string_view host, std::string_view why);

    SessionPtr find(std::uint64_t number) const;
    SessionPtr newest(const std::string& host) const;  // Null: the host has none.
    const std::map<std::uint64_t, SessionPtr>& all() const { return sessions_; }

    // From an agent. Waits while too much of it waits for the master. Errors: cancelled; unavailable: it is
    // over.
    Task<> push_up(SessionPtr session, std::string frame);
    // To an agent; one that takes too little is closed. false: there is no such session.
    bool push_down(std::uint64_t number, std::string frame);
    // Waits for the next frame to the agent. Errors: cancelled; unavailable: it is over.
    Task<std::string> pop_down(SessionPtr session);

    // To the master, in turns: however much one agent sends, the next frame is another's.
    struct Begun {
        SessionPtr session;
    };
    struct Ended {
        std::uint64_t number = 0;
        std::string why;
    };
    struct Said {
        std::uint64_t number = 0;
        std::string frame;
    };
    using Item = std::variant<Ended, Begun, Said>;
    std::optional<Item> next();
    Signal& filled() { return filled_; }  // Notified when next() is worth another look.
    // A fresh link to a master: it is to hear of every session that lives. Before that next() gives nothing.
    void link_up();
    void link_down();

private:
    void enqueue(const SessionPtr& session);

    Limits limits_;
    bool linked_ = false;
    bool draining_ = false;
    bool leaving_ = false;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, SessionPtr> sessions_;
    std::map<std::string, std::set<std::uint64_t>, std::less<>> by_host_;  // Oldest first.
    std::deque<SessionPtr> begun_;                                         // Not announced on this link.
    std::set<std::uint64_t> announced_;
    std::deque<Ended> ended_;
    std::deque<SessionPtr> turns_;  // Announced, with frames for the master.
    Signal filled_;
};

}  // namespace hostler::access
