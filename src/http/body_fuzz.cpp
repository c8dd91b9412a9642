// A body cut in two ways is walked to the same content, the same end and the same verdict; and what a proxy
// forwards of it is itself a body of that content, without trailers.
#include "http/body.h"

using namespace hostler::http;

namespace {

struct Walked {
    std::string content;
    std::string forwarded;
    std::size_t taken = 0;
    bool bad = false;
    bool done = false;
};

Walked decode(Framing framing, std::string_view text, std::size_t piece, std::size_t content_max) {
    BodyWalker walker{framing};
    Walked walked;
    while (!walker.done() && walked.taken < text.size()) {
        const auto bytes = text.substr(walked.taken, piece);
        const auto step = walker.step(bytes, content_max);
        if (!step) {
            walked.bad = true;
            return walked;
        }
        HOSTLER_ASSERT(step->taken > 0 && step->taken <= bytes.size() && step->content.size() <= content_max);
        walked.content += step->content;
        walked.taken += step->taken;
    }
    HOSTLER_ASSERT(walker.content_size() == walked.content.size());
    walked.done = walker.done();
    return walked;
}

Walked forward(Framing framing, std::string_view text, std::size_t piece) {
    BodyWalker walker{framing};
    Walked walked;
    while (!walker.done() && walked.taken < text.size()) {
        const auto bytes = text.substr(walked.taken, piece);
        const auto step = walker.walk(bytes);
        if (!step) {
            walked.bad = true;
            return walked;
        }
        HOSTLER_ASSERT(step->taken > 0 && step->taken <= bytes.size());
        if (!step->trailer) walked.forwarded += bytes.substr(0, step->taken);
        walked.taken += step->taken;
    }
    walked.done = walker.done();
    return walked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    const Framing framing =
        bytes[0] % 8 == 0 ? Framing{Framing::Kind::length, bytes[1]} : Framing{Framing::Kind::chunked};
    const std::size_t piece = 1 + bytes[0] / 8;
    const std::string_view text{reinterpret_cast<const char*>(bytes) + 2, size - 2};

    const auto whole = decode(framing, text, SIZE_MAX, SIZE_MAX);
    const auto pieces = decode(framing, text, piece, 1 + bytes[1] % 16);
    HOSTLER_ASSERT(whole.bad == pieces.bad && whole.done == pieces.done);
    if (whole.bad) return 0;
    HOSTLER_ASSERT(whole.content == pieces.content && whole.taken == pieces.taken);

    const auto passed = forward(framing, text, piece);
    HOSTLER_ASSERT(!passed.bad && passed.done == whole.done && passed.taken == whole.taken);
    const auto again = decode(framing, passed.forwarded, SIZE_MAX, SIZE_MAX);
    HOSTLER_ASSERT(!again.bad && again.content == whole.content && again.done == whole.done);
    HOSTLER_ASSERT(again.taken == passed.forwarded.size());
    if (whole.done && framing.kind == Framing::Kind::chunked)
        HOSTLER_ASSERT(passed.forwarded.ends_with("\r\n\r\n"));
    return 0;
}
