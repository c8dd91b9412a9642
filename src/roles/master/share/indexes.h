// Indexes of share links.
#pragma once

#include <cstdint>

#include "domain/tenancy/key.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Share> {
    Index<Share> instance, hash;
    Index<Share, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.instance), visit(self.hash), visit(self.expires_at);
    }
};

}  // namespace hostler::master
