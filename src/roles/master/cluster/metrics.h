// What operators see of clusters in the metrics of a master that leads.
#pragma once

#include "core/metrics.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

void write_cluster_metrics(MetricsPage& page, const Desk& desk);

}  // namespace hostler::master
