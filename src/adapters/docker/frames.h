// The log stream of a container without a terminal: frames of two streams, as the Docker API writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::docker {

// Takes the stream piece by piece and keeps the last `bytes_max` of what the container wrote, both streams in
// order.
class LogTail {
public:
    explicit LogTail(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    void feed(std::string_view piece);
    std::string take();

private:
    void keep(std::string_view text);
    std::size_t bytes_max_;
    std::string kept_;
    std::string header_;      // Of a frame, until its 8 bytes are whole.
    std::uint64_t left_ = 0;  // Of the frame's payload.
};

// Podman writes the time in front of a line in the time zone of the host.
std::string times_in_utc(std::string timed);

}  // namespace hostler::docker
