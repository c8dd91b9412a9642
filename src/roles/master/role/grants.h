// Rules of grants: nobody gives more than they have, and a tenant that has an admin keeps one.
#pragma once

#include <string>

#include "api/handlers.h"
#include "roles/master/http/gate.h"
#include "roles/master/state/desk.h"
#include "roles/master/tenancy/principals.h"

namespace hostler::master {

// Errors: invalid (the role is unknown, or does not fit the scope), with the field `role`.
Result<Permissions> role_for(const Desk& desk, const std::string& role, const Scope& scope);
// Errors: those of role_for(); forbidden (role_exceeds: the caller does not have all of it there).
Result<> check_gives(const Desk& desk, const api::Call& call, const std::string& role, const Scope& scope);

// A role that the subject has there already, for as long or longer, is given once. `until`: microseconds; 0:
// for good. Errors: exhausted (quota_exceeded).
Result<const Grant*> give_role(Desk& desk, const std::string& subject, const std::string& role,
                               const Scope& scope, std::int64_t until, const std::string& made_by);
void take_role(Desk& desk, const std::string& grant);
// All of a subject that goes, its places in groups, and its quotas.
void forget_roles(Desk& desk, const std::string& subject);
// Those that have ended, a few at once.
void forget_ended_grants(Desk& desk);

// Errors: conflict (last_admin).
std::unexpected<Error> last_admin(const std::string& tenant);

// Does `change`, unless one of these tenants had an admin and then has none. Errors: conflict (last_admin).
template <class Change>
Result<> keeping_admins(Desk& desk, const std::vector<std::string>& tenants, Change change) {
    std::vector<std::string> had;
    for (const std::string& tenant : tenants)
        if (!tenant.empty() && has_admin(desk, tenant)) had.push_back(tenant);
    {
        const Estate::Trial trial{desk.estate};
        if (!had.empty()) change();
        for (const std::string& tenant : had)
            if (!has_admin(desk, tenant)) return last_admin(tenant);
    }
    change();
    return {};
}

}  // namespace hostler::master
