// Cuts a stream of bytes into frames: four bytes of length, the highest first, then so many bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::wire {

constexpr std::size_t frame_header_size = 4;

class FrameCutter {
public:
    explicit FrameCutter(std::size_t size_max) : size_max_(size_max) {}

    // Calls `whole` with the body of each frame that ends within `bytes`, in order; its errors leave here as
    // they came and the cutter is then of no more use. Keeps what is left of the last frame, and never more
    // than has come. Errors: invalid: an empty frame, or one larger than the limit.
    Result<> feed(std::string_view bytes, const std::function<Result<>(std::string_view body)>& whole);

    bool between_frames() const { return part_.empty(); }
    std::size_t kept() const { return part_.size(); }

private:
    Result<std::size_t> body_size(std::string_view header) const;

    std::size_t size_max_;
    std::string part_;  // The beginning of a frame, header included.
};

// Puts the header in front of what is appended after it: `begin` = append_header(out); append the body; then
// this.
std::size_t append_header(std::string& out);
void complete_header(std::string& out, std::size_t begin);

}  // namespace hostler::wire
