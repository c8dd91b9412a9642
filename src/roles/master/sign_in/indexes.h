// Indexes of sessions and password links.
#pragma once

#include <cstdint>
#include <string>

#include "domain/tenancy/user.h"
#include "roles/master/state/index.h"

namespace hostler::master {

// As the API names a session: a part of its hash.
std::string session_id(const Login& login);

template <>
struct Indexes<Login> {
    Index<Login> user, session;
    Index<Login, UserIdentity> identity;  // By which it came,
    Index<Login, UserIdentity> sid;       // and the provider's session, in place of the subject.
    Index<Login> provider;
    Index<Login, std::int64_t> expires_at, used_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.user), visit(self.session), visit(self.identity), visit(self.sid), visit(self.provider);
        visit(self.expires_at), visit(self.used_at);
    }
};

template <>
struct Indexes<PasswordLink> {
    Index<PasswordLink> user;
    Index<PasswordLink, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.user), visit(self.expires_at); }
};

}  // namespace hostler::master
