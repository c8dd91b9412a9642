// What of a container only the host's kernel knows, and what the host lays ready for it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "adapters/docker/cdi.h"
#include "ports/engine.h"

namespace hostler::docker {

// Looks for the node's device on this host and says what to mount for it: the host's node if everyone may
// open it; else one of our own in `folder`, which only root enters, since a container's root is nobody to the
// host's permissions. Blocks, shortly. Errors: not_found, invalid (it is no device), unavailable.
Result<> find_device(CdiNode& node, const std::string& folder);

// A file of ours with this content. Blocks, shortly. Errors: exhausted (disk_full), unavailable.
Result<> keep_file(const std::string& folder, std::string_view name, std::string_view text);

// The files of `name`'s network and identity, for it to read: an engine's own copies tell of the host, and a
// container that writes into them fills the host's disk. Blocks, shortly. Errors: unavailable.
Result<std::vector<CdiMount>> lay_files(const std::string& folder, const ContainerSpec& spec,
                                        std::string_view resolver);
// The container's secrets as files, each for the eyes of one user, below `folder`, which is in memory.
// `user`: as the image says who runs it, "" or "1000:1000". Blocks, shortly. Errors: invalid
// (secret_user_unknown: a user by name, which only the image can look up), unavailable (the folder is not
// ours, or is on a disk), exhausted.
Result<std::vector<CdiMount>> lay_secrets(const std::string& folder, const ContainerSpec& spec,
                                          std::string_view user);
void remove_secrets(const std::string& folder, const std::string& name);
void remove_files(const std::string& folder, const std::string& name);

// That the container of process `pid` has a disk that ends after `bytes`. Blocks, shortly. Errors:
// unavailable; not_found (the process has ended).
Result<> check_disk(std::int64_t pid, std::uint64_t bytes);

// That each node is there in the container of process `pid`, and is the host's device. An engine's word that
// it started a container says nothing of this: some ignore devices in silence. Blocks, shortly. Errors:
// unavailable, naming the device; not_found (the process has ended).
Result<> check_devices(std::int64_t pid, std::span<const CdiNode> nodes);

// Waits until the init of process `pid` has begun the program below it, a second at most; false: it has ended
// before that. Blocks, shortly.
bool program_begins(std::int64_t pid);

}  // namespace hostler::docker
