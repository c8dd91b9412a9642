// Rules of service accounts.
#pragma once

#include <optional>
#include <string>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct ServiceAccount;
}

namespace hostler::master {

api::ServiceAccount view(const ServiceAccount& account);

// By id, or by name in the tenant. Errors: not_found (account_not_found), also where the caller may not see
// it; forbidden, conflict (ambiguous).
Result<const ServiceAccount*> account_named(const Desk& desk, const api::Call& call, const std::string& name,
                                            const std::optional<std::string>& tenant);
// Errors: conflict (account_exists), exhausted (quota_exceeded).
Result<const ServiceAccount*> make_account(Desk& desk, const std::string& name, const std::string& tenant);
Result<> rename_account(Desk& desk, const std::string& id, const std::string& name);
void disable_account(Desk& desk, const std::string& id);
void enable_account(Desk& desk, const std::string& id);
// Its keys are revoked.
void delete_account(Desk& desk, const std::string& id);

}  // namespace hostler::master
