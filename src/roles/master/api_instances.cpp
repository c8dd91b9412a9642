// What changes instances, and the one-word state that the source asks for.
#include <fmt/format.h>

#include "roles/master/api.h"
#include "roles/master/api_lookup.h"
#include "roles/master/instance_rules.h"
#include "roles/master/placement_rules.h"
#include "roles/master/rest_rules.h"
#include "roles/master/schedule_rules.h"
#include "roles/master/template_rules.h"
#include "roles/master/views.h"

namespace hostler::master {

namespace {

constexpr std::int64_t keep_alive_default_s = 3600;  // Where there is no inactivity timeout to go by.

// A name that was used stays used, also when its instance is no longer in memory.
Task<> check_never_used(TermPtr term, api::CreateInstance request) {
    const auto used = co_await term->ports().store.find(
        std::string{Kind<UsedName>::name}, UsedName::id_of(request.tenant_id, request.instance_id));
    if (!used && used.error().code == Code::not_found) co_return Result<>{};
    CO_TRY(used);
    Error error{Code::conflict,
                fmt::format("instance {} has ended; its name is not used again", request.instance_id),
                "instance_exists"};
    error.help = "Choose another instanceID.";
    co_return std::unexpected(std::move(error));
}

Result<api::Empty> decide_start(Desk& desk, const api::Call& call, const api::CreateInstance& request,
                                const Digest& digest) {
    if (request.placement) TRY(may_ask(call.caller, *request.placement));
    const auto filled = TRY(filled_in(desk.settings.templates, request));
    TRY(create_instance(desk, filled, digest.sha256(call.request)));
    return api::Empty{};
}

}  // namespace

void Api::add_instances() {
    namespace ops = api::ops;
    handlers_.on<ops::create_instance>(
        [this](api::Call call, api::CreateInstance request) -> Task<api::Empty> {
            CO_TRY(tenant_meant(call, request.tenant_id));
            const TermPtr term = CO_TRY(leader());
            if (!find_instance(term->look(), request.tenant_id, request.instance_id))
                CO_TRY(co_await check_never_used(term, request));
            const Digest& digest = term->ports().digest;
            co_return co_await perform<std::remove_cvref_t<decltype(ops::create_instance)>>(
                [&digest](Desk& desk, const api::Call& asked, const api::CreateInstance& wanted) {
                    return decide_start(desk, asked, wanted, digest);
                },
                std::move(call), std::move(request));
        });
    write<ops::delete_instance>([](Desk& desk, const api::Call& call,
                                   const api::NameInstance& request) -> Result<api::Empty> {
        const Instance& instance = *TRY(instance_named(desk, call, request.instance_id, request.tenant_id));
        delete_instance(desk, instance.id, "its owner deleted it");
        return api::Empty{};
    });
    write<ops::stop_instance>(
        [](Desk& desk, const api::Call& call, const api::GetInstance& request) -> Result<api::Instance> {
            const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
            TRY(halt_instance(desk, instance.id, "stopped_by_owner", "its owner stopped it"));
            return view(desk, instance);
        });
    write<ops::start_instance>(
        [](Desk& desk, const api::Call& call, const api::GetInstance& request) -> Result<api::Instance> {
            const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
            TRY(wake_instance(desk, instance.id));
            return view(desk, instance);
        });
    write<ops::restart_instance>(
        [](Desk& desk, const api::Call& call, const api::GetInstance& request) -> Result<api::Instance> {
            const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
            TRY(restart_instance(desk, instance.id));
            return view(desk, instance);
        });
    write<ops::keep_instance_alive>(
        [](Desk& desk, const api::Call& call, const api::KeepAlive& request) -> Result<api::Instance> {
            const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
            const std::int64_t otherwise =
                instance.schedule.inactivity_s > 0 ? instance.schedule.inactivity_s : keep_alive_default_s;
            TRY(keep_alive(desk, instance.id, std::chrono::seconds{request.for_seconds.value_or(otherwise)}));
            return view(desk, instance);
        });
    write<ops::update_instance>(
        [](Desk& desk, const api::Call& call, const api::UpdateInstance& request) -> Result<api::Instance> {
            const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
            TRY(update_instance(desk, instance.id, request));
            return view(desk, instance);
        });
    read<ops::get_instance_state>([](const Desk& desk, const api::Call& call,
                                     const api::NameInstance& request) -> Result<api::InstanceStateAnswer> {
        return api::InstanceStateAnswer{
            view(desk, *TRY(instance_named(desk, call, request.instance_id, request.tenant_id))).state};
    });
}

}  // namespace hostler::master
