// What is wanted of instances and what is seen of them, brought together.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Compares what is wanted with what is seen, and acts: makes commands, notes ends, frees what is held.
void reconcile_instance(Desk& desk, const std::string& id);

// Those about which something may be to do: what changed since this was asked last, and what waits. By level,
// every second.
std::set<std::string> instances_to_reconcile(Desk& desk);

}  // namespace hostler::master
