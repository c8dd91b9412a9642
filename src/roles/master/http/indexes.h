// By what kept answers are found besides their ids.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "domain/tenancy/key.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Answer> {
    Index<Answer> tenant;
    Index<Answer, std::int64_t> expires_at;
    Index<Answer, std::pair<std::string, std::int64_t>> tenant_expires_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.tenant), visit(self.expires_at), visit(self.tenant_expires_at);
    }
};

}  // namespace hostler::master
