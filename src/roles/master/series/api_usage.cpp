// What GPUs and hosts do at this moment. Nothing here is stored: it is what hosts said last.
#include <fmt/format.h>

#include "api/operations_usage.h"
#include "proto/uplink.pb.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/series/usage.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

template <class Row>
void cut_to_page(api::List<Row>& list, const api::Call& call, auto id_of) {
    std::erase_if(list.items, [&](const Row& row) { return !api::lets_through(call.query, row); });
    std::ranges::sort(list.items, {}, id_of);
    if (list.items.size() <= static_cast<std::size_t>(call.limit)) return;
    list.items.resize(static_cast<std::size_t>(call.limit));
    list.next_cursor = api::to_string({.list = call.list, .id = id_of(list.items.back())});
}

bool behind(const api::Call& call, const std::string& id) { return !call.after || id > call.after->id; }

Result<api::List<api::GpuUsage>> gpu_usage(const Desk& desk, const api::Call& call,
                                           const api::ListGpuUsage& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    std::string instance;
    if (request.instance)
        instance = TRY(instance_named(desk, call, *request.instance, request.tenant_id))->id;
    const GpuHolders holders{desk};
    const auto id_of = [](const api::GpuUsage& gpu) { return gpu.host + "." + gpu.id; };
    api::List<api::GpuUsage> list;
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (host.phase == HostPhase::retired || (request.zone && host.zone != *request.zone)) continue;
        if (request.host && id != *request.host && host.facts.hostname != *request.host) continue;
        for (const GpuFacts& gpu : host.facts.gpus) {
            if (!behind(call, id + "." + gpu.uuid)) continue;
            const Claim* claim = holders.of(id, gpu.uuid);
            const bool is_owners =
                claim && (claim->use == ClaimUse::instance || claim->use == ClaimUse::node);
            if (!tenant.empty() && (!is_owners || claim->tenant != tenant || !may(call, scope_of(*claim))))
                continue;
            if (!instance.empty() && (!claim || claim->holder != instance)) continue;
            list.items.push_back(usage_of(desk, host, gpu, claim, tenant));
        }
    }
    cut_to_page(list, call, id_of);
    return list;
}

Result<api::List<api::HostUsage>> host_usage(const Desk& desk, const api::Call& call,
                                             const api::ListHostUsage& request) {
    const GpuHolders holders{desk};
    api::List<api::HostUsage> list;
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (host.phase == HostPhase::retired || !may(call, scope_of(host))) continue;
        if (request.zone && host.zone != *request.zone) continue;
        if (request.host && id != *request.host && host.facts.hostname != *request.host) continue;
        if (behind(call, id)) list.items.push_back(usage_of(desk, host, holders));
    }
    cut_to_page(list, call, [](const api::HostUsage& host) { return host.id; });
    return list;
}

// Somebody looks at the host: it is asked to report more often, for a while.
void watch_telemetry(Term& term, const std::string& host) {
    constexpr std::chrono::milliseconds watched{15'000};
    auto& hosts = term.look().live.hosts;
    const auto live = hosts.find(host);
    const Instant now = term.ports().timers.now();
    if (live == hosts.end() || live->second.watched_until - now > watched / 2) return;
    uplink::Frame frame;
    frame.mutable_watch_telemetry()->set_interval_ms(
        static_cast<std::uint32_t>(term.settings().watched_interval.count()));
    frame.mutable_watch_telemetry()->set_for_ms(static_cast<std::uint32_t>(watched.count()));
    if (term.send_to_host(host, frame)) live->second.watched_until = now + watched;
}

}  // namespace

void add_usage(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::list_gpu_usage>(
        [&service](api::Call call, api::ListGpuUsage request) -> Task<api::List<api::GpuUsage>> {
            const TermPtr term = CO_TRY(service.leader());
            auto list = CO_TRY(gpu_usage(term->look(), call, request));
            if (request.live)
                for (const api::GpuUsage& gpu : list.items) watch_telemetry(*term, gpu.host);
            CO_TRY(co_await term->settled());
            co_return list;
        });
    service.handlers().on<ops::list_host_usage>(
        [&service](api::Call call, api::ListHostUsage request) -> Task<api::List<api::HostUsage>> {
            const TermPtr term = CO_TRY(service.leader());
            auto list = CO_TRY(host_usage(term->look(), call, request));
            if (request.live)
                for (const api::HostUsage& host : list.items) watch_telemetry(*term, host.id);
            CO_TRY(co_await term->settled());
            co_return list;
        });
}

}  // namespace hostler::master
