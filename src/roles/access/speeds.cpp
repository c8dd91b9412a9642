#include "roles/access/speeds.h"

#include <algorithm>

#include <fmt/format.h>

#include "proto/uplink.pb.h"

namespace hostler::access {

namespace {

using std::chrono::seconds;

constexpr double burst = 2;

}  // namespace

Speeds::Speeds(const Ports& ports, const Settings& settings, Relay& relay)
    : ports_(ports),
      settings_(settings),
      relay_(relay),
      of_hosts_({.per_second = 1.0 / settings.speed_rest_s, .burst = burst}, settings.sessions_max) {}

Task<wire::Speed> Speeds::measure(std::string host, std::uint32_t busy_kbit_s) {
    if (!relay_.newest(host) || relay_.leaving())
        co_return fail(Code::not_found, "the host is not connected to this access point",
                       "host_not_connected");
    const bool twice =
        std::ranges::any_of(visits_, [&](const auto& visit) { return visit.second.host == host; });
    if (twice || visits_.size() >= settings_.speeds_max || !of_hosts_.take(host, ports_.timers.now()))
        co_return fail(Code::exhausted, "too much is being measured here; try again later");
    struct Entry {
        std::map<std::string, Visit, std::less<>>& all;
        std::string ticket;
        ~Entry() { all.erase(ticket); }
    } const entry{visits_, new_secret(ports_.random, "ts")};
    visits_[entry.ticket].host = host;
    auto measured = co_await measure_with(entry.ticket, busy_kbit_s);
    ++(measured ? measured_ : failed_);
    if (measured) bytes_ += measured->bytes;
    co_return measured;
}

Task<wire::Speed> Speeds::measure_with(std::string ticket, std::uint32_t busy_kbit_s) {
    Visit& visit = visits_.at(ticket);
    CO_TRY(order(visit.host, ticket, busy_kbit_s));
    {
        const Deadline late{ports_.timers, seconds{settings_.ticket_s}, [&] { visit.came.notify_all(); }};
        while (!visit.stream) {
            if (late.expired()) co_return fail(Code::timeout, "the host did not come to be measured");
            CO_TRY(co_await visit.came.wait());
        }
    }
    if (visit.busy) co_return fail(Code::conflict, "the host's link is in use", "link_busy");
    const Deadline deadline{ports_.timers, seconds{settings_.speed_s}, [&] { visit.stream->close(); }};
    auto speed = co_await wire::measure_speed(*visit.stream, ports_.timers, ports_.random,
                                              {.bytes_max = settings_.speed_bytes_max});
    CO_TRY(co_await check_cancelled());
    if (!speed && deadline.expired())
        co_return fail(Code::timeout, fmt::format("it took longer than {} s", settings_.speed_s));
    if (!speed && speed.error().code == Code::cancelled)
        co_return fail(Code::unavailable, "the host's connection was closed");
    co_return speed;
}

Result<> Speeds::order(const std::string& host, const std::string& ticket, std::uint32_t busy_kbit_s) {
    const auto session = relay_.newest(host);
    uplink::Frame frame;
    frame.mutable_speed_order()->set_ticket(ticket);
    frame.mutable_speed_order()->set_tunnel_address(tunnel_address_);
    frame.mutable_speed_order()->set_busy_kbit_s(busy_kbit_s);
    if (!session || !relay_.push_down(session->number, frame.SerializeAsString()))
        return fail(Code::unavailable, "the host takes no orders at the moment");
    return {};
}

bool Speeds::meet(std::string_view line, StreamPtr& stream) {
    if (!line.starts_with(wire::speed_greeting)) return false;
    line.remove_prefix(wire::speed_greeting.size());
    const bool busy = line.ends_with(wire::speed_busy);
    if (busy) line.remove_suffix(wire::speed_busy.size());
    const auto visit = visits_.find(line);
    if (visit == visits_.end() || visit->second.stream) return false;
    visit->second.busy = busy;
    visit->second.stream = std::move(stream);
    visit->second.came.notify_all();
    return true;
}

void Speeds::cut(std::string_view host) {
    for (auto& [ticket, visit] : visits_)
        if (visit.host == host && visit.stream) visit.stream->close();
}

}  // namespace hostler::access
