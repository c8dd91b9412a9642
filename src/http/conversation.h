// Numbered messages both ways that outlive their connections: what the peer has not acknowledged is kept, and
// sent again on the next connection. Each message arrives once and in order.
#pragma once

#include <deque>
#include <functional>

#include "core/signal.h"
#include "core/stream.h"
#include "http/websocket.h"

namespace hostler::http {

// On the wire: a binary WebSocket message of one byte of channel, eight bytes of number (the highest first),
// and what it carries. All but `acknowledge` are numbered from 1, each way.
enum class Channel : std::uint8_t {
    input = 0,
    output = 1,
    error = 2,
    resize = 3,       // Rows and columns, two bytes each, the highest first.
    signal = 4,       // Its name: "INT".
    end = 5,          // No more input; from the other side, no more output.
    exit = 6,         // See Exit. The last message.
    acknowledge = 7,  // Its number is the highest that was taken; the first message of each connection.
};

struct Message {
    Channel channel = Channel::input;
    std::string bytes;
    bool operator==(const Message&) const = default;
};

// How it ended: the command's own code, or why there is none.
struct Exit {
    int code = 0;
    std::optional<Error> error{};
};
std::string encode_exit(const Exit& exit);  // Four bytes of code; then, for an error: code, reason, message.
Result<Exit> decode_exit(std::string_view bytes);

struct ConversationLimits {
    std::size_t unacknowledged_bytes_max = 256 * 1024;  // Each way; a sender waits beyond.
    std::size_t message_bytes_max = 32 * 1024;
    Duration ping_every = std::chrono::seconds{15};
    Duration silence_max = std::chrono::seconds{45};  // Then a connection is given up.
};

class Conversation {
public:
    // `dice`: for masks. All of them outlive it, and so does it its carry().
    Conversation(Loop& loop, Timers& timers, WebSocketSide own, std::function<std::uint32_t()> dice,
                 ConversationLimits limits = {});

    // Waits for room. Errors: cancelled; unavailable once closed; invalid (over message_bytes_max).
    Task<> send(Channel channel, std::string bytes);
    // The peer's next. Errors: cancelled; unavailable once closed.
    Task<Message> receive();
    // Over this connection, which has been a WebSocket since its last byte, until it breaks or close().
    // Another connection that comes meanwhile takes its place. Errors: cancelled; unavailable, timeout,
    // invalid: why it is over.
    Task<> carry(StreamPtr stream);
    Task<> acknowledged();  // All that was sent has arrived. Errors: cancelled; unavailable once closed.

    bool connected() const { return stream_ != nullptr; }
    bool closed() const { return closed_; }
    void close();  // For good, on this side.

    static constexpr std::string_view replaced = "replaced";  // Reason: another connection took over.

private:
    struct Kept {
        std::uint64_t number = 0;
        std::string message;  // As on the wire.
    };
    struct Wires;
    Task<> read(Wires& wires);
    Task<> write(Wires& wires);
    Result<> take(Wires& wires, WebSocketMessage message);
    Result<> take_numbered(Channel channel, std::uint64_t number, std::string_view bytes);
    Result<> take_acknowledgement(Wires& wires, std::uint64_t number);

    Loop& loop_;
    Timers& timers_;
    const WebSocketSide own_;
    const std::function<std::uint32_t()> dice_;
    const ConversationLimits limits_;

    std::deque<Kept> kept_;  // Sent or to be sent, not acknowledged.
    std::size_t kept_bytes_ = 0;
    std::uint64_t sent_last_ = 0;  // Number of the last one made.
    std::deque<Message> come_;     // Not yet taken by receive().
    std::size_t come_bytes_ = 0;
    std::uint64_t come_last_ = 0;  // Number of the last one that came.
    Stream* stream_ = nullptr;     // Of the present connection.
    bool closed_ = false;
    Signal changed_;
};

}  // namespace hostler::http
