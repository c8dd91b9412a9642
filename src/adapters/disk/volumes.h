// Volumes as folders on the host's disk.
#pragma once

#include <memory>

#include "core/worker.h"
#include "ports/volumes.h"

namespace hostler::disk {

// A folder each under `root`, which is private to its owner; in a volume everybody may write, since an
// image's user may be anybody. Their size is not enforced: create() refuses what the disk cannot hold at that
// moment. The worker outlives the volumes. Blocks, shortly. Errors: unavailable (the folder cannot be made).
Result<std::unique_ptr<HostVolumes>> open_volumes(Worker& worker, std::string root);

}  // namespace hostler::disk
