#include "roles/master/consolidation/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<ConsolidationRecord>::Indexes()
    : ended_at([](const ConsolidationRecord& row) { return one_if(is_final(row.phase), row.ended_at); }) {}

}  // namespace hostler::master
