// Indexes of consolidations.
#pragma once

#include <cstdint>

#include "domain/scheduler/consolidation_record.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<ConsolidationRecord> {
    Index<ConsolidationRecord, std::int64_t> ended_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.ended_at); }
};

}  // namespace hostler::master
