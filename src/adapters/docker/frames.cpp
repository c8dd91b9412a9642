#include "adapters/docker/frames.h"

#include <algorithm>
#include <utility>

namespace hostler::docker {

void LogTail::feed(std::string_view piece) {
    constexpr std::size_t header_bytes = 8;  // The stream's number, three zeros, the size in big endian.
    while (!piece.empty()) {
        if (left_ > 0) {
            const auto size = std::min<std::uint64_t>(left_, piece.size());
            keep(piece.substr(0, size));
            piece.remove_prefix(size);
            left_ -= size;
            continue;
        }
        const auto size = std::min(header_bytes - header_.size(), piece.size());
        header_.append(piece.substr(0, size));
        piece.remove_prefix(size);
        if (header_.size() < header_bytes) return;
        for (std::size_t i = 4; i < header_bytes; ++i)
            left_ = left_ << 8 | static_cast<std::uint8_t>(header_[i]);
        header_.clear();
    }
}

void LogTail::keep(std::string_view text) {
    if (text.size() > bytes_max_) text.remove_prefix(text.size() - bytes_max_);
    kept_.append(text);
    // Cut seldom: each cut moves all that is kept.
    if (kept_.size() > 2 * bytes_max_) kept_.erase(0, kept_.size() - bytes_max_);
}

std::string LogTail::take() {
    if (kept_.size() > bytes_max_) kept_.erase(0, kept_.size() - bytes_max_);
    return std::exchange(kept_, {});
}

}  // namespace hostler::docker
