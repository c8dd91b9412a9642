#include "roles/master/instance/archive.h"

#include <fmt/format.h>

#include "roles/master/http/lookup.h"

namespace hostler::master {

namespace {

// Errors: those of the store, but for not_found.
Task<std::optional<Object>> look_up(Store& store, std::string_view kind, std::string id) {
    auto found = co_await store.find(std::string{kind}, std::move(id));
    if (found) co_return std::move(*found);
    if (found.error().code == Code::not_found) co_return std::nullopt;
    co_return std::unexpected(std::move(found).error());
}

}  // namespace

Result<Instance> instance_of(const Object& object) {
    Instance instance = TRY(decode_body<Instance>(object.body));
    instance.meta = {object.generation, object.created, object.version};
    return instance;
}

bool is_answered_for(const Desk& desk, const Instance& ended) {
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    return ended.ended_at + kept > desk.estate.micros();
}

std::unexpected<Error> archived(const Instance& instance) {
    Error error{Code::conflict, fmt::format("instance {} has ended", instance.caller_id), "not_running"};
    error.help =
        fmt::format("Delete it (`hostler instance delete {}`) and create another one.", instance.caller_id);
    return std::unexpected(std::move(error));
}

Task<std::optional<UsedName>> used_name(TermPtr term, std::string tenant, std::string caller_id) {
    const auto object = CO_TRY(
        co_await look_up(term->ports().store, Kind<UsedName>::name, UsedName::id_of(tenant, caller_id)));
    if (!object) co_return std::nullopt;
    UsedName name{.id = object->id};
    if (!object->body.empty()) name = CO_TRY(decode_body<UsedName>(object->body));
    name.free = object->phase == Kind<UsedName>::phase({.free = true});
    co_return name;
}

Task<std::optional<Instance>> archived_instance(TermPtr term, api::Call call, std::string name,
                                                std::optional<std::string> tenant) {
    const std::string meant = CO_TRY(tenant_meant(call, tenant));
    CO_TRY(co_await term->settled());  // It may have left memory a moment ago.
    Store& store = term->ports().store;
    std::string id = name;
    if (!meant.empty())
        if (const auto used = CO_TRY(co_await used_name(term, meant, name))) id = used->instance;
    const auto object = CO_TRY(co_await look_up(store, Kind<Instance>::name, id));
    // One whose record was pruned has no body.
    if (!object || object->live || object->body.empty()) co_return std::nullopt;
    Instance instance = CO_TRY(instance_of(*object));
    if (!meant.empty() && instance.tenant != meant) co_return std::nullopt;
    if (!is_answered_for(term->desk("master"), instance)) co_return std::nullopt;
    co_return instance;
}

Task<Instance> instance_anywhere(TermPtr term, api::Call call, std::string name,
                                 std::optional<std::string> tenant) {
    const auto here = instance_named(term->look(), call, name, tenant);
    if (here) co_return Instance{**here};
    if (here.error().code != Code::not_found) co_return std::unexpected(here.error());
    auto ended = CO_TRY(
        co_await archived_instance(std::move(term), std::move(call), std::move(name), std::move(tenant)));
    if (!ended) co_return std::unexpected(here.error());
    co_return std::move(*ended);
}

}  // namespace hostler::master
