#include "http/testing/corpus.h"

namespace hostler::http::testing {

namespace {

using namespace std::string_literals;

const std::string host = "Host: x.localhost\r\n";

std::string line(std::string_view first) { return std::string{first} + "\r\n" + host + "\r\n"; }
std::string get(std::string_view headers) {
    return "GET / HTTP/1.1\r\n" + host + std::string{headers} + "\r\n";
}
std::string get_from(std::string_view hosts) { return "GET / HTTP/1.1\r\n" + std::string{hosts} + "\r\n"; }

// A gateway answers 421 where it has no route for a host name that is one.
constexpr int misdirected = 421;
// And 501 to methods that it does not pass on.
constexpr int not_passed_on = 501;

std::vector<Asked> good() {
    return {
        {"plain", get(""), 200, "RFC 9112 3", "GET / "},
        {"lower case names", get_from("host: x.localhost\r\n"), 200, "RFC 9110 5.1", "GET / "},
        {"no space after the colon", get_from("Host:x.localhost\r\n"), 200, "RFC 9112 5", "GET / "},
        {"blanks around a value", get("A: \t b \t\r\n"), 200, "RFC 9112 5", "GET / "},
        {"empty value", get("A:\r\n"), 200, "RFC 9110 5.5", "GET / "},
        {"bytes beyond ASCII in a value", get("A: \xc3\xa4\r\n"), 200, "RFC 9110 5.5", "GET / "},
        {"tab in a value", get("A: b\tc\r\n"), 200, "RFC 9110 5.5", "GET / "},
        {"all token characters", get("!#$%&'*+-.^_`|~09azAZ: b\r\n"), 200, "RFC 9110 5.6.2", "GET / "},
        {"host with port", get_from("Host: x.localhost:8080\r\n"), 200, "RFC 9110 7.2", "GET / "},
        {"host in capitals", get_from("Host: X.LOCALHOST\r\n"), 200, "RFC 9110 4.2.3", "GET / "},
        {"host of odd letters", get_from("Host: a-b.c_d.e:8080\r\n"), 200, "RFC 3986 3.2.2", "", misdirected},
        {"IPv6 host", get_from("Host: [::1]:80\r\n"), 200, "RFC 3986 3.2.2", "", misdirected},
        {"absolute target", line("GET http://X.localhost/a?b HTTP/1.1"), 200, "RFC 9112 3.2.2", "GET /a?b "},
        {"absolute target without path", line("GET http://x.localhost HTTP/1.1"), 200, "RFC 9112 3.2.1",
         "GET / "},
        {"OPTIONS *", line("OPTIONS * HTTP/1.1"), 200, "RFC 9112 3.2.4", "OPTIONS * "},
        {"HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 200, "RFC 9112 3.2", "", 400},
        {"HTTP/1.0 with host", line("GET / HTTP/1.0"), 200, "RFC 9110 2.5", "GET / "},
        {"empty line first", "\r\n" + get(""), 200, "RFC 9112 2.2", "GET / "},
        {"percent signs in the target", line("GET /%2e%2e/%00 HTTP/1.1"), 200, "RFC 3986 2.1",
         "GET /%2e%2e/%00 "},
        {"backslash in the query", line("GET /?a=\\b HTTP/1.1"), 200, "RFC 3986 3.4", "GET /?a=\\b "},
    };
}

std::vector<Asked> lines() {
    return {
        {"folded line", get("A: b\r\n c\r\n"), 400, "RFC 9112 5.2"},
        {"folded with tab", get("A: b\r\n\tc\r\n"), 400, "RFC 9112 5.2"},
        {"folded first header", "GET / HTTP/1.1\r\n Host: x.localhost\r\n\r\n", 400, "RFC 9112 2.2"},
        {"folded Content-Length", get("Content-Length:\r\n 3\r\n") + "abc", 400, "RFC 9112 5.2"},
        {"bare LF after the request line", "GET / HTTP/1.1\nHost: x.localhost\r\n\r\n", 400, "RFC 9112 2.2"},
        {"bare LF after a header", "GET / HTTP/1.1\r\nHost: x.localhost\nA: b\r\n\r\n", 400, "RFC 9112 2.2"},
        {"bare LF throughout", "GET / HTTP/1.1\nHost: x.localhost\n\n", 400, "RFC 9112 2.2"},
        {"bare LF at the end", "GET / HTTP/1.1\r\nHost: x.localhost\r\n\n", 400, "RFC 9112 2.2"},
        {"bare CR in a value", get("A: b\rc\r\n"), 400, "RFC 9112 2.2"},
        {"bare CR as line end", "GET / HTTP/1.1\rHost: x.localhost\r\r", 400, "RFC 9112 2.2"},
        {"CR CR LF", get("A: b\r\r\n"), 400, "RFC 9112 2.2"},
        {"NUL in a value", get("A: b\0c\r\n"s), 400, "RFC 9110 5.5"},
        {"control character in a value", get("A: b\x01\r\n"), 400, "RFC 9110 5.5"},
        {"DEL in a value", get("A: b\x7f\r\n"), 400, "RFC 9110 5.5"},
        {"NUL in a name", get("A\0: b\r\n"s), 400, "RFC 9110 5.6.2"},
        {"blank before the colon", get("A : b\r\n"), 400, "RFC 9112 5.1"},
        {"blank in a name", get("A b: c\r\n"), 400, "RFC 9110 5.6.2"},
        {"tab before the colon", get("Content-Length\t: 3\r\n"), 400, "RFC 9112 5.1"},
        {"empty name", get(": b\r\n"), 400, "RFC 9110 5.1"},
        {"no colon", get("Ab\r\n"), 400, "RFC 9112 5"},
        {"name with a parenthesis", get("A(b): c\r\n"), 400, "RFC 9110 5.6.2"},
        {"name beyond ASCII", get("\xc3\xa4: c\r\n"), 400, "RFC 9110 5.6.2"},
        {"two empty lines first", "\r\n\r\n" + get(""), 400, "RFC 9112 2.2"},
    };
}

std::vector<Asked> hosts() {
    return {
        {"no host", get_from(""), 400, "RFC 9112 3.2"},
        {"two hosts", get("Host: y.localhost\r\n"), 400, "RFC 9112 3.2"},
        {"two equal hosts", get(host), 400, "RFC 9112 3.2"},
        {"empty host", get_from("Host:\r\n"), 400, "RFC 9110 7.2"},
        {"host with slash", get_from("Host: x.localhost/y\r\n"), 400, "RFC 9110 7.2"},
        {"host with user", get_from("Host: u@x.localhost\r\n"), 400, "RFC 9110 4.2.4"},
        {"host with blank", get_from("Host: x.localhost y\r\n"), 400, "RFC 9110 7.2"},
        {"host list", get_from("Host: x.localhost, y\r\n"), 400, "RFC 9110 7.2"},
        {"host with a bad port", get_from("Host: x.localhost:8o\r\n"), 400, "RFC 9110 7.2"},
        {"host with an empty port", get_from("Host: x.localhost:\r\n"), 400, "RFC 9110 7.2"},
        {"host with percent signs", get_from("Host: x%2elocalhost\r\n"), 400, "RFC 9110 7.2"},
        {"bad IPv6 host", get_from("Host: [::1\r\n"), 400, "RFC 3986 3.2.2"},
        {"absolute target of another host", line("GET http://y/ HTTP/1.1"), 400, "RFC 9112 3.2.2"},
        {"absolute target with another port", line("GET http://x.localhost:1/ HTTP/1.1"), 400,
         "RFC 9112 3.2.2"},
        {"absolute target with user", line("GET http://u@x.localhost/ HTTP/1.1"), 400, "RFC 9110 4.2.4"},
    };
}

std::vector<Asked> first_lines() {
    return {
        {"HTTP/0.9", "GET /\r\n\r\n", 400, "RFC 9112 3"},
        {"version 0.9", line("GET / HTTP/0.9"), 400, "RFC 9112 2.3"},
        {"version 2.0", line("GET / HTTP/2.0"), 505, "RFC 9110 15.6.6"},
        {"version 1.2", line("GET / HTTP/1.2"), 505, "RFC 9110 15.6.6"},
        {"version of three digits", line("GET / HTTP/1.10"), 400, "RFC 9112 2.3"},
        {"version in lower case", line("GET / http/1.1"), 400, "RFC 9112 2.3"},
        {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "RFC 9113 3.4"},
        {"unknown method", line("FETCH / HTTP/1.1"), 200, "RFC 9110 9.1", "", not_passed_on},
        {"QUERY", line("QUERY /a HTTP/1.1"), 200, "RFC 9110 9.1", "", not_passed_on},
        {"TRACE", line("TRACE / HTTP/1.1"), 200, "RFC 9110 9.3.8", "", not_passed_on},
        {"unknown method with an underscore", line("GET_ / HTTP/1.1"), 400, "RFC 9110 9.1"},
        {"method in lower case", line("get / HTTP/1.1"), 400, "RFC 9110 9.1"},
        {"CONNECT", "CONNECT x.localhost:80 HTTP/1.1\r\nHost: x.localhost:80\r\n\r\n", 501, "RFC 9110 9.3.6"},
        {"authority as target", line("GET x.localhost:80 HTTP/1.1"), 400, "RFC 9112 3.2.3"},
        {"two blanks", line("GET  / HTTP/1.1"), 400, "RFC 9112 3"},
        {"two blanks before the version", line("GET /  HTTP/1.1"), 400, "RFC 9112 3"},
        {"tab between", line("GET\t/ HTTP/1.1"), 400, "RFC 9112 3"},
        {"blank first", line(" GET / HTTP/1.1"), 400, "RFC 9112 2.2"},
        {"blank last", line("GET / HTTP/1.1 "), 400, "RFC 9112 3"},
        {"another request in the target", line("GET / HTTP/1.1 GET /smuggled HTTP/1.1"), 400, "RFC 9112 3.2"},
        {"fragment", line("GET /a#b HTTP/1.1"), 400, "RFC 9112 3.2"},
        {"control character in the target", line("GET /a\x01 HTTP/1.1"), 400, "RFC 9112 3.2"},
        {"byte beyond ASCII in the target", line("GET /\xc3\xa4 HTTP/1.1"), 400, "RFC 9112 3.2"},
        {"backslash in the path", line("GET /a\\b HTTP/1.1"), 400, "RFC 3986 3.3"},
        {"backslash dots", line("GET /a/..\\..\\b HTTP/1.1"), 400, "RFC 3986 3.3"},
        {"backslash first", line("GET /\\y/ HTTP/1.1"), 400, "RFC 3986 3.3"},
        {"relative target", line("GET a HTTP/1.1"), 400, "RFC 9112 3.2"},
        {"GET *", line("GET * HTTP/1.1"), 400, "RFC 9112 3.2.4"},
        {"another scheme", line("GET ftp://x.localhost/ HTTP/1.1"), 400, "RFC 9112 3.2.2"},
        {"unknown expectation", get("Expect: 200-ok\r\n"), 417, "RFC 9110 10.1.1"},
        {"TLS", "\x16\x03\x01\x02\x00\x01"s, 400, "RFC 9112 2.2"},
    };
}

std::vector<Asked> sizes() {
    const std::string longer(20'000, 'a');
    std::string many;
    for (int count = 0; count < 101; ++count) many += "a: b\r\n";
    return {
        {"long target", line("GET /" + longer + " HTTP/1.1"), 414, "RFC 9110 15.5.15"},
        {"long value", get("A: " + longer + longer + "\r\n"), 431, "RFC 6585 5"},
        {"long name", get(longer + longer + ": a\r\n"), 431, "RFC 6585 5"},
        {"many headers", get(many), 431, "RFC 6585 5"},
    };
}

}  // namespace

std::vector<Part<Asked>> heads() {
    return {{"Heads that are in order", good()},
            {"Lines and names", lines()},
            {"Host", hosts()},
            {"The first line", first_lines()},
            {"Sizes", sizes()}};
}

}  // namespace hostler::http::testing
