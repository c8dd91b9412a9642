// What a server or proxy is asked that two parsers may read in two ways, and what is to become of it: one
// table for the tests of our server, for those of the gateway, and for the page in the docs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostler::http::testing {

// The host name that requests of the corpus are for, and that a gateway under test has a route for.
inline constexpr std::string_view corpus_host = "x.localhost";

// Bytes of one connection of a client.
struct Asked {
    std::string_view name;
    std::string bytes;
    int status;               // Of the first answer; below 400: accepted.
    std::string_view source;  // Where it is written: an RFC and its section.
    // What the origin behind a proxy sees, a line for each request: its method, target and body. Nothing
    // whole of what is refused.
    std::string_view seen{};
    int at_gateway = 0;  // The gateway's status where it differs: it has no route for that host, say.
};

// Bytes that an origin answers with, and how that reaches the client.
struct Answered {
    std::string_view name;
    std::string bytes;
    int status;  // What the client is answered; 502: refused.
    std::string_view source;
    std::string_view body{};  // As the client reads it.
    bool cut = false;         // The client is told that something is missing: its connection breaks off.
    std::string_view method = "GET";
    std::string_view more{};  // Headers of the request.
};

template <class Case>
struct Part {
    std::string_view title;
    std::vector<Case> cases;
};

std::vector<Part<Asked>> heads();      // Any server of ours, and the gateway.
std::vector<Part<Asked>> bodies();     // The same.
std::vector<Part<Asked>> exchanges();  // The gateway alone: what passing on is about.
std::vector<Part<Answered>> answers();

// docs/operate/http-corpus.md.
std::string corpus_page();

}  // namespace hostler::http::testing
