// Where a container writes beside its volumes: file systems of their own, that end.
#pragma once

#include <cstdint>
#include <string>

#include "core/task.h"

namespace hostler {

// Names are those of containers. Errors everywhere: unavailable. Every call may be repeated. What the
// machine's end leaves is worth nothing: a container that is to start again is made again.
class Layers {
public:
    // Smaller ones are made so large: no XFS is smaller.
    static constexpr std::uint64_t bytes_min = std::uint64_t{300} << 20;

    virtual ~Layers() = default;
    // Why this machine makes none, in words; empty: it does.
    virtual Task<std::string> refused() = 0;
    // Puts a file system of so many bytes on `folder`, with what lies there; nobody uses the folder yet. A
    // quarter of the bytes may be inodes, which are 524,288 for each GiB. Its room is not set aside. Errors:
    // exhausted (disk_full: the disk is nearly full), invalid (layers_refused).
    virtual Task<> hold(std::string name, std::string folder, std::uint64_t bytes) = 0;
    // Takes it away with all that is in it; `folder` is as it was before. The container does not run.
    virtual Task<> release(std::string name) = 0;
};

}  // namespace hostler
