// Indexes of kept answers and operations.
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

enum class OperationWork { wait };  // It is under way.

template <>
struct Indexes<LongOperation> {
    Index<LongOperation> running_on;  // Its subject.
    Index<LongOperation, OperationWork> work;
    Index<LongOperation, std::int64_t> ended_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.running_on), visit(self.work), visit(self.ended_at);
    }
};

}  // namespace hostler::master
