// Who has which role where.
#include <fmt/format.h>

#include "api/operations_role.h"
#include "roles/master/http/api.h"
#include "roles/master/role/grants.h"
#include "roles/master/role/subjects.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

api::GrantScope shown(ScopeKind kind) {
    switch (kind) {
        case ScopeKind::cloud: return api::GrantScope::cloud;
        case ScopeKind::tenant: return api::GrantScope::tenant;
        case ScopeKind::project: return api::GrantScope::project;
        case ScopeKind::provider: return api::GrantScope::provider;
    }
    broken("a scope outside its enum", __FILE__, __LINE__);
}

api::Grant grant_view(const Desk& desk, const Grant& grant) {
    return {.id = grant.id,
            .subject = grant.subject,
            .name = name_of_subject(desk, grant.subject),
            .role = grant.role,
            .scope = shown(grant.at),
            .tenant_id = grant.tenant,
            .project = grant.project,
            .provider = grant.provider,
            .expires_at = wall_if(grant.until),
            .made_by = grant.made_by,
            .created_at = wall(grant.created_at)};
}

// Errors: invalid (an operator named none), forbidden (tenant_differs).
Result<Scope> scope_meant(const api::Call& call, const api::CreateGrant& request) {
    if (request.cloud) return Scope::cloud();
    if (request.provider) return Scope::of_provider(*request.provider);
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    if (tenant.empty()) {
        Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
        wrong.fields.push_back({"tenantID", "name a tenant, a provider, or the cloud"});
        return std::unexpected(std::move(wrong));
    }
    return request.project ? Scope::of_project(tenant, *request.project) : Scope::of_tenant(tenant);
}

Result<> check_there(const Desk& desk, const Scope& scope) {
    if (scope.kind == ScopeKind::tenant) return check_tenant(desk, scope.tenant);
    if (scope.kind == ScopeKind::project) return check_project(desk, scope.tenant, scope.project);
    return {};
}

Result<api::Grant> decide_give(Desk& desk, const api::Call& call, const api::CreateGrant& request) {
    const Scope scope = TRY(scope_meant(call, request));
    TRY(check_new(call, scope));
    TRY(check_there(desk, scope));
    const std::string tenant = scope.kind == ScopeKind::provider ? "" : scope.tenant;
    const std::string subject = TRY(subject_named_by(desk, call, tenant, request.subject));
    TRY(check_gives(desk, call, request.role, scope));
    const std::int64_t until =
        request.ttl_seconds ? desk.estate.micros() + *request.ttl_seconds * std::int64_t{1'000'000} : 0;
    const Grant& given = *TRY(give_role(desk, subject, request.role, scope, until, call.caller.actor));
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return grant_view(desk, given);
}

Result<api::Empty> decide_take(Desk& desk, const api::Call& call, const api::NameGrant& request) {
    const Grant* grant = desk.estate.grants.find(request.grant);
    Error absent{Code::not_found, fmt::format("there is no grant {}", request.grant), "grant_not_found"};
    if (!grant) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*grant), std::move(absent)));
    const std::string id = grant->id;
    TRY(keeping_admins(desk, {grant->tenant}, [&] { take_role(desk, id); }));
    return api::Empty{};
}

}  // namespace

Subject subject_of(const Desk&, const api::Call&, const api::CreateGrant&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameGrant& request) {
    const Grant* grant = desk.estate.grants.find(request.grant);
    return grant ? subject_named(*grant, api::encode(grant_view(desk, *grant))) : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateGrant&,
                      const api::Grant& made) {
    return subject_of(desk, call, api::NameGrant{made.id});
}

void add_grants(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_grant>(decide_give);
    service.read<ops::list_grants>([](const Desk& desk, const api::Call& call,
                                      const api::ListGrants& request) -> Result<api::List<api::Grant>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        Paging<Grant, api::Grant> paging;
        const auto wanted = [&](const Grant& row) {
            return may(call, scope_of(row)) && (tenant.empty() || row.tenant == tenant) &&
                   (!request.subject || row.subject == *request.subject) &&
                   (!request.role || row.role == *request.role);
        };
        const auto& by = desk.estate.grants.by();
        if (request.subject || !tenant.empty()) {
            for (const Grant* row : request.subject ? by.subject.of(*request.subject) : by.tenant.of(tenant))
                if (wanted(*row)) paging.rows.push_back(row);
        } else {
            for (const auto& [id, row] : desk.estate.grants.all())
                if (wanted(row)) paging.rows.push_back(&row);
        }
        return paging.page(call, [&](const Grant& row) { return grant_view(desk, row); });
    });
    service.write<ops::delete_grant>(decide_take);
}

}  // namespace hostler::master
