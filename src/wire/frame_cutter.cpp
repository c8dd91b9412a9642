#include "wire/frame_cutter.h"

#include <fmt/format.h>

namespace hostler::wire {

Result<std::size_t> FrameCutter::body_size(std::string_view header) const {
    std::size_t size = 0;
    for (const char byte : header.substr(0, frame_header_size))
        size = size << 8 | static_cast<unsigned char>(byte);
    if (size == 0) return fail(Code::invalid, "the peer sent an empty frame");
    if (size > size_max_)
        return fail(Code::invalid, fmt::format("the peer announced a frame of {} bytes; at most {} are taken",
                                               size, size_max_));
    return size;
}

Result<> FrameCutter::feed(std::string_view bytes,
                           const std::function<Result<>(std::string_view body)>& whole) {
    while (!bytes.empty()) {
        // A frame that lies whole in `bytes` is handed on without a copy.
        if (part_.empty() && bytes.size() >= frame_header_size) {
            const std::size_t size = TRY(body_size(bytes));
            if (bytes.size() - frame_header_size >= size) {
                TRY(whole(bytes.substr(frame_header_size, size)));
                bytes.remove_prefix(frame_header_size + size);
                continue;
            }
        }
        if (part_.size() < frame_header_size) {
            const std::size_t taken = std::min(bytes.size(), frame_header_size - part_.size());
            part_.append(bytes.substr(0, taken));
            bytes.remove_prefix(taken);
            if (part_.size() < frame_header_size) return {};
        }
        const std::size_t size = TRY(body_size(part_));
        const std::size_t taken = std::min(bytes.size(), frame_header_size + size - part_.size());
        part_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (part_.size() < frame_header_size + size) return {};
        const std::string frame = std::exchange(part_, {});
        TRY(whole(std::string_view{frame}.substr(frame_header_size)));
    }
    return {};
}

std::size_t append_header(std::string& out) {
    const std::size_t begin = out.size();
    out.append(frame_header_size, '\0');
    return begin;
}

void complete_header(std::string& out, std::size_t begin) {
    const std::size_t size = out.size() - begin - frame_header_size;
    HOSTLER_ASSERT(size <= 0xffff'ffff);
    for (std::size_t i = 0; i < frame_header_size; ++i)
        out[begin + i] = static_cast<char>(size >> 8 * (frame_header_size - 1 - i) & 0xff);
}

}  // namespace hostler::wire
