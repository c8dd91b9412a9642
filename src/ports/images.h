// The images that a host's container engine has.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

class Images {
public:
    virtual ~Images() = default;
    // Every name of each of them, by tag and by digest, as domain/image says names in full; sorted, each
    // once. What Engine::pull() has made present is among them. Errors: unavailable (the engine does not
    // answer), timeout.
    virtual Task<std::vector<std::string>> image_names() = 0;
};

}  // namespace hostler
