// By what operations are found besides their ids.
#pragma once

#include <cstdint>

#include "domain/tenancy/key.h"
#include "roles/master/state/index.h"

namespace hostler::master {

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
