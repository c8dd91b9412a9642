// PROXY preambles, whole, in pieces and wrong.
#include "http/proxy_preamble.h"

#include <gmock/gmock.h>

namespace hostler::http {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view begin{"\r\n\r\n\0\r\nQUIT\n", 12};

std::string preamble(char command, char family, const std::string& block) {
    return std::string{begin} + command + family + static_cast<char>(block.size() >> 8) +
           static_cast<char>(block.size() & 0xff) + block;
}

const std::string v4{"\xc0\x00\x02\x01\x0a\x00\x00\x01\x13\x88\x01\xbb",
                     12};  // 192.0.2.1:5000 to 10.0.0.1:443.
const std::string v6 = std::string{"\x20\x01\x0d\xb8", 4} + std::string(11, '\0') + '\1' +
                       std::string(16, '\0') + std::string{"\x13\x88\x01\xbb", 4};

TEST(ProxyPreamble, NamesTheClient) {
    const std::string four = preamble('\x21', '\x11', v4);
    const auto parsed = parse_proxy_preamble(four + "GET / HTTP/1.1\r\n");
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->client, "192.0.2.1:5000");
    EXPECT_EQ((*parsed)->size, four.size());
    EXPECT_EQ(parse_proxy_preamble(preamble('\x21', '\x21', v6)).value()->client, "[2001:db8::1]:5000");
    // Additional fields follow the addresses.
    const auto with_more =
        parse_proxy_preamble(preamble('\x21', '\x11', v4 + std::string("\x03\x00\x01x", 4)));
    EXPECT_EQ(with_more.value()->client, "192.0.2.1:5000");
}

TEST(ProxyPreamble, NamesNobody) {
    EXPECT_EQ(parse_proxy_preamble(preamble('\x20', '\0', "")).value()->client, "")
        << "the proxy's own check";
    EXPECT_EQ(parse_proxy_preamble(preamble('\x20', '\x11', v4)).value()->client, "");
    EXPECT_EQ(parse_proxy_preamble(preamble('\x21', '\0', "")).value()->client, "");
    EXPECT_EQ(parse_proxy_preamble(preamble('\x21', '\x31', std::string(216, 'x'))).value()->client, "");
}

TEST(ProxyPreamble, EachBeginningAsksForMore) {
    const std::string whole = preamble('\x21', '\x21', v6);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto parsed = parse_proxy_preamble(std::string_view{whole}.substr(0, size));
        EXPECT_TRUE(parsed && !*parsed) << size;
    }
}

TEST(ProxyPreamble, WhatIsWrongIsSaid) {
    const auto why = [](const std::string& bytes) {
        const auto parsed = parse_proxy_preamble(bytes);
        return parsed ? std::string{} : parsed.error().message;
    };
    EXPECT_THAT(why("GET / HTTP/1.1\r\n"), HasSubstr("does not begin with a PROXY preamble"));
    EXPECT_THAT(why("\r\nG"), HasSubstr("does not begin"));
    EXPECT_THAT(why("PROXY TCP4 192.0.2.1 10.0.0.1 5000 443\r\n"), HasSubstr("version 1"));
    EXPECT_THAT(why(preamble('\x11', '\x11', v4)), HasSubstr("command 0x11"));
    EXPECT_THAT(why(preamble('\x22', '\x11', v4)), HasSubstr("command 0x22"));
    EXPECT_THAT(why(preamble('\x21', '\x11', v4.substr(1))), HasSubstr("too short"));
    EXPECT_THAT(why(preamble('\x21', '\x21', v6.substr(1))), HasSubstr("too short"));
    EXPECT_THAT(why(preamble('\x21', '\x11', std::string(proxy_preamble_bytes_max, 'x')).substr(0, 16)),
                HasSubstr("more than 4096"));
}

}  // namespace
}  // namespace hostler::http
