// The ways into the cloud that this host knows: those that it was started with, and all that the master told.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/signal.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"
#include "roles/agent/way.h"

namespace hostler::agent {

// In the journal: "access", what the master told last, so that a restart knows it. An access point must prove
// to be one whatever its address came from: a lie here costs a dial.
class AccessBook {
public:
    AccessBook(const Settings& settings, const Ports& ports);
    ~AccessBook();

    void load();
    // Resolves names, and measures round trips, for ever: a TCP connection each, which is closed at once.
    Task<> watch();
    // What the master told. Durable when it returns, unless the journal fails: then it is told again.
    Task<> learn(const uplink::AccessList& list);

    const std::vector<Way>& ways() const { return ways_; }
    const Way* find(const std::string& address) const;
    void met(const std::string& address, std::string_view identity);  // Who it proved to be.
    // An address that is dialled or connected stays a way until it is let go, whatever its name leads to
    // meanwhile.
    void hold(const std::string& address);
    void let_go(const std::string& address);
    void failed(const std::string& address);  // It rests for a while, longer each time,
    void worked(const std::string& address);  // until it has worked.
    std::uint64_t rounds() const { return rounds_; }
    Signal& changed() { return changed_; }  // Other ways, or other values of them.

    // When an access point that drains is to be left: at a moment within the time given, each host at its
    // own.
    bool time_to_leave(const std::string& address) const;

    static constexpr std::size_t ways_max = 256;
    static constexpr std::size_t samples_max = 5;

private:
    struct Known {
        std::string name, zone;  // As the master told, or as it proved to be.
        int load_percent = 0;
        bool up = true, draining = false;
        Instant leave_at{};
        std::deque<Duration> samples;
        Instant rests_until{};
        Duration rest{};
    };
    Task<> resolve();
    Task<> measure(std::string address);
    void take(const uplink::AccessList& list);
    void rebuild();

    const Settings& settings_;
    Ports ports_;
    std::vector<std::string> first_;    // Addresses of settings.access.
    std::vector<std::string> told_;     // By the master;
    std::vector<std::string> written_;  // as the journal has it.
    std::vector<std::string> held_;     // As often as it is held.
    std::map<std::string, Known> known_;
    std::vector<Way> ways_;
    std::uint64_t rounds_ = 0;
    Signal changed_;
};

}  // namespace hostler::agent
