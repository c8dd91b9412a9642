// The folder of a cluster, and what belongs to it outside: control groups with its name.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::kube {

// /tmp/hostler-kubernetes-XXXXXX, gone with this. It belongs to whoever holds the lock on its file "owner":
// the first thing that a new one does is to remove those of tests that were killed.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::string& path() const { return path_; }
    std::string name() const;    // "hostler-kubernetes-XXXXXX"
    std::string suffix() const;  // "XXXXXX"
    std::string in(const std::string& below) const { return path_ + "/" + below; }

private:
    std::string path_;
    int owner_ = -1;
};

// Makes a group `name` below the root of each hierarchy and gives their folders. Errors: unavailable.
Result<std::vector<std::string>> make_groups(const std::string& name);
// Ends what runs in them, and removes them with all that is below. Again and again for up to 20 s: processes
// take a while to leave. False: something stays.
bool remove_groups(const std::string& name);

// All that one would find of it: groups, mounts, interfaces, processes. Empty when nothing is left.
std::vector<std::string> left_of(const std::string& folder_name);

}  // namespace hostler::kube
