#include "roles/master/zone/access_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/types_zone.h"
#include "proto/uplink.pb.h"

namespace hostler::master {

namespace {

constexpr int sessions_usual = 20'000;  // Of an access point that does not say how many it takes.

// Where it leads, seen from another machine.
enum class Reach { anywhere, own_machine, nowhere };

Reach reach_of(const std::string& address) {
    std::string host = address.substr(0, address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.empty() || host == "0.0.0.0" || host == "::") return Reach::nowhere;
    return host.starts_with("127.") || host == "::1" || host == "localhost" ? Reach::own_machine
                                                                            : Reach::anywhere;
}

const AccessLive* live_of(const Desk& desk, const std::string& name) {
    const auto live = desk.live.access_points.find(name);
    return live == desk.live.access_points.end() ? nullptr : &live->second;
}

bool is_up(const Desk& desk, const std::string& name) {
    const AccessLive* live = live_of(desk, name);
    return live && live->connected;
}

// So slowly that the others notice nothing: 20 hosts a second.
std::uint32_t leave_within_ms(int sessions) {
    constexpr int each_ms = 50, min_ms = 1'000, max_ms = 300'000;
    return static_cast<std::uint32_t>(std::clamp(sessions, min_ms / each_ms, max_ms / each_ms) * each_ms);
}

}  // namespace

AccessUse use_of(const Desk& desk, const AccessPoint& access) {
    AccessUse use;
    for (const auto& [id, host] : desk.live.hosts) {
        if (!host.ways.contains(access.name)) continue;
        ++(host.connected && host.access == access.name ? use.hosts : use.standbys);
    }
    const AccessLive* live = live_of(desk, access.name);
    const int takes = live && live->sessions_max > 0
                          ? static_cast<int>(std::min<std::uint32_t>(live->sessions_max, 1'000'000))
                          : sessions_usual;
    use.load_percent = std::min(100, (use.hosts + use.standbys) * 100 / takes);
    return use;
}

api::AccessState state_of(const Desk& desk, const AccessPoint& access) {
    const AccessLive* live = live_of(desk, access.name);
    if (!live || !live->connected) return api::AccessState::down;
    if (!access.draining) return api::AccessState::up;
    const AccessUse use = use_of(desk, access);
    return use.hosts + use.standbys == 0 && live->tunnels == 0 ? api::AccessState::drained
                                                               : api::AccessState::draining;
}

Result<> drain_access(Desk& desk, const std::string& name, bool draining, bool force) {
    const AccessPoint* access = desk.estate.access_points.find(name);
    if (!access)
        return fail(Code::not_found, fmt::format("there is no access point {}", name),
                    "access_point_not_found");
    if (access->draining == draining) return {};
    const bool other = std::ranges::any_of(desk.estate.access_points.all(), [&](const auto& row) {
        return row.first != name && !row.second.draining && is_up(desk, row.first);
    });
    if (draining && !other && !force) {
        Error error{Code::conflict, fmt::format("no other access point takes the hosts of {}", name),
                    "no_other_access"};
        error.help =
            "Start another one first, or drain it with force=true: its hosts stay until it is stopped.";
        return std::unexpected(std::move(error));
    }
    desk.estate.access_points.edit(name).draining = draining;
    desk.estate.event(
        "access_point", name, "", draining ? "draining" : "undrained",
        draining ? "Its hosts go to other access points, and no new ones come." : "It takes hosts again.");
    return {};
}

void write_access_list(const Desk& desk, uplink::AccessList& into) {
    int leaving = 0;
    for (const auto& [name, access] : desk.estate.access_points.all()) {
        const AccessUse use = use_of(desk, access);
        auto& entry = *into.add_access();
        entry.set_name(name);
        entry.set_zone(access.zone);
        entry.set_address(access.uplink_address);
        // In steps: who comes and goes is not news for everybody.
        entry.set_load_percent(static_cast<std::uint32_t>(use.load_percent / 10 * 10));
        entry.set_up(is_up(desk, name));
        entry.set_draining(access.draining);
        if (access.draining) leaving = std::max(leaving, use.hosts + use.standbys);
    }
    if (leaving > 0) into.set_leave_within_ms(leave_within_ms(leaving));
}

void write_ways(const Desk& desk, const std::string& host, uplink::Route& into) {
    const auto live = desk.live.hosts.find(host);
    if (live == desk.live.hosts.end()) return;
    std::vector<std::tuple<bool, bool, std::string>> ways;  // The worse, the greater.
    const auto add = [&](const std::string& name) {
        if (const AccessPoint* access = desk.estate.access_points.find(name))
            ways.emplace_back(access->draining, name != live->second.access, access->control_address);
    };
    // Of a host that is on its way elsewhere the last one may still lead to it.
    if (!live->second.ways.contains(live->second.access) &&
        (live->second.connected || live->second.ways.empty()))
        add(live->second.access);
    for (const auto& [name, session] : live->second.ways) add(name);
    std::ranges::sort(ways);
    for (auto& [draining, other, address] : ways) into.add_access(std::move(address));
}

std::string join_command(const std::vector<std::string>& addresses, const std::string& token) {
    constexpr std::string_view remedy =
        "start it with --uplink-address HOST:PORT, and hostler up with --listen ADDRESS:PORT";
    std::string good, local, remark;
    for (const std::string& address : addresses) {
        const Reach reach = reach_of(address);
        if (reach == Reach::nowhere) continue;
        std::string& list = reach == Reach::anywhere ? good : local;
        list += (list.empty() ? "" : ",") + address;
    }
    if (good.empty())
        remark = !local.empty() ? fmt::format("  # on the access point's own machine only; {}", remedy)
                 : addresses.empty()
                     ? "  # no access point takes hosts now: hostler access list"
                     : fmt::format("  # the access point does not say where it is reached; {}", remedy);
    const std::string& access = !good.empty() ? good : local;
    return fmt::format("hostler-agent run --data /var/lib/hostler-agent --access {} --token {}{}",
                       access.empty() ? "ADDRESS:PORT" : access, token, remark);
}

}  // namespace hostler::master
