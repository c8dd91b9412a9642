#include "roles/master/stock/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Slot>::Indexes()
    : spec([](const Slot& row) { return one(row.spec); }),
      idle_spec([](const Slot& row) { return one_if(row.phase == SlotPhase::idle, row.spec); }),
      phase([](const Slot& row) { return one_if(row.phase != SlotPhase::used, row.phase); }) {}

}  // namespace hostler::master
