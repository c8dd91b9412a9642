// Indexes of slots.
#pragma once

#include "domain/stock/stock.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Slot> {
    Index<Slot> spec;
    Index<Slot> idle_spec;  // Of those that are idle.
    Index<Slot, SlotPhase> phase;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.spec), visit(self.idle_spec), visit(self.phase); }
};

}  // namespace hostler::master
