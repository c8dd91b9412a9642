// Files out of an archive that somebody else wrote: nothing of it gets out of the folder that it is unpacked
// in.
#pragma once

#include <functional>
#include <string>

#include "cli/tar.h"

namespace hostler::cli {

class Unpacker {
public:
    // What the archive calls `root` is called `as` in `folder`. `told`: what is left out, and why.
    Unpacker(std::string folder, std::string root, std::string as, std::function<void(std::string)> told);
    ~Unpacker();
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    TarReader::Sink sink();
    std::uint64_t files() const { return files_; }
    // Sets what could not be set before all was written: the modes of folders.
    Result<> finish();

private:
    Result<> begin(const TarEntry& entry);
    Result<> bytes(std::string_view piece);
    Result<> end();
    // The folder of `path`, open, and the last name in it; -1: the path leads out, or through a link.
    Result<int> parent(const std::string& path, std::string& last);
    Result<std::string> own_path(const std::string& name) const;

    const std::string folder_, root_, as_;
    std::function<void(std::string)> told_;
    int base_ = -1;
    int file_ = -1;
    TarEntry entry_;
    std::vector<std::pair<std::string, std::uint32_t>> folders_;
    std::uint64_t files_ = 0;
};

}  // namespace hostler::cli
