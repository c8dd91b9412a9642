// Keys, who one is, and what happened.
#include <fmt/format.h>

#include "api/operations_event.h"
#include "api/operations_key.h"
#include "api/operations_whoami.h"
#include "core/version.h"
#include "domain/tenancy/role.h"
#include "roles/master/http/api.h"
#include "roles/master/http/events_page.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<api::CreatedApiKey> create_key(Desk& desk, const api::Call& call, const api::CreateApiKey& request,
                                      const Digest& digest) {
    if (request.is_operator == request.tenant_id.has_value()) {
        Error error{Code::invalid, "a key is a tenant's or the operator's", "invalid"};
        error.fields.push_back({"tenantID", request.is_operator ? "an operator's key belongs to no tenant"
                                                                : "is required, unless isOperator is true"});
        return std::unexpected(std::move(error));
    }
    if (request.tenant_id) TRY(check_tenant(desk, *request.tenant_id));
    const Permissions all = permissions_of(BuiltInRole::operator_);
    if (!holds_all(call.caller.principal, request.is_operator ? all : tenant_key_permissions(),
                   scope_of_tenant(request.tenant_id.value_or(""))))
        return fail(Code::forbidden, "the key may do more than you may, and so you cannot have its secret",
                    "key_exceeds");
    const std::string secret = new_secret(desk.random, "hk");
    ApiKey key{.id = new_id(desk.random, "k"),
               .name = request.name,
               .hash = digest.sha256(secret),
               .tenant = request.tenant_id.value_or(""),
               .created_at = desk.estate.micros()};
    if (request.ttl_seconds) key.expires_at = key.created_at + *request.ttl_seconds * std::int64_t{1'000'000};
    api::CreatedApiKey made{.id = key.id,
                            .name = key.name,
                            .is_operator = request.is_operator,
                            .tenant_id = key.tenant,
                            .secret = secret,
                            .expires_at = wall_if(key.expires_at)};
    if (request.tenant_id) ensure_tenant(desk, *request.tenant_id);
    desk.estate.event("api_key", key.id, key.tenant, "created",
                      fmt::format("API key {} was created.", key.name));
    desk.estate.api_keys.add(std::move(key));
    return made;
}

constexpr std::size_t whoami_scopes_max = 200;

void show_scopes(const Principal& principal, api::Whoami& me) {
    for (const Held& held : shown_scopes(principal)) {
        me.scopes_truncated = me.scopes.size() == whoami_scopes_max;
        if (me.scopes_truncated) return;
        api::WhoamiScope& shown = me.scopes.emplace_back();
        switch (held.scope.kind) {
            case ScopeKind::cloud: shown.level = api::GrantScope::cloud; break;
            case ScopeKind::provider:
                shown.level = api::GrantScope::provider;
                shown.provider = held.scope.tenant;
                break;
            case ScopeKind::tenant:
                shown.level = api::GrantScope::tenant;
                shown.tenant_id = held.scope.tenant;
                break;
            case ScopeKind::project:
                shown.level = api::GrantScope::project;
                shown.tenant_id = held.scope.tenant;
                shown.project = held.scope.project;
                break;
        }
        for (const PermissionRow& row : permissions)
            if (held.permissions.has(row.permission)) shown.permissions.emplace_back(row.name);
    }
}

}  // namespace

static api::ApiKey view(const ApiKey& key) {
    return {.id = key.id,
            .name = key.name,
            .is_operator = key.tenant.empty(),
            .tenant_id = key.tenant,
            .created_at = wall(key.created_at),
            .expires_at = wall_if(key.expires_at)};
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateApiKey&) { return {}; }
// A key that was revoked is kept, for its name in events; to its owner it is gone.
Subject subject_of(const Desk& desk, const api::Call&, const api::NameApiKey& request) {
    const ApiKey* key = desk.estate.api_keys.find(request.api_key);
    if (!key) return {};
    return subject_named(*key, key->revoked_at == 0 ? api::encode(view(*key)) : "");
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateApiKey&,
                      const api::CreatedApiKey& made) {
    return subject_of(desk, call, api::NameApiKey{made.id});
}

void add_keys(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::create_api_key>(
        [&service](api::Call call, api::CreateApiKey request) -> Task<api::CreatedApiKey> {
            const TermPtr term = CO_TRY(service.leader());
            const Digest& digest = term->ports().digest;
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_api_key)>>(
                [&digest](Desk& desk, const api::Call& asking, const api::CreateApiKey& asked) {
                    return create_key(desk, asking, asked, digest);
                },
                std::move(call), std::move(request));
        });
    service.read<ops::list_api_keys>([](const Desk& desk, const api::Call& call,
                                        const api::ListApiKeys& request) -> Result<api::List<api::ApiKey>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::ApiKey>(desk.estate.api_keys,
                                    [&](const ApiKey& row) {
                                        return row.revoked_at == 0 && may(call, scope_of(row)) &&
                                               (tenant.empty() || row.tenant == tenant);
                                    })
            .page(call, [](const ApiKey& row) { return view(row); });
    });
    service.write<ops::delete_api_key>([](Desk& desk, const api::Call& call,
                                          const api::NameApiKey& request) -> Result<api::Empty> {
        const ApiKey* key = desk.estate.api_keys.find(request.api_key);
        Error absent{Code::not_found, fmt::format("there is no API key {}", request.api_key),
                     "api_key_not_found"};
        if (!key || key->revoked_at != 0) return std::unexpected(std::move(absent));
        TRY(check(call, scope_of(*key), std::move(absent)));
        if (call.caller.principal.kind == PrincipalKind::tenant_key &&
            call.caller.actor != "key/" + key->id) {
            Error error{Code::forbidden,
                        fmt::format("a tenant's key may revoke itself alone, and {} is another key", key->id),
                        "permission_missing"};
            error.help = fmt::format("An operator can revoke it: hostler key delete {}", key->id);
            return std::unexpected(std::move(error));
        }
        desk.estate.api_keys.edit(request.api_key).revoked_at = desk.estate.micros();
        desk.estate.event("api_key", key->id, key->tenant, "revoked",
                          fmt::format("API key {} was revoked.", key->name));
        return api::Empty{};
    });
    service.handlers().on<ops::list_events>(
        [&service](api::Call call, api::ListEvents request) -> Task<api::List<api::Event>> {
            const TermPtr term = CO_TRY(service.leader());
            const std::string tenant = CO_TRY(tenant_meant(call, request.tenant_id));
            EventQuery query{.kind = request.kind.value_or(""), .id = request.id.value_or("")};
            if (!tenant.empty()) query.tenant = tenant;
            CO_TRY(check_new(call, scope_of_tenant(tenant)));
            const WallTime begin = request.since
                                       ? term->ports().timers.wall() - std::chrono::seconds{*request.since}
                                       : WallTime::min();
            co_return co_await events_page(term, std::move(call), std::move(query), begin);
        });
    service.handlers().on<ops::whoami>([&service](api::Call call, api::Empty) -> Task<api::Whoami> {
        const TermPtr term = CO_TRY(service.leader());
        api::Whoami me{.actor = call.caller.actor,
                       .name = call.caller.name,
                       .is_operator = may(call, Permission::store_backup, Scope::cloud()),
                       .tenant_id = call.caller.tenant,
                       .expires_at = call.caller.expires,
                       .version = std::string{version}};
        me.simulated = term->look().estate.hosts.by().made.has(HostMade::simulated);
        show_scopes(call.caller.principal, me);
        co_return me;
    });
}

}  // namespace hostler::master
