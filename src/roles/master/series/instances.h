// What the containers of instances use, on its way into the series.
#pragma once

#include <map>
#include <string>

#include "roles/master/series/recorder.h"

namespace hostler::master {

// Adds a row for each of `told` that the host is to run: it is not believed of others. A host has
// `instance_series_host_max` rows, which are used again, as those of disks are; one is an instance's as long
// as it has its place there, whether it is measured or not. Counters begin at zero with the row, so that what
// another instance counted in it, or in another term, is no part of them.
void add_instances(const Desk& desk, const std::string& host,
                   const std::map<std::string, InstanceSample>& told, ReportIs which,
                   std::map<std::string, InstanceRow>& rows, Measurement& into);

}  // namespace hostler::master
