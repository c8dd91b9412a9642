// How fast a way is, found by sending bytes along it. One end asks for pieces and times them, the other does
// as it is told and cannot make itself look faster: no piece can be sent or confirmed before its asker has
// said a nonce that goes before it, or come with its last bytes.
#pragma once

#include "core/random.h"
#include "core/stream.h"

namespace hostler::wire {

// What the other end says first: this, its ticket, perhaps `speed_busy`, and a line feed.
inline constexpr std::string_view speed_greeting = "HOSTLER-SPEED/1 ";
inline constexpr std::string_view speed_busy = " busy";  // Its link is in use: it does not want to.

// Pieces grow four times from one to the next, until one takes long enough to say something.
struct SpeedLimits {
    int round_trips = 7;
    std::size_t first_bytes = 64 * 1024;
    std::size_t bytes_max = 16 << 20;  // The largest; all pieces of one way together are a third more.
    Duration enough = std::chrono::milliseconds{100};
};

struct Speed {
    Duration round_trip{};  // Median.
    std::int64_t down_kbit_s = 0;
    std::int64_t up_kbit_s = 0;
    std::uint64_t bytes = 0;  // That it took, both ways.
};

// The caller bounds the time. Errors: invalid (not what was asked for), those of the stream.
Task<Speed> measure_speed(Stream& peer, Timers& timers, Random& random, SpeedLimits limits = {});

// What an asker may want of us.
struct AnswerLimits {
    std::size_t piece_max = 64 << 20;
    std::uint64_t bytes_max = 256 << 20;
};
// Until the asker has finished. The caller bounds the time. Errors: invalid, exhausted (it wants too much),
// those of the stream.
Task<> answer_speed(Stream& asker, Random& random, AnswerLimits limits = {});

}  // namespace hostler::wire
