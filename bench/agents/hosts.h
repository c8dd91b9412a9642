// Hosts that have joined, all at once: a master lets twenty join in a second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/stream.h"
#include "ports/authority.h"
#include "ports/store.h"

namespace hostler::bench {

struct JoinedHost {
    std::string id;
    std::shared_ptr<const Credentials> credentials;
};

// As if each had joined with a token: a key of its own, a certificate by `authority`, a row in `store`, which
// no master may have open. Errors: those of both.
Task<std::vector<JoinedHost>> join_hosts(Store& store, Authority& authority, Random& random, Timers& timers,
                                         std::string zone, std::size_t count);

}  // namespace hostler::bench
