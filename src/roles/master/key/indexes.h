// Indexes of keys and sign-ins.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "domain/tenancy/key.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<ApiKey> {
    Index<ApiKey> hash, account;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.hash), visit(self.account); }
};

template <>
struct Indexes<SignIn> {
    Index<SignIn, std::int64_t> expires_at;
    Index<SignIn, std::pair<std::string, std::string>> credential_route;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.expires_at), visit(self.credential_route); }
};

}  // namespace hostler::master
