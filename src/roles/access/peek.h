// What kind of frame some bytes are, without decoding them: access relays frames, it does not read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostler::access {

struct Peek {
    std::uint64_t call = 0;
    std::uint64_t answer_to = 0;
    int kind = 0;  // The field of `body` in proto/uplink.proto; 0: none.
};

// nullopt: not a frame, or one with two bodies (two readers would see two different frames).
std::optional<Peek> peek(std::string_view frame);

}  // namespace hostler::access
