#include <fmt/format.h>

#include "api/operations_host.h"
#include "roles/master/health/health.h"
#include "roles/master/host/audit.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/host/view.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

api::Explanation explain_host(const Desk& desk, const Host& host) {
    const std::string why = unavailable(desk, host);
    api::Explanation shown{
        .token = why.empty() ? "ready" : text_of(host.phase),
        .sentence = why.empty() ? fmt::format("Host {} is ready and takes work.", host.facts.hostname)
                                : fmt::format("Host {} {}.", host.facts.hostname, why)};
    if (host.quarantined.empty() && (host.phase == HostPhase::unreachable || host.phase == HostPhase::lost)) {
        shown.sentence += " " + host.message + " Its workloads are left alone.";
        shown.would_help =
            "See whether the machine has power and reaches an access point, and that hostler-agent runs on "
            "it.";
    } else if (host.phase == HostPhase::joining) {
        shown.would_help = "Start hostler-agent on it: hostler-agent run";
    } else if (!host.engine_error.empty()) {
        shown.token = "engine_down";
        shown.would_help = "Start its container engine.";
    } else if (!host.quarantined.empty()) {
        shown.token = "quarantined";
        shown.sentence += " " + host.quarantined;
        shown.would_help = fmt::format(
            "Switch off the copy, whichever it is; if you do not know, remove the host and join it again. "
            "Then: hostler host release {}",
            host.id);
    } else if (host.cordoned) {
        shown.token = "cordoned";
        shown.would_help = fmt::format("hostler host uncordon {}", host.id);
    } else if (const Drain* drain = desk.estate.drains.find(host.id)) {
        shown.token = drain->empty_at != 0 ? "drained" : "draining";
        shown.sentence += drain->empty_at != 0 ? " Nothing is left there: it may be switched off."
                                               : fmt::format(" Its remaining instances are stopped at {}.",
                                                             rfc3339(wall(drain->stop_at)));
        for (const Claim* claim : claims_on(desk, host.id))
            shown.blocking.push_back(
                {claim->holder, fmt::format("is still there ({})", text_of(claim->use))});
        shown.would_help = fmt::format("hostler host undrain {}", host.id);
    } else if (!needs_reboot(host).empty()) {
        shown.token = "faulty";
        shown.would_help = sentence(Remedy::reboot, "");
    } else if (host.admission.state != Admission::admitted) {
        shown.token = text_of(host.admission.state);
        shown.would_help =
            host.admission.state == Admission::unmeasured
                ? "It is measured once its GPUs are unused. To let it in without: hostler host admit " +
                      host.id
                : fmt::format(
                      "When that is mended: hostler host measure {0}. To let it in all the "
                      "same: hostler host admit {0}",
                      host.id);
    }
    for (const std::string& reason : host.admission.reasons) shown.blocking.push_back({host.id, reason});
    for (const auto& [gpu, state] : host.gpu_states)
        if (state.health != GpuHealth::healthy)
            shown.blocking.push_back({host.id, fmt::format("GPU {} is {}: {} (hostler gpu explain {})", gpu,
                                                           text_of(state.health), state.reason, gpu)});
    for (const std::string& problem : host.facts.problems) shown.blocking.push_back({host.id, problem});
    if (!host.facts.volumes_refused.empty())
        shown.blocking.push_back({host.id, "it keeps no volumes: " + host.facts.volumes_refused});
    return shown;
}

Result<api::Host> cordon(Desk& desk, const api::Call& call, const std::string& name, bool cordoned) {
    const Host& host = *TRY(host_named(desk, call, name));
    TRY(cordon_host(desk, host.id, cordoned));
    return view(desk, host);
}

// To a provider, another's GPU does not exist.
Result<FoundGpu> gpu_seen(const Desk& desk, const api::Call& call, const std::string& name) {
    const auto found = TRY(gpu_named(desk, name));
    TRY(check(call, scope_of(*found.host),
              {Code::not_found, fmt::format("there is no GPU {}", name), "gpu_not_found"}));
    return found;
}

struct PlacedGpu {
    std::string place;  // What they are sorted by: names as people read them; the ids make each the only one.
    const Host* host = nullptr;
    const GpuFacts* gpu = nullptr;
};

// GPUs are not objects of their own: they come by the names of their hosts and their numbers there.
Result<api::List<api::Gpu>> list_gpus(const Desk& desk, const api::Call& call, const api::ListGpus& request) {
    std::vector<PlacedGpu> sorted;
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (host.phase == HostPhase::retired || !may(call, scope_of(host))) continue;
        if (request.zone && host.zone != *request.zone) continue;
        if (request.host && id != *request.host && host.facts.hostname != *request.host) continue;
        for (const GpuFacts& gpu : host.facts.gpus) {
            if (request.model && !model_matches(*request.model, gpu.model)) continue;
            std::string place =
                fmt::format("{} {} {:05} {}", host.facts.hostname, id, std::max(gpu.index, 0), gpu.uuid);
            if (!call.after || place > call.after->id) sorted.push_back({std::move(place), &host, &gpu});
        }
    }
    std::ranges::sort(sorted, {}, &PlacedGpu::place);
    api::List<api::Gpu> list;
    const std::string* last = nullptr;  // That this page has or has passed over.
    int looked_at = 0;
    for (const PlacedGpu& one : sorted) {
        bool full = !call.query.empty() && looked_at++ == queried_rows_max;
        if (!full) {
            api::Gpu shown = view(desk, *one.host, *one.gpu);
            const bool fits = (!request.state || shown.state == *request.state) &&
                              (!request.use || shown.use == *request.use) &&
                              api::lets_through(call.query, shown);
            full = fits && std::ssize(list.items) == call.limit;
            if (fits && !full) list.items.push_back(std::move(shown));
        }
        if (full) {
            list.next_cursor = api::to_string({.list = call.list, .id = *last});
            break;
        }
        last = &one.place;
    }
    return list;
}

}  // namespace

Subject host_subject(const Desk& desk, const api::Call& call, const std::string& name) {
    const auto found = host_named(desk, call, name);
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameHost& request) {
    return host_subject(desk, call, request.host);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateHost& request) {
    return host_subject(desk, call, request.host);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::RemoveHost& request) {
    return host_subject(desk, call, request.host);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetGpu& request) {
    const auto found = gpu_seen(desk, call, request.gpu);
    if (!found) return {};
    return {.name = "gpu/" + request.gpu,
            .shown = api::encode(explain_gpu(desk, *found->host, *found->gpu)),
            .zone = found->host->zone};
}

void add_hosts(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_hosts>([](const Desk& desk, const api::Call& call, const api::ListHosts& request) {
        const LabelFilter labels = filter_of(request.label);
        return rows_of<api::Host>(desk.estate.hosts,
                                  [&](const Host& host) {
                                      return host.phase != HostPhase::retired && may(call, scope_of(host)) &&
                                             (!request.zone || host.zone == *request.zone) &&
                                             labels.fits(host.labels) &&
                                             (!request.state || view(desk, host).state == *request.state);
                                  })
            .page(call, [&](const Host& host) { return view(desk, host); });
    });
    service.read<ops::get_host>(
        [](const Desk& desk, const api::Call& call, const api::NameHost& request) -> Result<api::Host> {
            return view(desk, *TRY(host_named(desk, call, request.host)));
        });
    service.read<ops::explain_host>([](const Desk& desk, const api::Call& call,
                                       const api::NameHost& request) -> Result<api::Explanation> {
        return explain_host(desk, *TRY(host_named(desk, call, request.host)));
    });
    service.write<ops::update_host>(
        [](Desk& desk, const api::Call& call, const api::UpdateHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            TRY(update_host(desk, host.id, request));
            return view(desk, host);
        });
    service.write<ops::cordon_host>([](Desk& desk, const api::Call& call, const api::NameHost& request) {
        return cordon(desk, call, request.host, true);
    });
    service.write<ops::uncordon_host>([](Desk& desk, const api::Call& call, const api::NameHost& request) {
        return cordon(desk, call, request.host, false);
    });
    service.write<ops::release_host>(
        [](Desk& desk, const api::Call& call, const api::NameHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            TRY(release_host(desk, host.id));
            return view(desk, host);
        });
    service.handlers().on<ops::remove_host>(
        [&service](api::Call call, api::RemoveHost request) -> Task<api::Empty> {
            const TermPtr term = CO_TRY(service.leader());
            const auto host = host_named(term->look(), call, request.host);
            const std::string id = host ? (*host)->id : "";
            const bool for_real = host.has_value() && !call.dry_run;
            CO_TRY(co_await service.perform<std::remove_cvref_t<decltype(ops::remove_host)>>(
                [](Desk& desk, const api::Call& call, const api::RemoveHost& asked) -> Result<api::Empty> {
                    const std::string id = TRY(host_named(desk, call, asked.host))->id;
                    TRY(remove_host(desk, id, asked.force));
                    return api::Empty{};
                },
                std::move(call), std::move(request)));
            if (for_real) term->cut_off(id, "the host was removed");
            co_return api::Empty{};
        });
    service.read<ops::list_gpus>(list_gpus);
    service.read<ops::get_gpu>(
        [](const Desk& desk, const api::Call& call, const api::GetGpu& request) -> Result<api::Gpu> {
            const auto found = TRY(gpu_seen(desk, call, request.gpu));
            return view(desk, *found.host, *found.gpu);
        });
    service.read<ops::explain_gpu>([](const Desk& desk, const api::Call& call,
                                      const api::GetGpu& request) -> Result<api::GpuExplanation> {
        const auto found = TRY(gpu_seen(desk, call, request.gpu));
        return explain_gpu(desk, *found.host, *found.gpu);
    });
    service.write<ops::return_gpu>(
        [](Desk& desk, const api::Call& call, const api::GetGpu& request) -> Result<api::GpuExplanation> {
            const auto found = TRY(gpu_seen(desk, call, request.gpu));
            TRY(return_gpu(desk, *found.host, *found.gpu));
            return explain_gpu(desk, *found.host, *found.gpu);
        });
}

}  // namespace hostler::master
