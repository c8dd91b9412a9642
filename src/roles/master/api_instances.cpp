// What changes instances, and the one-word state that the source asks for.
#include <fmt/format.h>

#include "roles/master/api.h"
#include "roles/master/api_lookup.h"
#include "roles/master/instance_rules.h"
#include "roles/master/template_rules.h"
#include "roles/master/views.h"

namespace hostler::master {

namespace {

// A name that was used stays used, also when its instance is no longer in memory.
Task<> check_never_used(TermPtr term, api::StartInstance request) {
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

Result<api::Empty> decide_start(Desk& desk, const api::Call& call, const api::StartInstance& request,
                                const Digest& digest) {
    const auto filled = TRY(filled_in(desk.settings.templates, request));
    TRY(start_instance(desk, filled, digest.sha256(call.request)));
    return api::Empty{};
}

}  // namespace

void Api::add_instances() {
    namespace ops = api::ops;
    handlers_.on<ops::start_instance>([this](api::Call call, api::StartInstance request) -> Task<api::Empty> {
        CO_TRY(tenant_meant(call, request.tenant_id));
        const TermPtr term = CO_TRY(leader());
        if (!find_instance(term->look(), request.tenant_id, request.instance_id))
            CO_TRY(co_await check_never_used(term, request));
        const Digest& digest = term->ports().digest;
        co_return co_await perform<std::remove_cvref_t<decltype(ops::start_instance)>>(
            [&digest](Desk& desk, const api::Call& asked, const api::StartInstance& wanted) {
                return decide_start(desk, asked, wanted, digest);
            },
            std::move(call), std::move(request));
    });
    write<ops::stop_instance>([](Desk& desk, const api::Call& call,
                                 const api::NameInstance& request) -> Result<api::Empty> {
        const Instance& instance = *TRY(instance_named(desk, call, request.instance_id, request.tenant_id));
        stop_instance(desk, instance.id, "its owner stopped it");
        return api::Empty{};
    });
    read<ops::get_instance_state>([](const Desk& desk, const api::Call& call,
                                     const api::NameInstance& request) -> Result<api::InstanceStateAnswer> {
        return api::InstanceStateAnswer{
            view(desk, *TRY(instance_named(desk, call, request.instance_id, request.tenant_id))).state};
    });
}

}  // namespace hostler::master
