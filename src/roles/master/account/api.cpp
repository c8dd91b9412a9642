// Service accounts.
#include "roles/master/http/api.h"
#include "api/operations_account.h"
#include "roles/master/account/accounts.h"
#include "roles/master/role/grants.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<api::ServiceAccount> decide_create_account(Desk& desk, const api::Call& call,
                                                  const api::CreateServiceAccount& request) {
    const std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    TRY(check_tenant(desk, tenant));
    const ServiceAccount& made = *TRY(make_account(desk, request.name, tenant));
    ensure_tenant(desk, tenant);
    return view(made);
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameServiceAccount& request) {
    const auto found = account_named(desk, call, request.account, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(**found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateServiceAccount& request) {
    return subject_of(desk, call, api::NameServiceAccount{request.name, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateServiceAccount& request) {
    return subject_of(desk, call, api::NameServiceAccount{request.account, request.tenant_id});
}
// It may have another name by then.
Subject subject_after(const Desk& desk, const api::Call& call, const api::UpdateServiceAccount&,
                      const api::ServiceAccount& now) {
    return subject_of(desk, call, api::NameServiceAccount{now.id});
}

void add_accounts(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_service_account>(decide_create_account);
    service.read<ops::list_service_accounts>(
        [](const Desk& desk, const api::Call& call,
           const api::ListServiceAccounts& request) -> Result<api::List<api::ServiceAccount>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::ServiceAccount>(desk.estate.service_accounts,
                                                [&](const ServiceAccount& row) {
                                                    return may(call, scope_of(row)) &&
                                                           (tenant.empty() || row.tenant == tenant);
                                                })
                .page(call, [](const ServiceAccount& row) { return view(row); });
        });
    service.read<ops::get_service_account>(
        [](const Desk& desk, const api::Call& call,
           const api::NameServiceAccount& request) -> Result<api::ServiceAccount> {
            return view(*TRY(account_named(desk, call, request.account, request.tenant_id)));
        });
    service.write<ops::update_service_account>(
        [](Desk& desk, const api::Call& call,
           const api::UpdateServiceAccount& request) -> Result<api::ServiceAccount> {
            const std::string id = TRY(account_named(desk, call, request.account, request.tenant_id))->id;
            TRY(rename_account(desk, id, request.name));
            return view(desk.estate.service_accounts.at(id));
        });
    service.write<ops::disable_service_account>(
        [](Desk& desk, const api::Call& call,
           const api::NameServiceAccount& request) -> Result<api::ServiceAccount> {
            const std::string id = TRY(account_named(desk, call, request.account, request.tenant_id))->id;
            disable_account(desk, id);
            return view(desk.estate.service_accounts.at(id));
        });
    service.write<ops::enable_service_account>(
        [](Desk& desk, const api::Call& call,
           const api::NameServiceAccount& request) -> Result<api::ServiceAccount> {
            const std::string id = TRY(account_named(desk, call, request.account, request.tenant_id))->id;
            enable_account(desk, id);
            return view(desk.estate.service_accounts.at(id));
        });
    service.write<ops::delete_service_account>(
        [](Desk& desk, const api::Call& call, const api::NameServiceAccount& request) -> Result<api::Empty> {
            const std::string id = TRY(account_named(desk, call, request.account, request.tenant_id))->id;
            forget_roles(desk, std::string{account_subject} + id);
            delete_account(desk, id);
            return api::Empty{};
        });
}

}  // namespace hostler::master
