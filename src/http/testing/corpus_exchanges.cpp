#include "http/testing/corpus.h"

namespace hostler::http::testing {

namespace {

// In all of these: "evil" never arrives on the other side.
std::string ask(std::string_view first, std::string_view headers, std::string_view body = "") {
    std::string text{first};
    return text.append(" HTTP/1.1\r\nHost: x.localhost\r\n").append(headers).append("\r\n").append(body);
}
std::string get(std::string_view headers) { return ask("GET /", headers); }

std::vector<Asked> pipelines() {
    const auto second = ask("GET /second", "");
    return {
        {"two requests at once", get("") + second, 200, "RFC 9112 9.3.2", "GET / \nGET /second "},
        {"a body, then a request", ask("POST /", "Content-Length: 3\r\n", "abc") + second, 200,
         "RFC 9112 9.3.2", "POST / abc\nGET /second "},
        {"chunks, then a request",
         ask("POST /", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") + second, 200,
         "RFC 9112 9.3.2", "POST / abc\nGET /second "},
        {"trailers, then a request",
         ask("POST /", "Transfer-Encoding: chunked\r\n", "0\r\nA: evil\r\n\r\n") + second, 200,
         "RFC 9112 7.1.2", "POST / \nGET /second "},
        {"a POST without framing, then a request", ask("POST /", "") + second, 200, "RFC 9112 6.3",
         "POST / \nGET /second "},
        {"HEAD, then a request", ask("HEAD /", "") + second, 200, "RFC 9110 9.3.2", "HEAD / \nGET /second "},
        {"a request behind a refused one", get("Content-Length: 1, 2\r\n") + ask("GET /evil", ""), 400,
         "RFC 9112 11.2"},
        {"a request behind a refused chunk",
         ask("POST /", "Transfer-Encoding: chunked\r\n", "x\r\n") + ask("GET /evil", ""), 400,
         "RFC 9112 11.2"},
        {"a request behind Connection: close", get("Connection: close\r\n") + ask("GET /evil", ""), 200,
         "RFC 9112 9.6", "GET / "},
        {"a request behind HTTP/1.0", "GET / HTTP/1.0\r\nHost: x.localhost\r\n\r\n" + ask("GET /evil", ""),
         200, "RFC 9112 9.3", "GET / "},
        {"a body that HTTP/1.0 begins",
         "POST / HTTP/1.0\r\nHost: x.localhost\r\nContent-Length: 3\r\n\r\nabc", 200, "RFC 9112 6.3",
         "POST / abc"},
        {"Expect, the body at once",
         ask("POST /", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc") + second, 200,
         "RFC 9110 10.1.1", "POST / abc\nGET /second "},
    };
}

std::vector<Asked> upgrades() {
    const std::string socket = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    return {
        {"an upgrade that the origin declines, then a request", get(socket) + ask("GET /second", ""), 200,
         "RFC 9110 7.8", "GET / \nGET /second "},
        {"an upgrade with a body", ask("POST /", socket + "Content-Length: 3\r\n", "abc"), 200,
         "RFC 9110 7.8", "POST / abc"},
        {"an upgrade with chunks",
         ask("POST /", socket + "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), 200,
         "RFC 9110 7.8", "POST / abc"},
        {"an upgrade to h2c is not passed on",
         get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: evil\r\nA: b\r\n"), 200,
         "RFC 9113 3.1", "GET / "},
        {"an upgrade to h2c among others", get("Connection: upgrade\r\nUpgrade: evil, h2c\r\n"), 200,
         "RFC 9113 3.1", "GET / "},
        {"an upgrade in HTTP/1.0",
         "GET / HTTP/1.0\r\nHost: x.localhost\r\nConnection: Upgrade\r\nUpgrade: evil\r\n\r\n", 200,
         "RFC 9110 7.8", "GET / "},
        {"Upgrade that Connection does not name", get("Upgrade: evil\r\n"), 200, "RFC 9110 7.8", "GET / "},
    };
}

std::vector<Asked> headers() {
    return {
        {"what Connection names", get("Connection: A\r\nA: evil\r\n"), 200, "RFC 9110 7.6.1", "GET / "},
        {"Connection names Content-Length",
         ask("POST /", "Connection: Content-Length\r\nContent-Length: 3\r\n", "abc"), 200, "RFC 9110 7.6.1",
         "POST / abc"},
        {"Connection names Transfer-Encoding",
         ask("POST /", "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n",
             "3\r\nabc\r\n0\r\n\r\n"),
         200, "RFC 9110 7.6.1", "POST / abc"},
        {"Connection names Host", get("Connection: Host\r\n"), 200, "RFC 9110 7.6.1", "GET / "},
        {"Connection names very many", get("Connection: a,b,c,d,e,f,g,h,i,j\r\n"), 400, "RFC 9110 7.6.1"},
        {"Keep-Alive, TE and Proxy-Connection",
         get("Keep-Alive: evil\r\nTE: evil\r\nProxy-Connection: evil\r\n"), 200, "RFC 9110 7.6.1", "GET / "},
        {"Proxy-Authorization", get("Proxy-Authorization: evil\r\n"), 200, "RFC 9110 11.7.2", "GET / "},
        {"Content_Length", get("Content_Length: evil\r\n"), 200, "RFC 9112 11.2", "GET / "},
        {"Transfer_Encoding", get("Transfer_Encoding: evil\r\n"), 200, "RFC 9112 11.2", "GET / "},
        {"an address said before",
         get("X-Forwarded-For: evil\r\nForwarded: for=evil\r\nX-Real-IP: evil\r\nX_Forwarded_For: evil\r\n"),
         200, "RFC 7239 8.1", "GET / "},
        {"a target said before", get("X-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\n"), 200,
         "RFC 9112 11.2", "GET / "},
        {"a key of the platform", get("X-Hostler-Key: evil\r\nAuthorization: Bearer hk_evil\r\n"), 200,
         "RFC 9110 11.6.2", "GET / "},
        {"a session of the platform", get("Cookie: a=b; __hostler_session=evil\r\n"), 200, "RFC 6265 5.4",
         "GET / "},
        {"a path of the platform", ask("GET /.hostler/evil", ""), 404, "RFC 9110 4.2"},
        {"a path of the platform in percent signs", ask("GET /a/..//%2Ehostler/evil", ""), 404,
         "RFC 3986 6.2.2"},
    };
}

}  // namespace

std::vector<Part<Asked>> exchanges() {
    return {{"One request after another", pipelines()},
            {"Upgrades", upgrades()},
            {"Headers that are not passed on", headers()}};
}

}  // namespace hostler::http::testing
