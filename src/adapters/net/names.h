// The system's resolver.
#pragma once

#include <memory>

#include "ports/names.h"

namespace hostler::net {

std::unique_ptr<Names> make_names(Loop& loop, Timers& timers);

}  // namespace hostler::net
