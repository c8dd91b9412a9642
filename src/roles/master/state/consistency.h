// Whether objects as a store has them make sense together, for `hostler store check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ports/store.h"

namespace hostler::master {

struct Contradiction {
    std::string subject;  // Kind and id.
    std::string message;
};

// Bodies that cannot be read, and what refers to something that is not there or is referred to differently.
std::vector<Contradiction> contradictions(const std::vector<Object>& live);

// Why the body of an object cannot be read; nullopt: it can.
std::optional<Contradiction> unreadable_body(const Object& object);

}  // namespace hostler::master
