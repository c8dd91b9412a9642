#include "roles/master/drain/drain.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_host.h"
#include "core/timers.h"
#include "roles/master/command/commands.h"
#include "roles/master/host/view.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/views.h"
#include "roles/master/stock/slots.h"

namespace hostler::master {

namespace {

Result<> check_host(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    if (host && host->phase != HostPhase::retired) return {};
    return fail(Code::not_found, fmt::format("there is no host {}", id), "host_not_found");
}

std::vector<std::string> holders_on(const Desk& desk, const std::string& host, ClaimUse use) {
    std::vector<std::string> holders;
    for (const Claim* claim : claims_on(desk, host))
        if (claim->use == use) holders.push_back(claim->holder);
    std::ranges::sort(holders);
    return holders;
}

void tell_tenants(Desk& desk, const std::string& host) {
    for (const std::string& id : holders_on(desk, host, ClaimUse::instance))
        if (const Instance* instance = desk.estate.instances.find(id))
            desk.estate.event("instance", id, instance->tenant, "host_draining", drain_notice(desk, host));
}

void free_stock(Desk& desk, const std::string& host) {
    for (const std::string& id : holders_on(desk, host, ClaimUse::stock)) {
        const Slot* slot = desk.estate.slots.find(id);
        if (slot && slot->phase == SlotPhase::idle) displace(desk, id);
    }
}

void stop_what_is_there(Desk& desk, const std::string& host) {
    for (const std::string& id : holders_on(desk, host, ClaimUse::instance)) {
        const Instance* instance = desk.estate.instances.find(id);
        if (!instance || is_final(instance->phase) || instance->phase == InstancePhase::stopping ||
            instance->phase == InstancePhase::halting)
            continue;
        const std::string& reason = desk.estate.drains.at(host).reason;
        // One that ends at this moment is left to end.
        (void)halt_instance(
            desk, id, std::string{drained},
            fmt::format("host {} is drained{}{}", host_name(desk, host), reason.empty() ? "" : ": ", reason));
    }
}

void note_whether_empty(Desk& desk, const std::string& host) {
    const bool empty = claims_on(desk, host).empty();
    if (empty == (desk.estate.drains.at(host).empty_at != 0)) return;
    desk.estate.drains.edit(host).empty_at = empty ? desk.estate.micros() : 0;
    if (empty)
        desk.estate.event("host", host, "", "drained", "Nothing is left there: it may be switched off.");
}

}  // namespace

Result<> drain_host(Desk& desk, const std::string& host, const api::DrainHost& request) {
    TRY(check_host(desk, host));
    const std::int64_t now = desk.estate.micros();
    const std::int64_t stop_at = now + std::int64_t{request.notice_seconds} * 1'000'000;
    if (desk.estate.drains.find(host)) {
        Drain& drain = desk.estate.drains.edit(host);
        drain.stop_at = stop_at;
        drain.reason = request.reason;
    } else {
        desk.estate.drains.add(
            {.host = host, .since = now, .stop_at = stop_at, .reason = request.reason, .meta = {}});
    }
    desk.estate.event("host", host, "", "draining",
                      fmt::format("It takes nothing new. Its remaining instances are stopped at {}.{}{}",
                                  rfc3339(wall(stop_at)), request.reason.empty() ? "" : " ", request.reason));
    tell_tenants(desk, host);
    follow_drains(desk);
    return {};
}

Result<> undrain_host(Desk& desk, const std::string& host) {
    TRY(check_host(desk, host));
    if (!desk.estate.drains.find(host)) return {};
    desk.estate.drains.erase(host);
    desk.estate.event("host", host, "", "undrained", "It takes work again.");
    fill_stock(desk);
    return {};
}

void follow_drains(Desk& desk) {
    std::vector<std::string> hosts;
    for (const auto& [host, drain] : desk.estate.drains.all()) hosts.push_back(host);
    for (const std::string& host : hosts) {
        free_stock(desk, host);
        if (desk.estate.micros() >= desk.estate.drains.at(host).stop_at) stop_what_is_there(desk, host);
        note_whether_empty(desk, host);
    }
    if (!hosts.empty()) fill_stock(desk);
}

}  // namespace hostler::master
