#include "adapters/docker/frames.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/timers.h"

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

std::string times_in_utc(std::string timed) {
    constexpr std::string_view offset_shape = "+00:00 ";
    constexpr std::size_t time_max = 36;  // "2026-11-21T11:40:29.123456789+01:00 "
    std::string out;
    for (std::string_view rest = timed; !rest.empty();) {
        const std::string_view line = rest.substr(0, std::min(rest.size(), rest.find('\n') + 1));
        const std::string_view whole = line.empty() ? rest : line;
        rest.remove_prefix(whole.size());
        const auto end = whole.substr(0, time_max).find(' ');
        const auto at =
            end == whole.npos || end + 1 < offset_shape.size() ? whole.npos : end + 1 - offset_shape.size();
        const bool shifted =
            at != whole.npos && (whole[at] == '+' || whole[at] == '-') && whole[at + 3] == ':';
        const auto local =
            shifted ? parse_rfc3339(std::string{whole.substr(0, at)} + "Z") : fail(Code::invalid, "");
        int hours = 0, minutes = 0;
        const auto number = [&](std::size_t from, int& into) {
            const char* begin = whole.data() + from;
            return std::from_chars(begin, begin + 2, into).ptr == begin + 2;
        };
        if (!local || !number(at + 1, hours) || !number(at + 4, minutes)) {
            out += whole;
            continue;
        }
        const auto offset =
            (std::chrono::hours{hours} + std::chrono::minutes{minutes}) * (whole[at] == '-' ? -1 : 1);
        out.append(rfc3339(*local - offset)).append(whole.substr(end));
    }
    return out;
}

}  // namespace hostler::docker
