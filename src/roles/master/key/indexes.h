// Indexes of keys and sign-ins.
#pragma once

#include <cstdint>

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
    Indexes();
    static void each(auto& self, auto visit) { visit(self.expires_at); }
};

}  // namespace hostler::master
