// What outlives an instance: a folder on one host's disk.
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "domain/object.h"

namespace hostler {

enum class VolumePhase {
    unbound,   // Wanted; the first instance that mounts it decides the host.
    creating,  // The host makes it.
    available,
    deleting,
    deleted,
};
BOOST_DESCRIBE_ENUM(VolumePhase, unbound, creating, available, deleting, deleted)

struct Volume {
    std::string id;    // "v-…"
    std::string name;  // The caller's storageID, unique per tenant among those that are not deleted.
    std::string tenant;
    std::string zone;  // Where it is wanted; empty: anywhere.
    std::string host;  // Where it lies; empty: nowhere so far.
    std::int64_t size_bytes = 0;
    VolumePhase phase = VolumePhase::unbound;
    std::string message;
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Volume, (), (id, name, tenant, zone, host, size_bytes, phase, message, created_at))

}  // namespace hostler
