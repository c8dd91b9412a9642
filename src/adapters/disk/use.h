// How full a mounted file system is.
#pragma once

#include <optional>
#include <string>

#include "domain/inventory/sample.h"

namespace hostler::disk {

// Of the file system that is mounted at `at`. `beside` is a folder of the one below it, from which it is told
// whether anything is mounted; nullopt: nothing is, or there is no such folder. Opens nothing, so that it does
// not hold up whoever unmounts. Blocks.
std::optional<DiskUse> use_at(const std::string& at, const std::string& beside);

}  // namespace hostler::disk
