// How long instances that ended stay in memory; archive.h answers for them afterwards.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Instances that ended leave memory, a bounded number at a time. true: there are more.
bool archive_instances(Desk& desk);
// The store knows from the next commit on whose this name was, and whether it is free.
void keep_name(Desk& desk, UsedName name);

}  // namespace hostler::master
