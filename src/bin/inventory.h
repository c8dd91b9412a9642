// What a host has, for people and for programs.
#pragma once

#include "domain/inventory/host.h"

namespace hostler::bin {

enum class InventoryFormat { table, json };

// To standard output; problems in a table go to standard error.
void print_inventory(const HostFacts& facts, InventoryFormat format);

}  // namespace hostler::bin
