// What changes instances, and the one-word state that the source asks for.
#include <fmt/format.h>

#include "api/operations_instance.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/instance/owner.h"
#include "roles/master/instance/repair.h"
#include "roles/master/instance/view.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/template/templates.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

constexpr std::int64_t keep_alive_default_s = 3600;  // Where there is no inactivity timeout to go by.

// A name stays used until its instance was deleted, also when that is no longer in memory.
Task<> check_free(TermPtr term, api::CreateInstance request) {
    const auto used = CO_TRY(co_await used_name(term, request.tenant_id, request.instance_id));
    if (!used || used->free) co_return Result<>{};
    co_return std::unexpected(name_is_taken(request.instance_id));
}

// The name that a deletion frees, of an instance that is in the archive or longer gone.
Task<std::optional<UsedName>> name_to_free(TermPtr term, api::Call call, api::NameInstance request,
                                           std::optional<Instance> over) {
    std::string tenant = CO_TRY(tenant_meant(call, request.tenant_id)), name = request.instance_id;
    if (over) {
        tenant = over->tenant;
        name = over->caller_id;
    }
    if (tenant.empty()) co_return std::nullopt;
    auto used = CO_TRY(co_await used_name(term, tenant, name));
    if (!used || used->free || (over && used->instance != over->id)) co_return std::nullopt;
    used->free = true;
    co_return used;
}

std::string named_instance(const auto& request) { return request.instance; }

// Of all but its labels, which change while it is the same instance.
std::string digest_of(const api::Call& call, const api::CreateInstance& request, const Digest& digest) {
    if (!request.labels) return digest.sha256(call.request);
    api::CreateInstance rest = request;
    rest.labels.reset();
    return digest.sha256(api::encode(rest));
}

// Hosts are for those who may see them; a tenant knows the zone.
std::optional<api::InstancePlan> plan_of(const Desk& desk, const api::Call& call, const Instance& instance) {
    const Host* host = desk.estate.hosts.find(instance.host);
    if (!host || instance.claim.empty()) return std::nullopt;
    api::Instance shown = view(desk, instance, call.caller);
    api::InstancePlan plan{.zone = std::move(shown.zone),
                           .from_stock = !instance.slot.empty(),
                           .gpu = std::move(shown.gpu),
                           .inactivity_timeout_seconds = shown.inactivity_timeout_seconds,
                           .max_run_seconds = shown.max_run_seconds,
                           .stop_at = shown.stop_at};
    if (may(call, Permission::host_read, scope_of_provider(host->owner))) plan.host = std::move(shown.host);
    return plan;
}

Result<api::CreatedInstance> decide_start(Desk& desk, const api::Call& call,
                                          const api::CreateInstance& request, const Digest& digest) {
    TRY(check_new(call, Scope::of_project(request.tenant_id, project_meant(request))));
    if (request.placement) TRY(may_ask(call.caller, *request.placement));
    const auto filled = TRY(filled_in(desk.settings.templates, request));
    TRY(create_instance(desk, filled, digest_of(call, request, digest), std::nullopt, call.caller.actor));
    const Instance* made = find_instance(desk, filled.tenant_id, filled.instance_id);
    HOSTLER_ASSERT(made);
    return call.dry_run ? api::CreatedInstance{plan_of(desk, call, *made)} : api::CreatedInstance{};
}

}  // namespace

// `decide` is asked about one in memory, `ended` about one that is in the archive alone.
template <const auto& operation, class Decide, class Ended>
static void write_instance(Api& service, Decide decide, Ended ended) {
    using Op = std::remove_cvref_t<decltype(operation)>;
    using Request = typename Op::Request;
    using Response = typename Op::Response;
    service.handlers().on<operation>(
        [&service, decide, ended](api::Call call, Request request) -> Task<Response> {
            const std::string name = named_instance(request);
            const TermPtr term = CO_TRY(service.leader());
            std::optional<Instance> over;
            const auto here = instance_named(term->look(), call, name, request.tenant_id);
            if (!here && here.error().code == Code::not_found)
                over = CO_TRY(co_await archived_instance(term, call, name, request.tenant_id));
            co_return co_await service.perform<Op>(
                [&](Desk& desk, const api::Call& asked, const Request& wanted) -> Result<Response> {
                    const auto found = instance_named(desk, asked, name, wanted.tenant_id);
                    if (found || over) TRY(check_owner(found ? **found : *over, *asked.operation));
                    if (!found && over) return ended(*over);
                    const Instance& instance = *TRY(found);
                    Response shown = TRY(decide(desk, instance, wanted));
                    show_price(desk, instance, asked.caller, shown);
                    return shown;
                },
                std::move(call), std::move(request));
        });
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateInstance& request) {
    const Instance* instance = find_instance(desk, request.tenant_id, request.instance_id);
    return instance ? subject_named(*instance, api::encode(view(desk, *instance))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameInstance& request) {
    const auto found = instance_named(desk, call, request.instance_id, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::StopInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::KeepAlive& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}

void add_instances(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::create_instance>(
        [&service](api::Call call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            CO_TRY(tenant_meant(call, request.tenant_id));
            const TermPtr term = CO_TRY(service.leader());
            if (!find_instance(term->look(), request.tenant_id, request.instance_id))
                CO_TRY(co_await check_free(term, request));
            const Digest& digest = term->ports().digest;
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_instance)>>(
                [&digest](Desk& desk, const api::Call& asked, const api::CreateInstance& wanted) {
                    return decide_start(desk, asked, wanted, digest);
                },
                std::move(call), std::move(request));
        });
    // Deleting one that has ended succeeds, as it did while that was in memory.
    service.handlers().on<ops::delete_instance>([&service](api::Call call,
                                                           api::NameInstance request) -> Task<api::Empty> {
        const TermPtr term = CO_TRY(service.leader());
        std::optional<Instance> over;
        std::optional<UsedName> frees;
        const auto here = instance_named(term->look(), call, request.instance_id, request.tenant_id);
        if (!here && here.error().code == Code::not_found) {
            over = CO_TRY(co_await archived_instance(term, call, request.instance_id, request.tenant_id));
            frees = CO_TRY(co_await name_to_free(term, call, request, over));
        }
        co_return co_await service.perform<std::remove_cvref_t<decltype(ops::delete_instance)>>(
            [&](Desk& desk, const api::Call& asked, const api::NameInstance& wanted) -> Result<api::Empty> {
                const auto found = instance_named(desk, asked, wanted.instance_id, wanted.tenant_id);
                if (found || over) TRY(check_owner(found ? **found : *over, *asked.operation));
                if (found) {
                    delete_instance(desk, (*found)->id, "its owner deleted it");
                    return api::Empty{};
                }
                if (!over && !frees) return std::unexpected(found.error());
                if (frees) keep_name(desk, *frees);
                return api::Empty{};
            },
            std::move(call), std::move(request));
    });
    const auto refuse_ended = [](const Instance& ended) -> Result<api::Instance> { return archived(ended); };
    write_instance<ops::stop_instance>(
        service,
        [](Desk& desk, const Instance& instance, const api::StopInstance& request) -> Result<api::Instance> {
            TRY(halt_instance(desk, instance.id, "stopped_by_owner", "its owner stopped it",
                              request.discard.value_or(false) ? LayerWish::discard : LayerWish::keep));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::start_instance>(
        service,
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(check_project(desk, instance.tenant, instance.project));
            TRY(wake_instance(desk, instance.id));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::restart_instance>(
        service,
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(restart_instance(desk, instance.id));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::retry_instance>(
        service,
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(retry_instance(desk, instance.id));
            return view(desk, instance);
        },
        [](const Instance& ended) -> Result<api::Instance> {
            Error why = archived(ended).error();
            why.message +=
                ", and can no longer be repaired: it was deleted, others of its tenant failed later "
                "(repairable_tenant_max), or a day has passed";
            return std::unexpected(std::move(why));
        });
    write_instance<ops::keep_instance_alive>(
        service,
        [](Desk& desk, const Instance& instance, const api::KeepAlive& request) -> Result<api::Instance> {
            const std::int64_t otherwise =
                instance.schedule.inactivity_s > 0 ? instance.schedule.inactivity_s : keep_alive_default_s;
            TRY(keep_alive(desk, instance.id, std::chrono::seconds{request.for_seconds.value_or(otherwise)}));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::update_instance>(
        service,
        [](Desk& desk, const Instance& instance,
           const api::UpdateInstance& request) -> Result<api::Instance> {
            TRY(update_instance(desk, instance.id, request));
            return view(desk, instance);
        },
        refuse_ended);
    service.handlers().on<ops::get_instance_state>(
        [&service](api::Call call, api::NameInstance request) -> Task<api::InstanceStateAnswer> {
            const TermPtr term = CO_TRY(service.leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance_id, request.tenant_id));
            api::InstanceStateAnswer answer{view(term->look(), instance).state};
            CO_TRY(co_await term->settled());
            co_return answer;
        });
}

}  // namespace hostler::master
