// How long what is over is kept in memory. The store keeps it longer, to be read.
#pragma once

#include "roles/master/desk.h"

namespace hostler::master {

void forget_what_is_over(Desk& desk);

}  // namespace hostler::master
