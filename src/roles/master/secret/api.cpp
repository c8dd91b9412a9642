// Secrets of tenants.
#include "roles/master/http/api.h"
#include "api/operations_secret.h"
#include "roles/master/http/lookup.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<api::Secret> decide_create(Desk& desk, const api::Call& call, const api::CreateSecret& request) {
    const std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, Scope::of_project(tenant, project_meant(request))));
    return view(*TRY(create_secret(desk, request, tenant)), {});
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateSecret& request) {
    const Secret* secret = find_secret(desk, request.tenant_id.value_or(call.caller.tenant), request.name);
    return secret ? subject_named(*secret, api::encode(view(*secret, users_of(desk, *secret)))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSecret& request) {
    const auto found = secret_named(desk, call, request.secret, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(**found, users_of(desk, **found)))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateSecret& request) {
    return subject_of(desk, call, api::NameSecret{request.secret, request.tenant_id});
}

void add_secrets(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_secret>(decide_create);
    service.read<ops::list_secrets>([](const Desk& desk, const api::Call& call,
                                       const api::ListSecrets& request) -> Result<api::List<api::Secret>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        auto users = users_of_secrets(desk, tenant);
        return rows_of<api::Secret>(
                   desk.estate.secrets,
                   [&](const Secret& row) {
                       const bool registry = row.kind == SecretKind::registry;
                       return (tenant.empty() || row.tenant == tenant) && may(call, scope_of(row)) &&
                              (!request.project || row.project == *request.project) &&
                              (!request.kind || registry == (*request.kind == api::SecretKind::registry));
                   })
            .page(call,
                  [&](const Secret& row) { return view(row, std::move(users[{row.tenant, row.name}])); });
    });
    service.read<ops::get_secret>(
        [](const Desk& desk, const api::Call& call, const api::NameSecret& request) -> Result<api::Secret> {
            const Secret& row = *TRY(secret_named(desk, call, request.secret, request.tenant_id));
            return view(row, users_of(desk, row));
        });
    service.write<ops::update_secret>(
        [](Desk& desk, const api::Call& call, const api::UpdateSecret& request) -> Result<api::Secret> {
            const std::string id = TRY(secret_named(desk, call, request.secret, request.tenant_id))->id;
            TRY(update_secret(desk, id, request));
            const Secret& row = desk.estate.secrets.at(id);
            return view(row, users_of(desk, row));
        });
    service.write<ops::delete_secret>(
        [](Desk& desk, const api::Call& call, const api::NameSecret& request) -> Result<api::Empty> {
            const std::string id = TRY(secret_named(desk, call, request.secret, request.tenant_id))->id;
            TRY(delete_secret(desk, id));
            return api::Empty{};
        });
}

}  // namespace hostler::master
