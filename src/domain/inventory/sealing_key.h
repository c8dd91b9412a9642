// What the store says of the keys that seal what is secret in it. The keys themselves are nowhere in it.
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "domain/object.h"

namespace hostler {

// next: made, and seals nothing yet; current: seals whatever is written; former: opens what it has sealed;
// forgotten: has sealed nothing that is here, and is taken out of the ring.
enum class SealingPhase { next, current, former, forgotten };
BOOST_DESCRIBE_ENUM(SealingPhase, next, current, former, forgotten)

struct SealingKey {
    std::string id;
    SealingPhase phase = SealingPhase::next;
    std::int64_t since = 0;  // Microseconds since 1970.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(SealingKey, (), (id, phase, since))

}  // namespace hostler
