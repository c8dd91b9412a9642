// What a host has, for people and for programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/inventory/host.h"

namespace hostler::bin {

enum class InventoryFormat { table, json };

// Why instances could not have a GPU, a sentence each, by its UUID.
using Unusable = std::map<std::string, std::vector<std::string>>;

// To standard output; problems in a table go to standard error.
void print_inventory(const HostFacts& facts, const Unusable& unusable, InventoryFormat format);

}  // namespace hostler::bin
