// A host that an operator empties: it takes nothing new, and what runs there ends or is stopped in time.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/object.h"

namespace hostler {

// Instants in microseconds since 1970, UTC.
struct Drain {
    std::string host;
    std::int64_t since = 0;
    std::int64_t stop_at = 0;   // What is still there then is stopped.
    std::int64_t empty_at = 0;  // Nothing was there any more; 0: something is.
    std::string reason;         // In the operator's words.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Drain, (), (host, since, stop_at, empty_at, reason))

// The reason of an instance that is stopped because its host is drained.
inline constexpr std::string_view drained = "host_drained";

}  // namespace hostler
