// Whether what runs in a container answers.
#pragma once

#include <string>

#include "core/stream.h"

namespace hostler::agent {

struct Probe {
    std::string address;  // To dial: "10.201.3.5:8080".
    std::string path;     // Not empty: GET it; empty: being connected is enough.
};

// One try. HTTP: 2xx, 3xx, 401 and 403 pass. Errors: unavailable (with a sentence that says what happened),
// timeout.
Task<> probe(Net& net, Timers& timers, Probe probe, Duration time);

}  // namespace hostler::agent
