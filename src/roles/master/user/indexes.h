// Indexes of users and invitations.
#pragma once

#include <cstdint>

#include "domain/tenancy/user.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<User> {
    Index<User> login, tenant;
    Index<User> provider;  // Of an identity.
    Index<User, UserIdentity> identity;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.login), visit(self.tenant), visit(self.provider), visit(self.identity);
    }
};

template <>
struct Indexes<Invitation> {
    Index<Invitation> tenant, hash;
    Index<Invitation, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.hash), visit(self.expires_at); }
};

}  // namespace hostler::master
