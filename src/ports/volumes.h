// What outlives an instance, on one host's disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/task.h"
#include "domain/inventory/sample.h"
#include "domain/volume/volume.h"
#include "ports/id_range.h"

namespace hostler {

// Ids are plain names (core/names.h). Errors everywhere: unavailable. Repeatable calls; whoever dies in the
// middle of one leaves the volume as it was, as it was to become, or (of one that was being made or removed)
// none.
class HostVolumes {
public:
    struct Attached {
        std::string folder;  // To mount; what a program writes there ends at the volume's size.
        std::string note;    // What was mended on the way, in words for people; empty: nothing.
    };
    struct Room {
        std::uint64_t bytes = 0;  // That volumes may have on this host, those that are there included.
        std::string refused;      // Why this host keeps none; empty: it does.
    };
    // Smaller ones are made so large.
    static constexpr std::uint64_t size_min = volume_bytes_min;

    virtual ~HostVolumes() = default;
    // Makes the volume, and has the disk set aside all of its room. One that is there and smaller grows, also
    // while it is in use; one that is larger stays as it is: nothing shrinks. Errors: exhausted (the disk has
    // not so much room; all is as before), invalid (an id that cannot be one).
    virtual Task<> create(std::string id, std::uint64_t size_bytes) = 0;
    // Makes its folder ready to be mounted, again after every start of the machine. The folder is, or
    // becomes, that of somebody among `ids`. A new one has mode 0, for the engine that mounts it first
    // (MountSpec). Errors: not_found; unavailable (volume_damaged: what is in it needs a person).
    virtual Task<Attached> attach(std::string id, IdRange ids) = 0;
    // With all that is in it. What is not there is removed. Errors: invalid; unavailable (volume_in_use).
    virtual Task<> remove(std::string id) = 0;
    virtual Task<std::vector<std::string>> list() = 0;
    virtual Task<Room> room() = 0;
    // By id, of those that are ready to be mounted: of others it is not known how full they are.
    virtual Task<std::map<std::string, DiskUse>> uses() = 0;
};

}  // namespace hostler
