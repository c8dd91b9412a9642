#include "roles/master/browser/console.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/operations_sign_in.h"
#include "core/client_address.h"
#include "roles/master/browser/page.h"
#include "roles/master/browser/sign_in.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/forward.h"

namespace hostler::master {

namespace {

// Gateways keep cookies with this prefix from instances.
constexpr std::string_view cookie_name = "__hostler_console";
constexpr std::string_view assets = "assets/", start_file = "index.html";

// Scripts come from here alone. Styles may be inline: the widgets set sizes and places. Terminals are at
// gateways, whose addresses may change while a page is open.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; font-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

// Cookies know no ports: two clouds at one address must not take each other's. Over TLS the prefix says to
// browsers that no other host may set it.
std::string cookie_of(const http::Exchange& exchange, bool tls) {
    const std::string_view host = exchange.request.headers.find("Host").value_or("");
    const auto colon = host.rfind(':');
    std::string port;
    if (colon != host.npos && host.find(']', colon) == host.npos)
        port = fmt::format("_{}", host.substr(colon + 1));
    return fmt::format("{}{}{}", tls ? "__Host-" : "", tls ? cookie_name.substr(2) : cookie_name, port);
}

const http::StaticFile* file_at(std::span<const http::StaticFile> files, std::string_view path) {
    const auto found = std::ranges::find(files, path, &http::StaticFile::path);
    return found == files.end() ? nullptr : &*found;
}

Error two_sessions() {
    Error error{Code::unauthenticated, "this browser sends two different sessions of the console",
                "two_sessions"};
    error.help =
        "Another page at this address may have set one. Delete the cookies of this address and sign in "
        "again.";
    return error;
}

}  // namespace

std::optional<http::Response> console_answer(std::span<const http::StaticFile> files,
                                             const http::Request& request) {
    if (files.empty() || (request.method != "GET" && request.method != "HEAD")) return std::nullopt;
    const std::string_view path = request.path();
    if (path == console_path.substr(0, console_path.size() - 1)) {
        http::Response response{.status = 308};
        response.headers.set("Location", std::string{console_path});
        return response;
    }
    if (!path.starts_with(console_path)) return std::nullopt;
    const std::string_view name = path.substr(console_path.size());
    const http::StaticFile* file = file_at(files, name);
    if (!file && name.starts_with(assets))
        return http::text_response(404, "this release of the console has no such file; load the page again");
    const bool is_page = !file || name == start_file;
    if (is_page) file = file_at(files, start_file);
    HOSTLER_ASSERT(file);
    auto response = http::file_response(*file, request.headers, name.starts_with(assets));
    if (is_page) {
        response.headers.set("Content-Security-Policy", std::string{content_policy});
        response.headers.set("Referrer-Policy", "same-origin");
        response.headers.set("Cross-Origin-Opener-Policy", "same-origin");
    }
    return response;
}

Result<std::string> console_session(const http::Exchange& exchange, const Reached& reached) {
    const auto& headers = exchange.request.headers;
    if (!headers.has(console_header) || is_from_elsewhere(exchange, reached.public_url)) return std::string{};
    const auto sent = headers.cookies(cookie_of(exchange, reached.tls));
    if (sent.empty()) return std::string{};
    if (std::ranges::count(sent, sent.front()) != std::ssize(sent)) return std::unexpected(two_sessions());
    return std::string{sent.front()};
}

std::string console_cookie(const http::Exchange& exchange, bool tls, std::string_view session) {
    return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}{}", cookie_of(exchange, tls), session,
                       tls ? "; Secure" : "", session.empty() ? "; Max-Age=0" : "");
}

std::string safe_console_path(std::string_view path) {
    constexpr std::size_t path_max = 2048;
    const bool is_plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
    const bool leads_out = path.contains("//") || path.contains("/..");
    if (path.size() > path_max || !path.starts_with(console_path) || !is_plain || leads_out)
        return std::string{console_path};
    return std::string{path};
}

void audit_console_session(const http::Exchange& exchange, Term& term, const std::string& session) {
    const auto in = caller_of_sign_in(term, session, std::string{console_route});
    if (!in) return;
    Estate& estate = term.desk(in->caller.actor).estate;
    estate.audit({.time = estate.time(),
                  .actor = in->caller.actor,
                  .address = std::string{address_of(exchange)},
                  .operation = std::string{api::ops::sign_in.name},
                  .subject = "session/" + session_name(in->session),
                  .tenant = in->caller.tenant,
                  .status = api::ops::sign_in.status,
                  .client = safe_user_agent(exchange.request.headers.find("User-Agent").value_or("")),
                  .service = std::string{api::ops::sign_in.noun},
                  .result = std::string{audit_ok},
                  .request = std::string{exchange.request_id()}});
}

http::Response enter_console(const http::Exchange& exchange, bool tls, std::string_view session,
                             std::string_view path) {
    http::Response response{.status = 303};
    response.headers = {{"Location", std::string{path}},
                        {"Set-Cookie", console_cookie(exchange, tls, session)},
                        {"Cache-Control", "no-store"},
                        {"Referrer-Policy", "no-referrer"}};
    return response;
}

Task<> answer_console_link(http::Exchange& exchange, Api& api, bool tls) {
    const TermPtr term = CO_TRY(api.leader());
    // A page of another origin would sign a person in as another person.
    if (is_from_elsewhere(exchange, term->settings().public_url))
        co_return co_await refuse_browser(exchange, 403,
                                          "A page of another origin led here. Open the link itself.");
    if (term->read_only()) co_return co_await refuse_browser(exchange, 503, term->read_only()->message);
    const std::string code = form_field(exchange.request.query(), "code");
    constexpr std::size_t code_max = 256;
    const auto session = code.size() > code_max ? fail(Code::unauthenticated, "this is no code of ours")
                                                : redeem_code(*term, code, std::string{console_route});
    if (!session)
        co_return co_await refuse_browser(
            exchange, 403, "This link was used, or is too old. Make another one: hostler console link.");
    audit_console_session(exchange, *term, *session);
    CO_TRY(co_await term->commit());
    co_return co_await exchange.respond(enter_console(exchange, tls, *session, console_path));
}

}  // namespace hostler::master
