// Files out of an archive that somebody else wrote: nothing of it gets out of the folder that it is unpacked
// in. Blocks of zeros become holes, and the disk is not filled.
#pragma once

#include <functional>
#include <string>

#include "cli/tar.h"

namespace hostler::cli {

// Of the disk, what a copy leaves free: this, or a twentieth of the disk where that is less. A copy looks
// each time that it has written copy_look_bytes.
inline constexpr std::uint64_t copy_keep_free_max = std::uint64_t{1} << 30;
inline constexpr std::uint64_t copy_look_bytes = std::uint64_t{64} << 20;

// Bytes that may still be written to the disk of this open file.
std::uint64_t spare_bytes(int file);

class Unpacker {
public:
    // What the archive calls `root` is called `as` in `folder`. `told`: what is left out, and why.
    Unpacker(std::string folder, std::string root, std::string as, std::function<void(std::string)> told);
    ~Unpacker();
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    TarReader::Sink sink();
    std::uint64_t files() const { return files_; }
    std::uint64_t written() const { return written_; }  // Bytes; the holes of files have none.
    std::function<std::uint64_t(int file)> spare = spare_bytes;
    // Sets what could not be set before all was written: the modes of folders.
    Result<> finish();

private:
    Result<> begin(const TarEntry& entry);
    Result<> bytes(std::string_view piece);
    Result<> end();
    Result<> write(std::string_view run);
    // The folder of `path`, open, and the last name in it; -1: the path leads out, or through a link.
    Result<int> parent(const std::string& path, std::string& last);
    Result<std::string> own_path(const std::string& name) const;

    const std::string folder_, root_, as_;
    std::function<void(std::string)> told_;
    int base_ = -1;
    int file_ = -1;
    std::uint64_t at_ = 0;  // In the file.
    std::uint64_t written_ = 0;
    std::uint64_t looked_ = 0;  // At the disk, when so many bytes were written.
    TarEntry entry_;
    std::vector<std::pair<std::string, std::uint32_t>> folders_;
    std::uint64_t files_ = 0;
};

}  // namespace hostler::cli
