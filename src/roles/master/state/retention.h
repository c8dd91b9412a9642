// How long what is over is kept in memory. The store keeps it longer, to be read.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Instances that ended leave memory, a bounded number at a time; archive.h answers for them. true: there are
// more.
bool archive_instances(Desk& desk);
// The store knows from the next commit on whose this name was, and whether it is free.
void keep_name(Desk& desk, UsedName name);
void forget_what_is_over(Desk& desk);

}  // namespace hostler::master
