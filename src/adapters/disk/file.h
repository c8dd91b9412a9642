// Files and folders by descriptor.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace hostler::disk {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    int operator*() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

// From errno: exhausted (disk full), not_found, unavailable.
std::unexpected<Error> disk_error(std::string_view what, std::string_view which);

// Makes `folder` and what is missing above it, each durable in its parent; private to its owner if it is made
// here.
Result<Descriptor> make_folder(const std::string& folder);
Result<> write_whole(int fd, std::string_view bytes, std::string_view which);
Result<std::string> read_whole(int fd, std::string_view which);

// Empties the folder `at`, however deep, with two descriptors; never along a link or into another file
// system.
Result<> empty_folder(int at, std::string_view which);

}  // namespace hostler::disk
