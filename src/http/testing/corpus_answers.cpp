#include "http/testing/corpus.h"

namespace hostler::http::testing {

namespace {

using namespace std::string_literals;

// "evil" never arrives at the client. After its bytes the origin closes the connection.
std::string ok(std::string_view headers, std::string_view body = "") {
    return "HTTP/1.1 200 OK\r\n" + std::string{headers} + "\r\n" + std::string{body};
}

std::vector<Answered> good() {
    return {
        {"Content-Length", ok("Content-Length: 2\r\n", "ab"), 200, "RFC 9112 6.3", "ab"},
        {"chunks", ok("Transfer-Encoding: chunked\r\n", "2;x\r\nab\r\n0\r\n\r\n"), 200, "RFC 9112 7.1", "ab"},
        {"chunks with trailers", ok("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n0\r\nA: evil\r\n\r\n"), 200,
         "RFC 9112 7.1.2", "ab"},
        {"to the end of the connection", ok("", "ab"), 200, "RFC 9112 6.3", "ab"},
        {"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nab", 200, "RFC 9110 2.5", "ab"},
        {"no reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nab", 200, "RFC 9112 4", "ab"},
        {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, "RFC 9110 15.3.5"},
        {"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n", 304,
         "RFC 9110 15.4.5"},
        {"HEAD with a length", ok("Content-Length: 2\r\n"), 200, "RFC 9110 9.3.2", "", false, "HEAD"},
        {"HEAD with chunks", ok("Transfer-Encoding: chunked\r\n"), 200, "RFC 9110 9.3.2", "", false, "HEAD"},
        {"100 before it", "HTTP/1.1 100 Continue\r\n\r\n" + ok("Content-Length: 2\r\n", "ab"), 200,
         "RFC 9110 15.2.1", "ab"},
        {"103 before it",
         "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok("Content-Length: 2\r\n", "ab"), 200,
         "RFC 8297 2", "ab"},
        {"an answer before the request's end", "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nab", 413,
         "RFC 9112 9.3", "ab", false, "POST", "Content-Length: 10\r\n"},
    };
}

std::vector<Answered> framing() {
    const std::string te = "Transfer-Encoding: chunked\r\n", chunk = "4\r\nevil\r\n0\r\n\r\n";
    return {
        {"CL and TE", ok("Content-Length: 4\r\n" + te, chunk), 502, "RFC 9112 6.3"},
        {"two differing CL", ok("Content-Length: 4\r\nContent-Length: 2\r\n", "evil"), 502, "RFC 9112 6.3"},
        {"two equal CL", ok("Content-Length: 4\r\nContent-Length: 4\r\n", "evil"), 502, "RFC 9112 6.3"},
        {"CL list", ok("Content-Length: 4, 4\r\n", "evil"), 502, "RFC 9112 6.3"},
        {"CL with sign", ok("Content-Length: +4\r\n", "evil"), 502, "RFC 9110 8.6"},
        {"negative CL", ok("Content-Length: -4\r\n", "evil"), 502, "RFC 9110 8.6"},
        {"CL overflow", ok("Content-Length: 18446744073709551620\r\n", "evil"), 502, "RFC 9110 8.6"},
        {"TE gzip, chunked", ok("Transfer-Encoding: gzip, chunked\r\n", chunk), 502, "RFC 9112 6.1"},
        {"TE identity", ok("Transfer-Encoding: identity\r\n", "evil"), 502, "RFC 9112 7"},
        {"two TE", ok(te + te, chunk), 502, "RFC 9112 6.1"},
        {"TE in 1.0", "HTTP/1.0 200 OK\r\n" + te + "\r\n" + chunk, 502, "RFC 9112 6.1"},
        {"body cut short", ok("Content-Length: 4\r\n", "ab"), 200, "RFC 9112 8", "ab", true},
        {"chunk cut short", ok(te, "4\r\nab"), 200, "RFC 9112 8", "", true},
        {"no last chunk", ok(te, "2\r\nab\r\n"), 200, "RFC 9112 8", "ab", true},
        {"chunk size with sign", ok(te, "+4\r\nevil\r\n0\r\n\r\n"), 502, "RFC 9112 7.1"},
        {"chunk size overflow", ok(te, "10000000000000004\r\nevil\r\n0\r\n\r\n"), 502, "RFC 9112 7.1"},
        {"chunk line ends in LF", ok(te, "4\nevil\r\n0\r\n\r\n"), 502, "RFC 9112 7.1"},
    };
}

std::vector<Answered> splitting() {
    std::string many, interim;
    for (int count = 0; count < 101; ++count) many += "a: evil\r\n";
    for (int count = 0; count < 40; ++count) interim += "HTTP/1.1 102 Processing\r\n\r\n";
    const auto evil = ok("Content-Length: 4\r\n", "evil");
    return {
        {"another answer behind it", ok("Content-Length: 2\r\n", "ab") + evil, 200, "RFC 9112 11.1", "ab"},
        {"another answer behind chunks", ok("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n0\r\n\r\n") + evil,
         200, "RFC 9112 11.1", "ab"},
        {"a body after HEAD", evil, 200, "RFC 9110 9.3.2", "", false, "HEAD"},
        {"a body after 204", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", 204,
         "RFC 9110 15.3.5"},
        {"a body after 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil", 304,
         "RFC 9110 15.4.5"},
        {"101 without a request for it", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\n\r\nevil", 502,
         "RFC 9110 7.8"},
        {"101 to a request with a body", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\n\r\nevil", 502,
         "RFC 9110 7.8", "", false, "POST",
         "Connection: Upgrade, close\r\nUpgrade: websocket\r\nContent-Length: 10\r\n"},
        {"101 to h2c", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nevil", 502, "RFC 9113 3.1",
         "", false, "GET", "Connection: Upgrade, close\r\nUpgrade: h2c\r\n"},
        {"interim answers without end", interim + evil, 502, "RFC 9110 15.2"},
        {"bare CR in a value", ok("A: b\rSet-Cookie: evil\r\nContent-Length: 0\r\n"), 502, "RFC 9112 11.1"},
        {"bare LF after a value", ok("A: b\nSet-Cookie: evil\r\nContent-Length: 0\r\n"), 502, "RFC 9112 2.2"},
        {"NUL in a value", ok("A: evil\0\r\nContent-Length: 0\r\n"s), 502, "RFC 9110 5.5"},
        {"folded line", ok("A: b\r\n evil\r\nContent-Length: 0\r\n"), 502, "RFC 9112 5.2"},
        {"blank before the colon", ok("A : evil\r\nContent-Length: 0\r\n"), 502, "RFC 9112 5.1"},
        {"name with a blank", ok("A b: evil\r\nContent-Length: 0\r\n"), 502, "RFC 9110 5.6.2"},
        {"no colon", ok("evil\r\nContent-Length: 0\r\n"), 502, "RFC 9112 5"},
        {"many headers", ok(many), 502, "RFC 6585 5"},
        {"long value", ok("A: evil" + std::string(80'000, 'a') + "\r\n"), 502, "RFC 6585 5"},
        {"status of two digits", "HTTP/1.1 20 evil\r\nContent-Length: 0\r\n\r\n", 502, "RFC 9112 4"},
        {"status of four digits", "HTTP/1.1 2000 evil\r\nContent-Length: 0\r\n\r\n", 502, "RFC 9112 4"},
        {"status in letters", "HTTP/1.1 evil OK\r\nContent-Length: 0\r\n\r\n", 502, "RFC 9112 4"},
        {"version 2.0", "HTTP/2.0 200 evil\r\nContent-Length: 0\r\n\r\n", 502, "RFC 9112 2.3"},
        {"HTTP/0.9", "evil\r\n", 502, "RFC 9112 4"},
        {"nothing", "", 502, "RFC 9110 15.6.3"},
        {"nothing, before the request's end", "", 502, "RFC 9110 15.6.3", "", false, "POST",
         "Content-Length: 10\r\n"},
        {"HTTP/0.9, before the request's end", "evil\r\n", 502, "RFC 9112 4", "", false, "POST",
         "Content-Length: 10\r\n"},
        {"a cookie of the platform",
         ok("Set-Cookie: __hostler_session=evil\r\nSet-Cookie: =__hostler_session=evil\r\n"
            "Content-Length: 0\r\n"),
         200, "RFC 6265 5.3"},
        {"what Connection names", ok("Connection: A\r\nA: evil\r\nContent-Length: 2\r\n", "ab"), 200,
         "RFC 9110 7.6.1", "ab"},
    };
}

}  // namespace

std::vector<Part<Answered>> answers() {
    return {{"Answers that are in order", good()},
            {"Answers: where they end", framing()},
            {"Answers: more than was asked for", splitting()}};
}

}  // namespace hostler::http::testing
