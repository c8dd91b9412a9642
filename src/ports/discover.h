// All that is known of this machine, from every source there is.
#pragma once

#include <vector>

#include "ports/telemetry.h"

namespace hostler {

// Asks the host and each source, one after the other, and merges what they saw; the earlier source is
// believed (merge_inventories). A source that fails is left out and told of in `problems`. Errors: cancelled;
// those of `host`.
Task<HostFacts> discover_host(std::vector<Telemetry*> sources, HostTelemetry& host);

}  // namespace hostler
