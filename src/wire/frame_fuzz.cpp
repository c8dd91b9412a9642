// Hostile bytes at the uplink: any split of the same bytes gives the same frames, and nothing breaks.
#include "wire/frame_cutter.h"

#include "proto/uplink.pb.h"

namespace {

constexpr std::size_t size_max = 4096;

struct Seen {
    std::vector<std::string> bodies;
    bool failed = false;
};

Seen cut(std::string_view bytes, std::size_t step) {
    Seen seen;
    hostler::wire::FrameCutter cutter{size_max};
    while (!bytes.empty() && !seen.failed) {
        const auto part = bytes.substr(0, step);
        bytes.remove_prefix(part.size());
        seen.failed = !cutter.feed(part, [&](std::string_view body) -> hostler::Result<> {
            seen.bodies.emplace_back(body);
            return {};
        });
        HOSTLER_ASSERT(cutter.kept() <= size_max + hostler::wire::frame_header_size);
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t step = 1 + data[0] % 16;
    const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
    const Seen whole = cut(bytes, SIZE_MAX);
    const Seen split = cut(bytes, step);
    HOSTLER_ASSERT(whole.bodies == split.bodies && whole.failed == split.failed);
    for (const auto& body : whole.bodies) {
        hostler::uplink::Frame frame;
        if (frame.ParseFromString(body)) HOSTLER_ASSERT(frame.ByteSizeLong() < 16 * size_max);
    }
    return 0;
}
