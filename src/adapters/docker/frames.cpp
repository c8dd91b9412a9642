#include "adapters/docker/frames.h"

#include <algorithm>
#include <utility>

#include "core/log_lines.h"

namespace hostler::docker {

void LogFrames::feed(std::string_view piece) {
    constexpr std::size_t header_bytes = 8;  // The stream's number, three zeros, the size in big endian.
    while (!piece.empty()) {
        if (left_ > 0) {
            const auto size = std::min<std::uint64_t>(left_, piece.size());
            const auto room = bytes_max_ - std::min(bytes_max_, frame_.size());
            frame_.append(piece.substr(0, std::min<std::uint64_t>(size, room)));
            piece.remove_prefix(size);
            left_ -= size;
            if (left_ == 0) end_frame();
            continue;
        }
        const auto size = std::min(header_bytes - header_.size(), piece.size());
        header_.append(piece.substr(0, size));
        piece.remove_prefix(size);
        if (header_.size() < header_bytes) return;
        for (std::size_t i = 4; i < header_bytes; ++i)
            left_ = left_ << 8 | static_cast<std::uint8_t>(header_[i]);
        error_ = header_[0] == 2;
        header_.clear();
    }
}

// Each is a line, or a part of one.
void LogFrames::end_frame() {
    for (LogPiece& piece : log_lines(frame_)) {
        piece.error = error_;
        append_piece(kept_, piece);
    }
    frame_.clear();
    // Cut seldom: each cut moves all that is kept.
    if (kept_.size() <= 2 * bytes_max_) return;
    kept_.erase(0, kept_.find('\n', kept_.size() - bytes_max_) + 1);
    cut_ = true;
}

std::string LogFrames::take() { return std::exchange(kept_, {}); }

}  // namespace hostler::docker
