// Measures how fast the way to each host is, when the master asks for it.
#pragma once

#include <map>
#include <string>

#include "core/rate.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "roles/access/ports.h"
#include "roles/access/relay.h"
#include "roles/access/settings.h"
#include "wire/speed.h"

namespace hostler::access {

// A host cannot begin it: it is told to come with a ticket, is asked for pieces of our size, and is heard no
// further. Few at a time, and each host seldom.
class Speeds {
public:
    Speeds(const Ports& ports, const Settings& settings, Relay& relay);

    void reached_at(std::string tunnel_address) { tunnel_address_ = std::move(tunnel_address); }
    // Errors: not_found (the host is not here), exhausted (too many at a time, or again too soon), conflict
    // (link_busy), timeout, unavailable, invalid, cancelled.
    Task<wire::Speed> measure(std::string host, std::uint32_t busy_kbit_s);
    // What somebody says first at the tunnel port. true: it was asked to come, and its stream is ours.
    bool meet(std::string_view line, StreamPtr& stream);
    void cut(std::string_view host);

    std::size_t under_way() const { return visits_.size(); }
    std::uint64_t measured() const { return measured_; }
    std::uint64_t failed() const { return failed_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    struct Visit {
        std::string host;
        StreamPtr stream{};
        bool busy = false;
        Signal came{};
    };
    Task<wire::Speed> measure_with(std::string ticket, std::uint32_t busy_kbit_s);
    Result<> order(const std::string& host, const std::string& ticket, std::uint32_t busy_kbit_s);

    const Ports& ports_;
    const Settings& settings_;
    Relay& relay_;
    std::string tunnel_address_;
    std::map<std::string, Visit, std::less<>> visits_;  // By ticket.
    Rates of_hosts_;
    std::uint64_t measured_ = 0, failed_ = 0, bytes_ = 0;
};

}  // namespace hostler::access
