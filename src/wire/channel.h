// A stream of bytes inside the frames of a link: what two ends say through somebody between them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/stream.h"

namespace hostler::wire {

struct ChannelLimits {
    std::size_t piece_max = 32 * 1024;             // Bytes handed on at once.
    std::size_t sending_bytes_max = 64 * 1024;     // Not handed on yet; then the writer waits.
    std::size_t received_bytes_max = 8 << 20;      // Not read yet; beyond it the channel ends.
    std::size_t received_bytes_calm = 256 * 1024;  // Whoever feeds it had better wait while there is more.
};

// Costs no buffer and no task while nothing is under way. Destroying it ends it; its stream may live on, and
// gets the error.
class Channel {
public:
    // Hands a piece to the other end, in order; it may wait for room. Called until the channel ends.
    using Carry = std::function<Task<>(std::string piece)>;
    // `address`: of the other end, for people.
    Channel(Loop& loop, std::string address, Carry carry, ChannelLimits limits = {});
    ~Channel();
    Channel(const Channel&) = delete;

    StreamPtr stream();  // Our end of it; called once.

    // A piece from the other end. Errors: exhausted: nobody reads, and the channel has ended; why it ended
    // before.
    Result<> feed(std::string piece);
    // Returns when little waits to be read, or the channel has ended. Errors: cancelled.
    Task<> calm();

    void end(Error why);  // Those who read or write get this error; what came before can still be read.
    bool ended() const;   // Also when its stream was closed.

private:
    struct State;
    class End;
    std::shared_ptr<State> state_;
};

}  // namespace hostler::wire
