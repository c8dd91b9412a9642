// What operators see of sign-ins by identity providers.
#pragma once

#include "core/metrics.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

void write_oidc_metrics(MetricsPage& page, Term& term);

}  // namespace hostler::master
