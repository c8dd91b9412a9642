// The networks on one host that containers stand in.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

struct NetworkSpec {
    std::string id;       // "n-7f3k2m9qxy-…": unique on the host.
    std::string subnet;   // "10.201.3.0/24"; no two networks of a cloud share one.
    std::string gateway;  // The bridge's address in it.
};

// Errors: invalid: the id is empty or longer than 128, the subnet is none, the gateway does not lie in it.
Result<> validate(const NetworkSpec& spec);

// Isolated bridges. From inside one there is no way to another network, to the host's own services at any of
// its addresses (DNS of the bridge apart), or to 169.254.0.0/16; from the host there is a way in. Repeatable
// calls.
class HostNetwork {
public:
    virtual ~HostNetwork() = default;
    // Errors: invalid (validate()), conflict (another subnet or gateway under this id, or the subnet overlaps
    // one that is in use), unavailable.
    virtual Task<> ensure(NetworkSpec spec) = 0;
    // Errors: conflict (containers stand in it). What is not there is removed.
    virtual Task<> remove(std::string id) = 0;
    virtual Task<std::vector<std::string>> list() = 0;
};

}  // namespace hostler
