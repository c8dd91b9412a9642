// Whatever the decoder takes, with one body, peek() sees alike.
#include "proto/uplink.pb.h"
#include "roles/access/peek.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(bytes), size};
    const auto found = hostler::access::peek(text);
    hostler::uplink::Frame frame;
    if (!found || !frame.ParseFromArray(bytes, static_cast<int>(size))) return 0;
    if (frame.body_case() != 0 && found->kind != static_cast<int>(frame.body_case())) __builtin_trap();
    if (found->kind == 0 && frame.body_case() != 0) __builtin_trap();
    return 0;
}
