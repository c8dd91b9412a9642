// Where a container writes beside its volumes: file systems of their own, that end, and that may outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "domain/inventory/sample.h"

namespace hostler {

// What a container's file system begins with.
enum class LayerStart {
    empty,  // With what the image has; what was kept under its name is lost.
    kept,   // With what the last container of its name had written.
};

// What becomes of it when its container is taken away.
enum class LayerEnd { lost, kept };

struct KeptLayer {
    std::string name;
    std::uint64_t bytes = 0;   // That it takes of the disk.
    std::int64_t kept_at = 0;  // Microseconds since 1970.
    bool operator==(const KeptLayer&) const = default;
};

// Of a host: what containers that are no more have written there, by the names of the containers; and how
// full it is where there are containers.
class KeptLayers {
public:
    virtual ~KeptLayers() = default;
    // Errors: unavailable.
    virtual Task<std::vector<KeptLayer>> kept() = 0;
    // By the names of the containers that have one now. Errors: unavailable.
    virtual Task<std::map<std::string, DiskUse>> uses() = 0;
    // Makes empty layers of `bytes` before a container needs one, until there are `count`; a container that
    // begins with an empty layer of this size takes one of them. Removes those of another size and those
    // beyond `count`. Makes none where the disk is nearly full. Gives how many there are. Errors:
    // unavailable.
    virtual Task<std::size_t> make_ahead(std::size_t count, std::uint64_t bytes) = 0;
};

// Names are those of containers. Errors everywhere: unavailable. Every call may be repeated. What the
// machine's end leaves of a container is worth nothing: one that is to start again is made again. What is
// kept survives it.
class Layers : public KeptLayers {
public:
    // Smaller ones are made so large: no XFS is smaller.
    static constexpr std::uint64_t bytes_min = std::uint64_t{300} << 20;
    // In the held folder, kept with what the container wrote: the folders that its image declares as volumes,
    // of an engine that would lay them elsewhere.
    static constexpr std::string_view volumes_folder = "hostler-volumes";

    // Why this machine makes none, in words; empty: it does.
    virtual Task<std::string> refused() = 0;
    // Puts a file system of so many bytes on `folder`, with what lies there; nobody uses the folder yet. A
    // quarter of the bytes may be inodes, which are 524,288 for each GiB. Its room is not set aside. One that
    // was kept grows to so many bytes, and never shrinks. What holds already is left as it is. Gives how many
    // bytes it has. Errors: exhausted (disk_full: the disk is nearly full), invalid (layers_refused),
    // not_found (layer_missing: nothing was kept).
    virtual Task<std::uint64_t> hold(std::string name, std::string folder, std::uint64_t bytes,
                                     LayerStart start) = 0;
    // Takes it away, with all that is in it or to be kept; `folder` is as it was before. The container does
    // not run. What is kept already stays so.
    virtual Task<> release(std::string name, LayerEnd end) = 0;
};

}  // namespace hostler
