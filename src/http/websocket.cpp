#include "http/websocket.h"

#include <array>
#include <boost/uuid/detail/sha1.hpp>

#include "core/base64.h"

namespace hostler::http {

namespace {

constexpr std::size_t control_bytes_max = 125;

void apply_mask(char* bytes, std::size_t size, const char* mask) {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(bytes[i] ^ mask[i % 4]);
}

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

}  // namespace

Result<> WebSocketReader::feed(std::string_view bytes, std::vector<WebSocketMessage>& into) {
    ahead_.append(bytes);
    while (TRY(frame(into))) {
    }
    ahead_.erase(0, at_);
    at_ = 0;
    return {};
}

// Takes one frame off what is ahead; false: it is not whole yet.
Result<bool> WebSocketReader::frame(std::vector<WebSocketMessage>& into) {
    const std::string_view rest = std::string_view{ahead_}.substr(at_);
    if (rest.size() < 2) return false;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
    const bool last = (byte(0) & 0x80) != 0;
    const bool masked = (byte(1) & 0x80) != 0;
    if ((byte(0) & 0x70) != 0 || !is_known(byte(0) & 0x0f))
        return fail(Code::invalid, "the received bytes are not a WebSocket frame without extensions");
    const auto opcode = static_cast<Opcode>(byte(0) & 0x0f);
    if (masked != (own_ == WebSocketSide::server))
        return fail(Code::invalid, "WebSocket frames must be masked by clients, and only by clients");
    std::size_t head = 2;
    std::uint64_t size = byte(1) & 0x7f;
    const std::size_t size_bytes = size == 127 ? 8 : size == 126 ? 2 : 0;
    if (rest.size() < head + size_bytes) return false;
    if (size_bytes > 0) size = 0;
    for (std::size_t i = 0; i < size_bytes; ++i) size = size << 8 | byte(head + i);
    head += size_bytes;
    const bool control = is_control(opcode);
    if (control && (!last || size > control_bytes_max))
        return fail(Code::invalid, "a WebSocket control frame is too large or in pieces");
    if (!control && joining_ != (opcode == Opcode::more))
        return fail(Code::invalid, "pieces of WebSocket messages are mixed");
    if (size > message_bytes_max_ || message_.size() + size > message_bytes_max_ + (control ? size : 0))
        return fail(Code::invalid, "a WebSocket message is too large", "message_too_large");
    const std::size_t mask_bytes = masked ? 4 : 0;
    if (rest.size() < head + mask_bytes + size) return false;
    std::string payload{rest.substr(head + mask_bytes, size)};
    if (masked) apply_mask(payload.data(), payload.size(), rest.data() + head);
    at_ += head + mask_bytes + size;
    if (control) {
        into.push_back({opcode, std::move(payload)});
        return true;
    }
    if (opcode != Opcode::more) opcode_ = opcode;
    message_ += payload;
    joining_ = !last;
    if (last) into.push_back({opcode_, std::exchange(message_, {})});
    return true;
}

void write_web_socket(std::string& into, WebSocketSide own, Opcode opcode, std::string_view bytes,
                      std::uint32_t mask) {
    const auto masked = static_cast<std::uint8_t>(own == WebSocketSide::client ? 0x80 : 0);
    into += static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode));
    const auto number = [&](std::uint64_t value, int size) {
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) into += static_cast<char>(value >> shift);
    };
    if (bytes.size() < 126) {
        into += static_cast<char>(masked | bytes.size());
    } else if (bytes.size() < 65536) {
        into += static_cast<char>(masked | 126);
        number(bytes.size(), 2);
    } else {
        into += static_cast<char>(masked | 127);
        number(bytes.size(), 8);
    }
    if (masked == 0) {
        into += bytes;
        return;
    }
    const std::size_t mask_at = into.size();
    number(mask, 4);
    const std::array<char, 4> key{into[mask_at], into[mask_at + 1], into[mask_at + 2], into[mask_at + 3]};
    const std::size_t begin = into.size();
    into += bytes;
    apply_mask(into.data() + begin, bytes.size(), key.data());
}

std::string web_socket_accept(std::string_view key) {
    boost::uuids::detail::sha1 sha;
    sha.process_bytes(key.data(), key.size());
    static constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    sha.process_bytes(guid.data(), guid.size());
    boost::uuids::detail::sha1::digest_type digest;
    sha.get_digest(digest);
    std::string bytes;
    for (const std::uint32_t word : digest)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
    return base64(bytes);
}

}  // namespace hostler::http
