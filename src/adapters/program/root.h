// The file system that a program sees: the host's, read-only and without devices, with new folders where it
// writes.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "adapters/program/control_groups.h"
#include "adapters/program/plan.h"

namespace hostler::program {

// A namespace of users in which `owner` is `user`, and all others but these two are themselves: a mount with
// it shows the files of `owner` as those of `user`. Its descriptor. Blocks, shortly. Errors: unavailable.
Result<int> owner_namespace(std::uint32_t owner, std::uint32_t user);

// To be used by the first process of new namespaces of mounts and processes, which is root of the host. Its
// parts run in this order; what is between them is the caller's.
class Root {
public:
    // `owners`: owner_namespace(), which is looked up where processes have the host's numbers; -1: none.
    Root(const Plan& plan, int owners) : plan_(plan), owners_(owners) {}

    // Makes a new root from the folders of the host's and enters it. Errors: unavailable, not_found (a
    // mount's source).
    Result<> enter();
    // Lays all that is the program's own over it.
    Result<> furnish();
    // Nothing of the new root, but what is to be written, can be written.
    Result<> close();

    static constexpr const char* own_folder = "/.hostler";  // Of ours, within the new root.

private:
    Result<> clone_sources();
    void drop_hidden();
    Result<> mirror_host(const std::string& at);
    Result<> clone_tree(const std::string& path, const std::string& to);
    Result<> lay_scratch();
    Result<> lay_devices();
    Result<> lay_names();
    Result<> lay_mounts();
    Result<> lay_secrets();
    Result<> show_kernel();
    void show_groups();
    Result<> hide();
    // Folders and files for mounts, made where the host has none.
    Result<std::string> make_folder(const std::string& path);
    Result<> make_file(const std::string& path);
    Result<> mirror(const std::string& folder);
    Result<> mount_memory(const std::string& at, const std::string& options, bool writable);

    const Plan& plan_;
    int owners_;
    std::vector<Hierarchy> hierarchies_;  // As the host has them.
    std::vector<int> sources_;            // Of plan_.mounts, detached.
    std::vector<bool> source_is_file_;
    std::string resolver_;           // What the host's /etc/resolv.conf says.
    std::vector<std::string> ours_;  // Mounts that are closed at the end.
};

}  // namespace hostler::program
