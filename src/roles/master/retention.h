// How long what is over is kept in memory. The store keeps it longer, to be read.
#pragma once

#include "roles/master/desk.h"

namespace hostler::master {

// Instances that ended leave memory, a bounded number at a time; archive.h answers for them. true: there are
// more.
bool archive_instances(Desk& desk);
void forget_what_is_over(Desk& desk);

}  // namespace hostler::master
