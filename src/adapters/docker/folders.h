// Folders of an image that a container has as volumes: ours, and those that the image declares.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/docker/image.h"
#include "ports/engine.h"

namespace hostler::docker {

struct FolderFacts {
    uid_t user = 0;
    gid_t group = 0;
    mode_t mode = 0;  // Of permissions alone.
    bool operator==(const FolderFacts&) const = default;
};

// The folder at `path` as overlayfs shows it of these layers, the topmost first, links followed within them.
// nullopt: there is none.
std::optional<FolderFacts> folder_in_layers(std::span<const std::string> layers, std::string_view path);

// Those of `paths` that are not there, for archive_of(). Blocks, shortly.
std::vector<ArchiveFile> missing_folders(std::span<const std::string> layers,
                                         std::span<const std::string> paths);

// New ones among the mounts (MountSpec) get the owner and mode of the folder that they cover. `ids`: whom the
// container's users are on the host. Blocks, shortly. Errors: unavailable.
Result<> give_tops(std::span<const MountSpec> mounts, std::span<const std::string> layers, IdRange ids);

// A volume that the engine has made for a container, since its image declares one there.
struct ImageVolume {
    std::string source;  // On the host,
    std::string target;  // and in the container.
    bool operator==(const ImageVolume&) const = default;
};

// Moves what is in these volumes, as the engine has filled them, into the container's layer, where its limit
// counts: what the engine mounts is a link into it then, that holds whenever the layer is mounted. What is
// there of an earlier run of the container counts. The container has not been started. Blocks, for as long as
// the disk takes. Errors: exhausted (disk_full: it is more than the limit), unavailable.
Result<> lay_volumes(const std::string& layer, std::span<const ImageVolume> volumes);
// So that the engine can remove them: an engine follows no link out of its folder.
void unlay_volumes(std::span<const ImageVolume> volumes);

}  // namespace hostler::docker
