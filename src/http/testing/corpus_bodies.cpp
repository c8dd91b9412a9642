#include "http/testing/corpus.h"

namespace hostler::http::testing {

namespace {

using namespace std::string_literals;

// What would be a request of its own to whoever took the body for shorter.
const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: x.localhost\r\n\r\n";

std::string post(std::string_view headers, std::string_view body) {
    return "POST / HTTP/1.1\r\nHost: x.localhost\r\n" + std::string{headers} + "\r\n" + std::string{body};
}
std::string chunked(std::string_view body) { return post("Transfer-Encoding: chunked\r\n", body); }

std::vector<Asked> good() {
    return {
        {"Content-Length", post("Content-Length: 3\r\n", "abc"), 200, "RFC 9112 6.2", "POST / abc"},
        {"Content-Length with zeros", post("Content-Length: 003\r\n", "abc"), 200, "RFC 9110 8.6",
         "POST / abc"},
        {"no body", post("Content-Length: 0\r\n", ""), 200, "RFC 9110 8.6", "POST / "},
        {"POST without framing", post("", ""), 200, "RFC 9112 6.3", "POST / "},
        {"GET with a body", "GET / HTTP/1.1\r\nHost: x.localhost\r\nContent-Length: 3\r\n\r\nabc", 200,
         "RFC 9110 9.3.1", "GET / abc"},
        {"PATCH", "PATCH / HTTP/1.1\r\nHost: x.localhost\r\nContent-Length: 0\r\n\r\n", 200, "RFC 5789 2",
         "PATCH / "},
        {"chunked", chunked("3\r\nabc\r\n0\r\n\r\n"), 200, "RFC 9112 7.1", "POST / abc"},
        {"Chunked", post("Transfer-Encoding: Chunked\r\n", "0\r\n\r\n"), 200, "RFC 9112 7", "POST / "},
        {"hexadecimal chunk size", chunked("A\r\n0123456789\r\n00a\r\n0123456789\r\n0\r\n\r\n"), 200,
         "RFC 9112 7.1", "POST / 01234567890123456789"},
        {"chunk extension", chunked("3;a=\"b\";c\r\nabc\r\n0;x\r\n\r\n"), 200, "RFC 9112 7.1.1",
         "POST / abc"},
        {"chunk extension with a quoted quote", chunked("3;a=\"b\\\"c\\\\\";d\r\nabc\r\n0\r\n\r\n"), 200,
         "RFC 9110 5.6.4", "POST / abc"},
        {"trailers", chunked("3\r\nabc\r\n0\r\nA: b\r\nC:\r\n\r\n"), 200, "RFC 9112 7.1.2", "POST / abc"},
        {"a request as body", post("Content-Length: 45\r\n", smuggled), 200, "RFC 9112 6.2",
         "POST / GET /smuggled HTTP/1.1\r\nHost: x.localhost\r\n\r\n"},
        {"a request as chunk", chunked("2d\r\n" + smuggled + "\r\n0\r\n\r\n"), 200, "RFC 9112 7.1",
         "POST / GET /smuggled HTTP/1.1\r\nHost: x.localhost\r\n\r\n"},
    };
}

std::vector<Asked> lengths() {
    const auto with = [](std::string_view value) {
        return post("Content-Length: " + std::string{value} + "\r\n", "abc" + smuggled);
    };
    return {
        {"two differing CL", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400, "RFC 9112 6.3"},
        {"two equal CL", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400, "RFC 9112 6.3"},
        {"CL list", with("3, 4"), 400, "RFC 9112 6.3"},
        {"CL list of equals", with("3, 3"), 400, "RFC 9112 6.3"},
        {"CL with sign", with("+3"), 400, "RFC 9110 8.6"},
        {"negative CL", with("-3"), 400, "RFC 9110 8.6"},
        {"CL with blank inside", with("1 0"), 400, "RFC 9110 8.6"},
        {"hexadecimal CL", with("0x3"), 400, "RFC 9110 8.6"},
        {"CL with a fraction", with("3.0"), 400, "RFC 9110 8.6"},
        {"CL with an exponent", with("3e0"), 400, "RFC 9110 8.6"},
        {"CL with underscore", with("1_0"), 400, "RFC 9110 8.6"},
        {"CL in quotes", with("\"3\""), 400, "RFC 9110 8.6"},
        {"CL with a parameter", with("3;a=b"), 400, "RFC 9110 8.6"},
        {"CL with a digit beyond ASCII", with("\xd9\xa3"), 400, "RFC 9110 8.6"},
        {"empty CL", with(""), 400, "RFC 9110 8.6"},
        {"CL overflow", with("99999999999999999999"), 400, "RFC 9110 8.6"},
        {"CL overflow by wrap", with("18446744073709551619"), 400, "RFC 9110 8.6"},
        {"CL after a NUL", post("Content-Length: \0003\r\n"s, "abc"), 400, "RFC 9110 5.5"},
    };
}

std::vector<Asked> codings() {
    const auto with = [](std::string_view value) {
        return post("Transfer-Encoding: " + std::string{value} + "\r\n", "0\r\n\r\n" + smuggled);
    };
    const std::string te = "Transfer-Encoding: chunked\r\n";
    return {
        {"TE and CL", post("Content-Length: 3\r\n" + te, "0\r\n\r\n"), 400, "RFC 9112 6.3"},
        {"CL and TE", post(te + "Content-Length: 3\r\n", "0\r\n\r\n"), 400, "RFC 9112 6.3"},
        {"CL and TE identity", post("Content-Length: 3\r\nTransfer-Encoding: identity\r\n", "abc"), 400,
         "RFC 9112 6.3"},
        {"TE identity", with("identity"), 400, "RFC 9112 7"},
        {"TE gzip, chunked", with("gzip, chunked"), 400, "RFC 9112 6.1"},
        {"TE chunked, gzip", with("chunked, gzip"), 400, "RFC 9112 6.3"},
        {"TE chunked, identity", with("chunked, identity"), 400, "RFC 9112 6.3"},
        {"TE chunked, chunked", with("chunked, chunked"), 400, "RFC 9112 6.1"},
        {"TE with an empty item", with(",chunked"), 400, "RFC 9112 6.1"},
        {"TE xchunked", with("xchunked"), 400, "RFC 9112 7"},
        {"TE cut short", with("chunke"), 400, "RFC 9112 7"},
        {"TE quoted", with("\"chunked\""), 400, "RFC 9112 7"},
        {"TE with parameter", with("chunked;q=1"), 400, "RFC 9112 7.1"},
        {"TE vertical tab", with("\x0b"s + "chunked"), 400, "RFC 9110 5.5"},
        {"TE with a byte beyond ASCII", with("chunked\xa0"), 400, "RFC 9112 7"},
        {"TE behind a blank", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + smuggled), 400,
         "RFC 9112 5.1"},
        {"TE folded", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + smuggled), 400,
         "RFC 9112 5.2"},
        {"TE empty", post("Transfer-Encoding:\r\n", ""), 400, "RFC 9112 6.1"},
        {"two TE", post(te + te, "0\r\n\r\n"), 400, "RFC 9112 6.1"},
        {"two TE, one other", post(te + "Transfer-Encoding: x\r\n", "0\r\n\r\n"), 400, "RFC 9112 6.1"},
        {"two TE, one in capitals", post(te + "TRANSFER-ENCODING: identity\r\n", "0\r\n\r\n"), 400,
         "RFC 9112 6.1"},
        {"TE in 1.0", "POST / HTTP/1.0\r\nHost: x.localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400, "RFC 9112 6.1"},
    };
}

std::vector<Asked> chunks() {
    const std::string longer(20'000, 'a');
    return {
        {"chunk size with sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size negative", chunked("-3\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size with underscore", chunked("0_3\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size not hexadecimal", chunked("g\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size with blank after", chunked("3 \r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size with blank before", chunked(" 3\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"empty chunk size", chunked("\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size of an extension only", chunked(";a\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size overflow", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size of many zeros", chunked("00000000000000000000003\r\nabc\r\n0\r\n\r\n"), 400,
         "RFC 9112 7.1"},
        {"chunk size line ends in LF", chunked("3\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk size line ends in CR", chunked("3\rabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk extension ends in LF", chunked("3;a\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1.1"},
        {"bare CR in a chunk extension", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1.1"},
        {"NUL in a chunk extension", chunked("3;a\0\r\nabc\r\n0\r\n\r\n"s), 400, "RFC 9112 7.1.1"},
        {"CRLF in a quoted chunk extension", chunked("3;a=\"b\r\nabc\r\n0;\"\r\n\r\n"), 400,
         "RFC 9112 7.1.1"},
        {"chunk extension without its last quote", chunked("3;a=\"b\\\"\r\nabc\r\n0\r\n\r\n"), 400,
         "RFC 9112 7.1.1"},
        {"long chunk extension", chunked("3;" + longer + "\r\nabc\r\n0\r\n\r\n"), 400, "RFC 9112 7.1.1"},
        {"chunk ends in LF", chunked("3\r\nabc\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk ends in other bytes", chunked("3\r\nabcXX0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk longer than said", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"chunk without its end", chunked("3\r\nabc0\r\n\r\n"), 400, "RFC 9112 7.1"},
        {"last line ends in LF", chunked("0\r\n\n"), 400, "RFC 9112 7.1"},
        {"trailer without colon", chunked("0\r\nA\r\n\r\n"), 400, "RFC 9112 7.1.2"},
        {"folded trailer", chunked("0\r\nA: b\r\n c\r\n\r\n"), 400, "RFC 9112 5.2"},
        {"trailer line ends in LF", chunked("0\r\nA: b\n\r\n"), 400, "RFC 9112 2.2"},
        {"long trailer", chunked("0\r\nA: " + longer + "\r\n\r\n"), 400, "RFC 9112 7.1.2"},
    };
}

}  // namespace

std::vector<Part<Asked>> bodies() {
    return {{"Bodies that are in order", good()},
            {"Content-Length", lengths()},
            {"Transfer-Encoding", codings()},
            {"Chunks", chunks()}};
}

}  // namespace hostler::http::testing
