// The log stream of a container without a terminal, with times: frames of two streams, as the Docker API
// writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::docker {

// Takes the stream piece by piece and keeps the last of what the container wrote, both streams in order, as
// core/log_lines.h has it.
class LogFrames {
public:
    explicit LogFrames(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    void feed(std::string_view piece);
    bool cut() const { return cut_; }  // The first of it is not kept.
    std::string take();

private:
    void end_frame();
    std::size_t bytes_max_;
    std::string kept_;
    bool cut_ = false;
    std::string header_;      // Of a frame, until its 8 bytes are whole.
    std::string frame_;       // As much of it as may be kept.
    bool error_ = false;      // It is of standard error.
    std::uint64_t left_ = 0;  // Of the frame's payload.
};

}  // namespace hostler::docker
