// That the store was made of a backup: what has happened since is known to the hosts alone.
#pragma once

#include <boost/describe.hpp>
#include <set>
#include <string>

#include "domain/object.h"

namespace hostler {

struct Restore {
    std::string id;                // "restore": the last one.
    std::int64_t taken_at = 0;     // When the backup was made, and
    std::int64_t restored_at = 0;  // when the store was made of it. Microseconds since 1970.
    bool keys_revoked = false;     // No API key of the backup opens anything.
    std::set<std::string> heard;   // Hosts that have said since what runs there.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Restore, (), (id, taken_at, restored_at, keys_revoked, heard))

}  // namespace hostler
