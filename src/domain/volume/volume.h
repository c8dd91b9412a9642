// What outlives an instance: a file system of its own on one host's disk.
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
    std::string project = "default";
    std::string zone;  // Where it is wanted; empty: anywhere.
    std::string host;  // Where it lies; empty: nowhere so far.
    std::int64_t size_bytes = 0;
    std::int64_t wanted_bytes = 0;  // What it grows to; 0: it does not.
    VolumePhase phase = VolumePhase::unbound;
    std::string message;
    std::int64_t created_at = 0;
    std::string created_by{};  // "user/u-…", "account/sa-…", "key/k-…"; empty: not known.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Volume, (),
                      (id, name, tenant, zone, host, size_bytes, wanted_bytes, phase, message, created_at,
                       project, created_by))

// Of its host's disk, from the moment that its host is known.
inline constexpr std::int64_t volume_bytes_min = std::int64_t{300} << 20;
constexpr std::int64_t room_of(std::int64_t size_bytes) {
    constexpr std::int64_t mebibyte = 1 << 20;
    const std::int64_t whole = size_bytes / mebibyte * mebibyte + (size_bytes % mebibyte > 0 ? mebibyte : 0);
    return whole > volume_bytes_min ? whole : volume_bytes_min;
}
// Room on a disk of this size that no volume gets.
inline constexpr std::int64_t volume_kept_free_max = std::int64_t{4} << 30, volume_kept_free_part = 20;
constexpr std::int64_t volume_kept_free(std::int64_t disk_bytes) {
    const std::int64_t part = disk_bytes / volume_kept_free_part;
    return part < volume_kept_free_max ? part : volume_kept_free_max;
}
// Changes of the room for volumes that are smaller than this are not told: they happen all the time. Of a
// small disk one volume may take nearly all.
constexpr std::int64_t room_step(std::int64_t room_bytes) {
    constexpr std::int64_t step_max = 256 << 20, part = 16;
    const std::int64_t step = room_bytes / part;
    return step > step_max ? step_max : step > 0 ? step : 1;
}
static_assert(room_of(1) == volume_bytes_min &&
              room_of((std::int64_t{1} << 30) + 1) == (std::int64_t{1025} << 20));

}  // namespace hostler
