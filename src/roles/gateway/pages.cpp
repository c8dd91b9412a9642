#include "roles/gateway/pages.h"

#include <fmt/format.h>

#include "core/utf8.h"

namespace hostler::gateway {

namespace {

enum class Tone { calm, busy, bad };

struct Words {
    int status;
    std::string_view code;
    Tone tone;
    std::string_view title;
    std::string_view sentence;
    int again_s = 0;  // Retry-After; a page looks again by itself.
};

Words words_of(Notice notice) {
    switch (notice) {
        case Notice::no_such_instance:
            return {404, "not_found", Tone::calm, "Nothing lives here",
                    "No instance has this address. It may have been deleted; its address is never given to "
                    "another."};
        case Notice::not_ours:
            return {421, "misdirected", Tone::calm, "Not one of our names",
                    "This gateway serves no instance under this host name."};
        case Notice::starting:
            return {503,
                    "starting",
                    Tone::busy,
                    "Starting",
                    "The instance is on its way. This page opens it as soon as it answers.",
                    2};
        case Notice::stopping:
            return {503, "stopping", Tone::busy, "Stopping", "The instance is being stopped.", 5};
        case Notice::resting:
            return {503, "resting", Tone::calm, "Stopped",
                    "The instance is stopped. It keeps this address, its volumes and, unless its owner "
                    "discarded it or "
                    "its host cannot keep it, what it wrote; it can be started again."};
        case Notice::stopped:
            return {410, "stopped", Tone::calm, "Stopped",
                    "The instance has ended. What it wrote to its volumes is still there."};
        case Notice::failed: return {503, "failed", Tone::bad, "Failed", "The instance could not go on."};
        case Notice::lost:
            return {503,
                    "lost",
                    Tone::bad,
                    "Host lost",
                    "The host of this instance has been silent for too long. The instance is reachable again "
                    "when its host is.",
                    15};
        case Notice::sign_in:
            return {401, "unauthenticated", Tone::calm, "Sign in",
                    "This port is not public. Send an API key (Authorization: Bearer hk_… or X-Hostler-Key), "
                    "or sign in with a browser."};
        case Notice::not_yours:
            return {403, "forbidden", Tone::bad, "Not yours",
                    "You are signed in, but this instance belongs to another tenant."};
        case Notice::other_origin:
            return {
                403, "other_origin", Tone::bad, "Refused",
                "The request came from a page of another site, which may not act with your session here."};
        case Notice::code_refused:
            return {403, "code_refused", Tone::calm, "This link has been used",
                    "A sign-in link works once, and only for a short time. Sign in again."};
        case Notice::signed_out:
            return {200, "signed_out", Tone::calm, "Signed out", "Your session on this instance has ended."};
        case Notice::sign_in_unavailable:
            return {503,
                    "unavailable",
                    Tone::busy,
                    "One moment",
                    "Whether you may see this cannot be checked right now, because the control plane does "
                    "not answer.",
                    5};
        case Notice::upstream_failed:
            return {502,
                    "upstream_failed",
                    Tone::bad,
                    "No answer",
                    "The instance is running, but it could not be reached.",
                    5};
        case Notice::upstream_late:
            return {504, "upstream_late", Tone::bad, "Too slow", "The instance did not answer in time."};
        case Notice::too_busy:
            return {503,
                    "exhausted",
                    Tone::busy,
                    "Very busy",
                    "More is going on here than this gateway lets through at once.",
                    2};
        case Notice::too_many:
            return {429, "exhausted", Tone::busy, "Slow down", "Too many requests come from your address.",
                    1};
        case Notice::bad_path:
            return {404, "not_found", Tone::calm, "Nothing here",
                    "Paths below /.hostler/ are the platform's own, and this is none of them."};
        case Notice::bad_host:
            return {400, "invalid", Tone::bad, "Bad host name", "The Host header is not a host name."};
        case Notice::bad_request:
            return {400, "invalid", Tone::bad, "Bad request", "The request cannot be passed on."};
        case Notice::not_ready:
            return {503,
                    "unavailable",
                    Tone::busy,
                    "One moment",
                    "This gateway has just started and has not yet learned where the instances are.",
                    2};
    }
    return {};
}

std::string_view colour_of(Tone tone) {
    switch (tone) {
        case Tone::calm: return "var(--calm)";
        case Tone::busy: return "var(--busy)";
        case Tone::bad: return "var(--bad)";
    }
    return {};
}

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--ink:#15181d;--soft:#5b6472;--line:#e3e6eb;
--calm:#5b6472;--busy:#2563eb;--bad:#c2410c}
@media(prefers-color-scheme:dark){:root{--ground:#0f1115;--card:#171a20;--ink:#e9ecf1;--soft:#9aa3b2;
--line:#262b34;--calm:#9aa3b2;--busy:#6ea0ff;--bad:#f59e6b}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;
background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:33rem;background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:36px;box-shadow:0 1px 2px rgb(0 0 0/.04),0 12px 32px rgb(0 0 0/.06)}
.mark{width:12px;height:12px;border-radius:50%;background:var(--tone)}.busy .mark{
animation:beat 1.4s ease-in-out infinite}
@keyframes beat{50%{opacity:.25;transform:scale(.8)}}@media(prefers-reduced-motion:reduce){.busy .mark{
animation:none}}
h1{font-size:1.6rem;line-height:1.2;margin:18px 0 8px;letter-spacing:-.01em}p{margin:0 0 12px;
color:var(--soft)}
.about{font:14px/1.4 ui-monospace,SFMono-Regular,Menlo,monospace;color:var(--ink);overflow-wrap:anywhere}
.detail{border-left:3px solid var(--tone);padding:2px 0 2px 14px;color:var(--ink);overflow-wrap:anywhere;
white-space:pre-line}
a{display:inline-block;margin-top:8px;padding:9px 16px;border-radius:9px;background:var(--ink);
color:var(--card);text-decoration:none;font-weight:600}
footer{margin-top:26px;padding-top:14px;border-top:1px solid var(--line);font-size:13px;
color:var(--soft)}
)";

std::string html(const Page& page, const Words& words, std::string_view nonce) {
    std::string body = fmt::format(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><meta name=\"robots\" "
        "content=\"noindex\">{}<title>{}</title>"
        "<style nonce=\"{}\">:root{{--tone:{}}}{}</style></head><body><main class=\"{}\"><div "
        "class=\"mark\"></div><h1>{}</h1>",
        words.again_s > 0 ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">", words.again_s) : "",
        words.title, nonce, colour_of(words.tone), style, words.tone == Tone::busy ? "busy" : "",
        words.title);
    if (!page.about.empty()) body += fmt::format("<p class=\"about\">{}</p>", html_text(page.about));
    body += fmt::format("<p>{}</p>", html_text(words.sentence));
    if (!page.detail.empty()) body += fmt::format("<p class=\"detail\">{}</p>", html_text(page.detail));
    if (!page.link.empty())
        body += fmt::format("<a href=\"{}\">{}</a>", html_text(page.link), html_text(page.link_text));
    body += fmt::format("<footer>Hostler gateway · {}</footer></main></body></html>\n", words.status);
    return body;
}

std::string problem(const Page& page, const Words& words) {
    std::string detail{words.sentence};
    if (!page.detail.empty()) detail += " " + page.detail;
    std::string body =
        fmt::format(R"({{"type":"about:blank","title":{},"status":{},"code":{},"detail":{})",
                    json_text(words.title), words.status, json_text(words.code), json_text(detail));
    if (!page.about.empty()) body += fmt::format(R"(,"instance":{})", json_text(page.about));
    return body + "}\n";
}

}  // namespace

int status_of(Notice notice) { return words_of(notice).status; }

http::Response answer(const Page& page, Reader reader, std::string_view nonce) {
    const Words words = words_of(page.notice);
    http::Response response{.status = words.status};
    response.headers = {{"Cache-Control", "no-store"},
                        {"X-Content-Type-Options", "nosniff"},
                        {"Referrer-Policy", "no-referrer"},
                        {"X-Hostler-Notice", std::string{words.code}}};
    if (words.again_s > 0) response.headers.add("Retry-After", std::to_string(words.again_s));
    if (words.status == 401) response.headers.add("WWW-Authenticate", "Bearer realm=\"hostler\"");
    if (reader == Reader::person) {
        response.headers.add("Content-Type", "text/html; charset=utf-8");
        response.headers.add(
            "Content-Security-Policy",
            fmt::format("default-src 'none'; style-src 'nonce-{}'; base-uri 'none'; form-action 'none'; "
                        "frame-ancestors 'none'",
                        nonce));
        response.body = html(page, words, nonce);
    } else {
        response.headers.add("Content-Type", "application/problem+json");
        response.body = problem(page, words);
    }
    return response;
}

Reader reader_of(std::string_view method, std::string_view accept) {
    if (method != "GET" && method != "HEAD") return Reader::program;
    bool wants_page = false;
    http::each_item(accept, [&](std::string_view item) {
        const auto type = http::trimmed(item.substr(0, item.find(';')));
        wants_page |= http::same_name(type, "text/html") || http::same_name(type, "application/xhtml+xml");
    });
    return wants_page ? Reader::person : Reader::program;
}

std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

std::string json_text(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const std::size_t size = utf8_length(text);
        const char c = text.front();
        if (size == 0) {
            quoted += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            quoted += text.substr(0, size);
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return quoted + "\"";
}

}  // namespace hostler::gateway
