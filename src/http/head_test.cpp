#include "http/head.h"

#include <fmt/format.h>

#include "http/served_test.h"

namespace hostler::http {
namespace {

struct Case {
    const char* name;
    std::string bytes;
    int status;  // Of the answer.
};

std::string get(std::string_view headers) {
    return "GET / HTTP/1.1\r\nHost: x\r\n" + std::string{headers} + "\r\n";
}
std::string post(std::string_view headers, std::string_view body) {
    return "POST / HTTP/1.1\r\nHost: x\r\n" + std::string{headers} + "\r\n" + std::string{body};
}
std::string chunked(std::string_view body) { return post("Transfer-Encoding: chunked\r\n", body); }

std::vector<Case> cases() {
    using namespace std::string_literals;
    const std::string longer(20'000, 'a');
    std::string many;
    for (int count = 0; count < 101; ++count) many += "a: b\r\n";
    return {
        // Accepted.
        {"plain", get(""), 200},
        {"lower case names", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", 200},
        {"no space after the colon", "GET / HTTP/1.1\r\nHost:x\r\n\r\n", 200},
        {"blanks around a value", get("A: \t b \t\r\n"), 200},
        {"empty value", get("A:\r\n"), 200},
        {"bytes beyond ASCII in a value", get("A: \xc3\xa4\r\n"), 200},
        {"tab in a value", get("A: b\tc\r\n"), 200},
        {"all token characters", get("!#$%&'*+-.^_`|~09azAZ: b\r\n"), 200},
        {"host with port", "GET / HTTP/1.1\r\nHost: a-b.c_d.e:8080\r\n\r\n", 200},
        {"IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200},
        {"absolute target", "GET http://X/a?b HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"absolute target without path", "GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 200},
        {"HTTP/1.0 with host", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", 200},
        {"empty line first", "\r\n" + get(""), 200},
        {"Content-Length", post("Content-Length: 3\r\n", "abc"), 200},
        {"Content-Length with zeros", post("Content-Length: 003\r\n", "abc"), 200},
        {"chunked", chunked("3\r\nabc\r\n0\r\n\r\n"), 200},
        {"Chunked", post("Transfer-Encoding: Chunked\r\n", "0\r\n\r\n"), 200},
        {"hexadecimal chunk size", chunked("A\r\n0123456789\r\n00a\r\n0123456789\r\n0\r\n\r\n"), 200},
        {"chunk extension", chunked("3;a=\"b\";c\r\nabc\r\n0;x\r\n\r\n"), 200},
        {"trailers", chunked("3\r\nabc\r\n0\r\nA: b\r\nC:\r\n\r\n"), 200},
        {"PATCH", "PATCH / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200},
        // Framing that two parsers may read in two ways.
        {"TE and CL", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
        {"CL and TE", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"), 400},
        {"two differing CL", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
        {"two equal CL", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
        {"CL list", post("Content-Length: 3, 4\r\n", "abcd"), 400},
        {"CL list of equals", post("Content-Length: 3, 3\r\n", "abc"), 400},
        {"CL with sign", post("Content-Length: +3\r\n", "abc"), 400},
        {"negative CL", post("Content-Length: -3\r\n", "abc"), 400},
        {"CL with blank inside", post("Content-Length: 1 0\r\n", "abc"), 400},
        {"hexadecimal CL", post("Content-Length: 0x3\r\n", "abc"), 400},
        {"empty CL", post("Content-Length:\r\n", ""), 400},
        {"CL overflow", post("Content-Length: 99999999999999999999\r\n", ""), 400},
        {"CL overflow by wrap", post("Content-Length: 18446744073709551619\r\n", "abc"), 400},
        {"TE identity", post("Transfer-Encoding: identity\r\n", ""), 400},
        {"TE gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 400},
        {"TE chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 400},
        {"TE chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400},
        {"TE xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 400},
        {"TE quoted", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 400},
        {"TE with parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"), 400},
        {"TE vertical tab", post("Transfer-Encoding: \x0b"s + "chunked\r\n", "0\r\n\r\n"), 400},
        {"TE empty", post("Transfer-Encoding:\r\n", ""), 400},
        {"two TE", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
        {"two TE, one other", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n"),
         400},
        {"TE in 1.0", "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        // Lines.
        {"folded line", get("A: b\r\n c\r\n"), 400},
        {"folded with tab", get("A: b\r\n\tc\r\n"), 400},
        {"folded first header", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
        {"bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
        {"bare LF after a header", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400},
        {"bare LF throughout", "GET / HTTP/1.1\nHost: x\n\n", 400},
        {"bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
        {"bare CR in a value", get("A: b\rc\r\n"), 400},
        {"bare CR as line end", "GET / HTTP/1.1\rHost: x\r\r", 400},
        {"CR CR LF", get("A: b\r\r\n"), 400},
        {"NUL in a value", get("A: b\0c\r\n"s), 400},
        {"control character in a value", get("A: b\x01\r\n"), 400},
        {"DEL in a value", get("A: b\x7f\r\n"), 400},
        {"NUL in a name", get("A\0: b\r\n"s), 400},
        {"blank before the colon", get("A : b\r\n"), 400},
        {"tab before the colon", get("Content-Length\t: 3\r\n"), 400},
        {"empty name", get(": b\r\n"), 400},
        {"no colon", get("Ab\r\n"), 400},
        {"name with a parenthesis", get("A(b): c\r\n"), 400},
        {"name beyond ASCII", get("\xc3\xa4: c\r\n"), 400},
        {"two empty lines first", "\r\n\r\n" + get(""), 400},
        // Host.
        {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
        {"two hosts", get("Host: y\r\n"), 400},
        {"two equal hosts", get("Host: x\r\n"), 400},
        {"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
        {"host with slash", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 400},
        {"host with user", "GET / HTTP/1.1\r\nHost: u@x\r\n\r\n", 400},
        {"host with blank", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400},
        {"host list", "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400},
        {"host with a bad port", "GET / HTTP/1.1\r\nHost: x:8o\r\n\r\n", 400},
        {"host with an empty port", "GET / HTTP/1.1\r\nHost: x:\r\n\r\n", 400},
        {"bad IPv6 host", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
        {"absolute target of another host", "GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"absolute target with another port", "GET http://x:1/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"absolute target with user", "GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        // The first line.
        {"HTTP/0.9", "GET /\r\n\r\n", 400},
        {"version 0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 400},
        {"version 2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
        {"version 1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505},
        {"version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n", 400},
        {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
        {"unknown method", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"method in lower case", "get / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", 501},
        {"two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"two blanks before the version", "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"tab between", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"blank first", " GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"blank last", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
        {"fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"control character in the target", "GET /a\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"byte beyond ASCII in the target", "GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"relative target", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"GET *", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"another scheme", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"unknown expectation", get("Expect: 200-ok\r\n"), 417},
        {"TLS", "\x16\x03\x01\x02\x00\x01"s, 400},
        // Chunks.
        {"chunk size with sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size with blank after", chunked("3 \r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size with blank before", chunked(" 3\r\nabc\r\n0\r\n\r\n"), 400},
        {"empty chunk size", chunked("\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size of an extension only", chunked(";a\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size overflow", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size of many zeros", chunked("00000000000000000000003\r\nabc\r\n0\r\n\r\n"), 400},
        {"chunk size line ends in LF", chunked("3\nabc\r\n0\r\n\r\n"), 400},
        {"chunk extension ends in LF", chunked("3;a\nabc\r\n0\r\n\r\n"), 400},
        {"chunk ends in LF", chunked("3\r\nabc\n0\r\n\r\n"), 400},
        {"chunk longer than said", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400},
        {"chunk without its end", chunked("3\r\nabc0\r\n\r\n"), 400},
        {"last line ends in LF", chunked("0\r\n\n"), 400},
        {"long chunk extension", chunked("3;" + longer + "\r\nabc\r\n0\r\n\r\n"), 400},
        {"NUL in a chunk extension", chunked("3;a\0\r\nabc\r\n0\r\n\r\n"s), 400},
        {"trailer without colon", chunked("0\r\nA\r\n\r\n"), 400},
        {"folded trailer", chunked("0\r\nA: b\r\n c\r\n\r\n"), 400},
        {"trailer line ends in LF", chunked("0\r\nA: b\n\r\n"), 400},
        {"long trailer", chunked("0\r\nA: " + longer + "\r\n\r\n"), 400},
        // Sizes.
        {"long target", "GET /" + longer + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
        {"long value", get("A: " + longer + longer + "\r\n"), 431},
        {"many headers", get(many), 431},
        {"long Content-Length body", post("Content-Length: 2000000\r\n", ""), 413},
    };
}

int verdict(const std::string& bytes, bool whole) {
    Served served{echo(), {}, 1 << 20};
    if (whole) {
        served.send(bytes);
    } else {
        for (const char c : bytes) served.send({&c, 1});
    }
    const auto heard = served.heard();
    if (!heard.starts_with("HTTP/1.1 ")) return 0;
    const int status = std::stoi(heard.substr(9, 3));
    // Whoever breaks the rules is not heard again.
    if (status >= 400 && heard.find("Connection: close\r\n") == std::string::npos) return -1;
    served.timers.advance(5s);
    if (served.over != (status >= 400 || bytes.find("HTTP/1.0") != std::string::npos)) return -2;
    return status;
}

TEST(Head, CorpusHasOneVerdictHoweverItArrives) {
    for (const auto& one : cases()) {
        EXPECT_EQ(verdict(one.bytes, true), one.status) << one.name << ", whole";
        EXPECT_EQ(verdict(one.bytes, false), one.status) << one.name << ", byte by byte";
    }
}

// The parser below us is stricter with requests than with responses: these are our own checks.
TEST(Head, WhatIsDoubledIsRefusedInResponsesToo) {
    const auto refusal = [](std::string_view fields) -> std::string_view {
        ResponseHead head;
        const auto good = parse(fmt::format("HTTP/1.1 200 OK\r\n{}\r\n", fields), {}, "GET", head);
        return good ? "" : good.error().what;
    };
    constexpr std::string_view coding = "Transfer-Encoding: chunked\r\n", length = "Content-Length: 2\r\n";
    EXPECT_EQ(refusal(coding), "");
    EXPECT_EQ(refusal(length), "");
    EXPECT_EQ(refusal(fmt::format("{}{}", coding, coding)), "Transfer-Encoding comes twice");
    EXPECT_EQ(refusal(fmt::format("{}A: b\r\n{}", coding, "transfer-encoding: Chunked\r\n")),
              "Transfer-Encoding comes twice");
    EXPECT_NE(refusal(fmt::format("{}{}", length, length)), "");
    EXPECT_NE(refusal(fmt::format("{}{}", coding, length)), "");
}

}  // namespace
}  // namespace hostler::http
