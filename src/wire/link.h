// One uplink: frames both ways over a Stream, calls with answers, pings.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/stream.h"

namespace hostler::uplink {
class Frame;  // proto/uplink.proto
class Failure;
}  // namespace hostler::uplink

namespace hostler::wire {

struct LinkLimits {
    std::size_t frame_size_max = 4 << 20;
    std::size_t sending_bytes_max = 8 << 20;  // Queued; send() waits for room.
    std::size_t sending_frames_max = 4096;
    std::size_t received_frames_max = 256;  // Not fetched yet by receive(); then the peer has to wait.
    std::size_t received_bytes_max = 8 << 20;
    std::size_t calls_max = 4096;  // Own calls that wait for an answer.
};

// Starts to read at once. Closes itself when the peer ends, sends what is no frame, or breaks a limit;
// everybody who waits then gets that error. An idle link holds no buffer. Destroying it closes it; its tasks
// end by themselves.
class Link {
public:
    Link(Loop& loop, Timers& timers, StreamPtr stream, LinkLimits limits = {});
    ~Link();
    Link(Link&&) noexcept;
    Link& operator=(Link&&) = delete;

    // Returns when the frame is queued, which is not yet sent. What is queued in one turn is written
    // together. Errors: cancelled; invalid: larger than the limit; else why the link is closed.
    Task<> send(uplink::Frame frame);
    // Without waiting. Errors: exhausted: no room; invalid; else why the link is closed.
    Result<> try_send(const uplink::Frame& frame);
    // Sends `frame` as the answer to the peer's `call`.
    Task<> answer(std::uint64_t call, uplink::Frame frame);

    // Sends `frame` as a call and waits for its answer; an answer that is a Failure becomes that error.
    // Errors: timeout (an answer that comes later is dropped), cancelled, exhausted, those of send() and of
    // the peer.
    Task<uplink::Frame> ask(uplink::Frame frame, Duration deadline);

    // The next frame that is neither a ping nor an answer, in order; one receiver at a time. Who handles
    // frames in the receiving task may not ask() there: behind enough other frames, the answer would wait for
    // that very task. Errors: cancelled; why the link is closed, after all that had come before.
    Task<uplink::Frame> receive();

    // Runs until the link is closed: pings when nothing came for `interval`, and closes the link with
    // `timeout` when nothing came for `patience`. Errors: why the link is closed; cancelled.
    Task<> keep_alive(Duration interval, Duration patience);

    // Returns when all that is queued has been handed to the stream. Errors: timeout, cancelled, why it is
    // closed.
    Task<> flush(Duration deadline);

    void close();
    bool closed() const;
    std::string_view identity() const;  // Of the peer, as its stream says.
    std::string_view address() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

// An Error on the wire, and back.
uplink::Frame failure_frame(const Error& error);
Error error_of(const uplink::Failure& failure);

}  // namespace hostler::wire
