// What changes instances, and the one-word state that the source asks for.
#include <fmt/format.h>

#include "roles/master/api.h"
#include "roles/master/api_lookup.h"
#include "roles/master/archive.h"
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
    co_return std::unexpected(name_was_used(request.instance_id));
}

std::string named_instance(const api::NameInstance& request) { return request.instance_id; }
std::string named_instance(const auto& request) { return request.instance; }

Result<api::Empty> decide_start(Desk& desk, const api::Call& call, const api::CreateInstance& request,
                                const Digest& digest) {
    if (request.placement) TRY(may_ask(call.caller, *request.placement));
    const auto filled = TRY(filled_in(desk.settings.templates, request));
    TRY(create_instance(desk, filled, digest.sha256(call.request)));
    return api::Empty{};
}

}  // namespace

// `decide` is asked about one in memory, `ended` about one that is in the archive alone.
template <const auto& operation, class Decide, class Ended>
void Api::write_instance(Decide decide, Ended ended) {
    using Op = std::remove_cvref_t<decltype(operation)>;
    using Request = typename Op::Request;
    using Response = typename Op::Response;
    handlers_.on<operation>([this, decide, ended](api::Call call, Request request) -> Task<Response> {
        const std::string name = named_instance(request);
        const TermPtr term = CO_TRY(leader());
        std::optional<Instance> over;
        const auto here = instance_named(term->look(), call, name, request.tenant_id);
        if (!here && here.error().code == Code::not_found)
            over = CO_TRY(co_await archived_instance(term, call, name, request.tenant_id));
        co_return co_await perform<Op>(
            [&](Desk& desk, const api::Call& asked, const Request& wanted) -> Result<Response> {
                const auto found = instance_named(desk, asked, name, wanted.tenant_id);
                if (!found && over) return ended(*over);
                return decide(desk, *TRY(found), wanted);
            },
            std::move(call), std::move(request));
    });
}

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
    // Deleting one that has ended succeeds, as it did while that was in memory.
    write_instance<ops::delete_instance>(
        [](Desk& desk, const Instance& instance, const api::NameInstance&) -> Result<api::Empty> {
            delete_instance(desk, instance.id, "its owner deleted it");
            return api::Empty{};
        },
        [](const Instance&) -> Result<api::Empty> { return api::Empty{}; });
    const auto refuse_ended = [](const Instance& ended) -> Result<api::Instance> { return archived(ended); };
    write_instance<ops::stop_instance>(
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(halt_instance(desk, instance.id, "stopped_by_owner", "its owner stopped it"));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::start_instance>(
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(wake_instance(desk, instance.id));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::restart_instance>(
        [](Desk& desk, const Instance& instance, const api::GetInstance&) -> Result<api::Instance> {
            TRY(restart_instance(desk, instance.id));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::keep_instance_alive>(
        [](Desk& desk, const Instance& instance, const api::KeepAlive& request) -> Result<api::Instance> {
            const std::int64_t otherwise =
                instance.schedule.inactivity_s > 0 ? instance.schedule.inactivity_s : keep_alive_default_s;
            TRY(keep_alive(desk, instance.id, std::chrono::seconds{request.for_seconds.value_or(otherwise)}));
            return view(desk, instance);
        },
        refuse_ended);
    write_instance<ops::update_instance>(
        [](Desk& desk, const Instance& instance,
           const api::UpdateInstance& request) -> Result<api::Instance> {
            TRY(update_instance(desk, instance.id, request));
            return view(desk, instance);
        },
        refuse_ended);
    handlers_.on<ops::get_instance_state>(
        [this](api::Call call, api::NameInstance request) -> Task<api::InstanceStateAnswer> {
            const TermPtr term = CO_TRY(leader());
            const Instance instance =
                CO_TRY(co_await instance_anywhere(term, call, request.instance_id, request.tenant_id));
            api::InstanceStateAnswer answer{view(term->look(), instance).state};
            CO_TRY(co_await term->settled());
            co_return answer;
        });
}

}  // namespace hostler::master
