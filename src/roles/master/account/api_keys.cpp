// Keys of service accounts; any key is rotated and switched off here.
#include <fmt/format.h>

#include "api/operations_account.h"
#include "roles/master/account/accounts.h"
#include "roles/master/account/keys.h"
#include "roles/master/http/hashing.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

Result<const ApiKey*> key_named(const Desk& desk, const api::Call& call, const std::string& id) {
    Error absent{Code::not_found, fmt::format("there is no API key {}", id), "api_key_not_found"};
    const ApiKey* key = desk.estate.api_keys.find(id);
    if (!key || key->revoked_at != 0) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*key), std::move(absent)));
    return key;
}

Result<api::CreatedAccountKey> decide_create_account_key(Desk& desk, const api::Call& call,
                                                         const api::CreateAccountKey& request,
                                                         const Digest& digest) {
    const ServiceAccount& account = *TRY(account_named(desk, call, request.account, request.tenant_id));
    const MadeKey made = TRY(make_account_key(desk, call, account, request, digest));
    return api::CreatedAccountKey{.id = made.key->id,
                                  .name = made.key->name,
                                  .account_id = account.id,
                                  .tenant_id = account.tenant,
                                  .secret = made.secret,
                                  .expires_at = wall_if(made.key->expires_at)};
}

Result<api::RotatedKey> decide_rotate(Desk& desk, const api::Call& call, const api::RotateKey& request,
                                      const Digest& digest) {
    const std::string id = TRY(key_named(desk, call, request.api_key))->id;
    const MadeKey made = TRY(rotate_key(desk, call, id, request.grace_seconds, digest));
    return api::RotatedKey{.id = made.key->id,
                           .name = made.key->name,
                           .secret = made.secret,
                           .replaces = id,
                           .replaced_ends_at = wall(desk.estate.api_keys.at(id).expires_at),
                           .expires_at = wall_if(made.key->expires_at)};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameKey& request) {
    const auto found = key_named(desk, call, request.api_key);
    return found ? subject_named(**found, api::encode(account_key_view(**found))) : Subject{};
}
Subject subject_of(const Desk&, const api::Call&, const api::CreateAccountKey&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateAccountKey&,
                      const api::CreatedAccountKey& made) {
    return subject_of(desk, call, api::NameKey{made.id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::RotateKey& request) {
    return subject_of(desk, call, api::NameKey{request.api_key});
}

void add_account_keys(Api& service) {
    namespace ops = api::ops;
    write_hashing<ops::create_account_key>(service, decide_create_account_key);
    write_hashing<ops::rotate_key>(service, decide_rotate);
    service.read<ops::list_account_keys>(
        [](const Desk& desk, const api::Call& call,
           const api::NameServiceAccount& request) -> Result<api::List<api::AccountKey>> {
            const ServiceAccount& account =
                *TRY(account_named(desk, call, request.account, request.tenant_id));
            Paging<ApiKey, api::AccountKey> paging;
            for (const ApiKey* key : desk.estate.api_keys.by().account.of(account.id))
                if (key->revoked_at == 0) paging.rows.push_back(key);
            return paging.page(call, [](const ApiKey& row) { return account_key_view(row); });
        });
    service.write<ops::disable_key>(
        [](Desk& desk, const api::Call& call, const api::NameKey& request) -> Result<api::AccountKey> {
            const std::string id = TRY(key_named(desk, call, request.api_key))->id;
            disable_key(desk, id);
            return account_key_view(desk.estate.api_keys.at(id));
        });
    service.write<ops::enable_key>(
        [](Desk& desk, const api::Call& call, const api::NameKey& request) -> Result<api::AccountKey> {
            const std::string id = TRY(key_named(desk, call, request.api_key))->id;
            enable_key(desk, id);
            return account_key_view(desk.estate.api_keys.at(id));
        });
}

}  // namespace hostler::master
