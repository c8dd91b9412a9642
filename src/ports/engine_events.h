// What a host's container engine tells by itself, so that nobody has to list its containers all the time.
#pragma once

#include <functional>
#include <string>

#include "core/task.h"

namespace hostler {

enum class EngineNews {
    follows,  // It tells from now on. What happened before, or within the next second, may stay untold.
    changed,  // Something has happened to a container.
};

class EngineEvents {
public:
    virtual ~EngineEvents() = default;
    // Tells when a container with this label value is made, starts, ends or is removed, until the engine ends
    // that. News may be late, doubled, or of nothing that matters, and an engine that has stopped telling may
    // not say so: whoever follows looks for himself now and then. Errors: unavailable, timeout; it may also
    // end without one.
    virtual Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) = 0;
    // Succeeds when the engine is there, and costs it next to nothing. Errors: unavailable, timeout.
    virtual Task<> answers() = 0;
};

}  // namespace hostler
