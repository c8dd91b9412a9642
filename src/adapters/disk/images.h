// File systems in files: how an image becomes a folder with an end.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"

namespace hostler::disk {

// Every call blocks. `image` is the path of a file, `at` that of a folder to mount it on.
class Images {
public:
    virtual ~Images() = default;
    // Why it cannot be done on this machine, in words; empty: it can.
    virtual std::string refused() const = 0;
    // The disk keeps room for so many bytes of the file, none of which show in it yet. Errors: exhausted.
    virtual Result<> set_aside(int file, std::uint64_t bytes) = 0;
    // Errors: unavailable.
    virtual Result<> format(const std::string& image) = 0;
    // What is mounted stays so. The file system gets as large as the image. Gives what was mended, in words;
    // empty: nothing. Errors: unavailable (volume_damaged).
    virtual Result<std::string> mount(const std::string& image, const std::string& at) = 0;
    // What is not mounted is unmounted. Errors: unavailable (volume_in_use: somebody else, a container as a
    // rule, has it mounted still).
    virtual Result<> unmount(const std::string& image, const std::string& at) = 0;
};

// Whether something is mounted on the folder. Errors: not_found, unavailable.
Result<bool> is_mounted(const std::string& at);

// XFS on loop devices. Needs root, CAP_SYS_ADMIN and xfsprogs. XFS and not ext4: to grow a mounted ext4 takes
// CAP_SYS_RESOURCE, which machines do without more often than one thinks.
std::unique_ptr<Images> loop_images();

// For machines where nothing runs in earnest: the folder is a plain one and has no end.
std::unique_ptr<Images> no_images();

}  // namespace hostler::disk
