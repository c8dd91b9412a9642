#include "roles/master/benchmark/network_speed.h"

#include <algorithm>

namespace hostler::master {

namespace {

// What was in the way may be over soon; an operator who waits is not to wait long.
constexpr std::int64_t speed_rest_us = 10 * 60'000'000LL;

}  // namespace

std::optional<std::string> host_to_measure(const Desk& desk, const std::string& access) {
    const std::int64_t every = std::chrono::microseconds{desk.settings.network_every}.count();
    if (every <= 0) return std::nullopt;
    const std::int64_t now = desk.estate.micros();
    std::optional<std::string> next;
    std::int64_t earliest = now + 1;
    for (const auto& [id, live] : desk.live.hosts) {
        if (!live.ways.contains(access) || !live.greeted || !live.complete || !live.measures_speed) continue;
        const Host* host = desk.estate.hosts.find(id);
        if (!host || host->phase != HostPhase::ready || !host->quarantined.empty()) continue;
        if (const auto rest = live.speed_rest_until.find(access);
            rest != live.speed_rest_until.end() && rest->second > now)
            continue;
        const std::int64_t due = speed_due(speed_to(host->network, access), id, every);
        if (due >= earliest) continue;
        earliest = due;
        next = id;
    }
    return next;
}

void note_speed(Desk& desk, const std::string& id, const std::string& access,
                const Result<SpeedFigures>& figures) {
    const Host* found = desk.estate.hosts.find(id);
    if (!found || found->phase == HostPhase::retired) return;
    const AccessSpeed* before = speed_to(found->network, access);
    AccessSpeed now = before ? *before : AccessSpeed{.access = access};
    if (figures) {
        now = {.access = access, .figures = *figures, .measured_at = desk.estate.micros()};
        desk.live.hosts[id].speed_rest_until.erase(access);
    } else {
        now.failure = figures.error().message;
        desk.live.hosts[id].speed_rest_until[access] = desk.estate.micros() + speed_rest_us;
    }
    if (before && *before == now) return;
    // Of access points that are no more nothing is kept.
    auto& known = desk.estate.hosts.edit(id).network;
    std::erase_if(known, [&](const AccessSpeed& way) {
        return way.access != access && !desk.estate.access_points.find(way.access);
    });
    speed_row(known, access) = std::move(now);
}

void want_speeds(Desk& desk, const std::string& id) {
    desk.live.hosts[id].speed_rest_until.clear();
    if (desk.estate.hosts.at(id).network.empty()) return;
    for (AccessSpeed& way : desk.estate.hosts.edit(id).network) way.wanted = true;
}

}  // namespace hostler::master
