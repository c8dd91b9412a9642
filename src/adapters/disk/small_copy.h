// Copies what an engine lays into a new layer, a few small files, without a process of its own.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler::disk {

// Into a folder that is there, with owners, modes and times, those of `from` itself too. false: there is
// something else than small files and folders, or more than a few, so that `cp -a` has to do it; what has
// been copied by then is overwritten by that. Blocks. Errors: unavailable, exhausted.
Result<bool> copy_small(const std::string& from, const std::string& into);

}  // namespace hostler::disk
