// WebSocket frames (RFC 6455): from bytes to whole messages, and back. No socket in it, and no extension.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::http {

enum class WebSocketSide { client, server };  // A client masks what it sends, a server does not.

enum class Opcode : std::uint8_t { more = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

struct WebSocketMessage {
    Opcode opcode = Opcode::binary;  // Never `more`: fragments are joined.
    std::string bytes;
    bool operator==(const WebSocketMessage&) const = default;
};

// Takes bytes as they come. After an error it is of no more use.
class WebSocketReader {
public:
    WebSocketReader(WebSocketSide own, std::size_t message_bytes_max)
        : own_(own), message_bytes_max_(message_bytes_max) {}

    // Appends each message that is whole by now. Errors: invalid (not a WebSocket, or a message too large).
    Result<> feed(std::string_view bytes, std::vector<WebSocketMessage>& into);

private:
    Result<bool> frame(std::vector<WebSocketMessage>& into);

    WebSocketSide own_;
    std::size_t message_bytes_max_;
    std::string ahead_;   // Of a frame that is not whole.
    std::size_t at_ = 0;  // Where it begins.
    std::string message_;
    bool joining_ = false;
    Opcode opcode_ = Opcode::binary;
};

// One frame, whole; `mask` is for a client and should be hard to guess.
void write_web_socket(std::string& into, WebSocketSide own, Opcode opcode, std::string_view bytes,
                      std::uint32_t mask);

// What a server answers to this Sec-WebSocket-Key.
std::string web_socket_accept(std::string_view key);

}  // namespace hostler::http
