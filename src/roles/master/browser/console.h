// The console: its files, and how a browser that shows it calls the API.
//
// A browser's session is a cookie that no page can read. Pages of instances at another port of this host are
// of the same site, so that a browser sends the cookie with what they ask, too: it counts only beside a
// header that a page of another origin cannot send without a preflight, which is refused.
#pragma once

#include <optional>

#include "http/server.h"
#include "http/static_files.h"
#include "roles/master/http/api.h"

namespace hostler::master {

inline constexpr std::string_view console_header = "X-Hostler-Console";
inline constexpr std::string_view console_path = "/console/";
inline constexpr std::string_view console_link_path = "/sign-in/console";

// What a browser loads: a file, or the page itself for each address at which the page shows something.
// nullopt: `request` is for none of the console's.
std::optional<http::Response> console_answer(std::span<const http::StaticFile> files,
                                             const http::Request& request);

// How this client reaches us.
struct Reached {
    bool tls = false;
    std::string_view public_url;
};
// The cookie's value; empty: none counts for this request. Errors: unauthenticated (two_sessions: without TLS
// a page at another port can set a cookie for this one, too, and which of them is the person's is not told).
Result<std::string> console_session(const http::Exchange& exchange, const Reached& reached);
// Value of a Set-Cookie header; an empty session takes the cookie away.
std::string console_cookie(const http::Exchange& exchange, bool tls, std::string_view session);

// An address of the console that may be led to: "/console/instances?q=x". Another one becomes "/console/".
std::string safe_console_path(std::string_view path);

// Writes into the audit that a session began; to be committed by the caller.
void audit_console_session(const http::Exchange& exchange, Term& term, const std::string& session);
// Leads a browser that is signed in to `path`.
http::Response enter_console(const http::Exchange& exchange, bool tls, std::string_view session,
                             std::string_view path);
// Answers a one-time link to the console: /sign-in/console?code=…
Task<> answer_console_link(http::Exchange& exchange, Api& api, bool tls);

}  // namespace hostler::master
