#include "http/websocket.h"

#include <gtest/gtest.h>

namespace hostler::http {
namespace {

std::string framed(WebSocketSide own, Opcode opcode, std::string_view bytes) {
    std::string out;
    write_web_socket(out, own, opcode, bytes, 0x12345678);
    return out;
}

TEST(WebSocket, AnswersTheKeyOfTheStandardsExample) {
    EXPECT_EQ(web_socket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocket, MessagesOfEachSizeComeThroughByteByByte) {
    for (const auto own : {WebSocketSide::client, WebSocketSide::server}) {
        WebSocketReader reader{own == WebSocketSide::client ? WebSocketSide::server : WebSocketSide::client,
                               100'000};
        std::vector<WebSocketMessage> got, sent;
        std::string wire;
        for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 100'000U}) {
            sent.push_back({Opcode::binary, std::string(size, 'x')});
            if (size > 3) sent.back().bytes[size / 2] = '\0';
            wire += framed(own, Opcode::binary, sent.back().bytes);
        }
        for (std::size_t at = 0; at < wire.size(); at += 977)
            ASSERT_TRUE(reader.feed(wire.substr(at, 977), got));
        EXPECT_EQ(got, sent);
    }
}

TEST(WebSocket, JoinsPiecesAroundControlFrames) {
    WebSocketReader reader{WebSocketSide::client, 10};
    std::string first = framed(WebSocketSide::server, Opcode::text, "ab");
    first[0] = static_cast<char>(first[0] & 0x7f);
    std::vector<WebSocketMessage> got;
    ASSERT_TRUE(reader.feed(first + framed(WebSocketSide::server, Opcode::ping, "p") +
                                framed(WebSocketSide::server, Opcode::more, "cd"),
                            got));
    EXPECT_EQ(got, (std::vector<WebSocketMessage>{{Opcode::ping, "p"}, {Opcode::text, "abcd"}}));
}

TEST(WebSocket, RefusesWhatIsNone) {
    const auto refused = [](std::string_view bytes) {
        WebSocketReader reader{WebSocketSide::server, 1000};
        std::vector<WebSocketMessage> got;
        return !reader.feed(bytes, got);
    };
    EXPECT_TRUE(refused("GET / HTTP/1.1\r\n"));
    EXPECT_TRUE(refused(framed(WebSocketSide::server, Opcode::binary, "not masked")));
    EXPECT_TRUE(refused(framed(WebSocketSide::client, Opcode::binary, std::string(1001, 'x'))));
    EXPECT_TRUE(refused(framed(WebSocketSide::client, Opcode::ping, std::string(126, 'x'))));
    EXPECT_TRUE(refused(framed(WebSocketSide::client, Opcode::more, "nothing before")));
    EXPECT_TRUE(refused("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
    std::string reserved = framed(WebSocketSide::client, Opcode::binary, "x");
    reserved[0] = static_cast<char>(reserved[0] | 0x40);
    EXPECT_TRUE(refused(reserved));
    std::string pieces = framed(WebSocketSide::client, Opcode::binary, std::string(600, 'x'));
    pieces[0] = static_cast<char>(pieces[0] & 0x7f);
    EXPECT_TRUE(refused(pieces + framed(WebSocketSide::client, Opcode::more, std::string(600, 'x'))));
}

}  // namespace
}  // namespace hostler::http
