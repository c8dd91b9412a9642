#include "roles/gateway/pages.h"

#include <fmt/format.h>

#include "core/page.h"
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
                    "discarded them or its host cannot keep them, its other files; it can be started again."};
        case Notice::not_started:
            return {409, "not_started", Tone::bad, "Not started", "The instance cannot be started now."};
        case Notice::stopped:
            return {410, "stopped", Tone::calm, "Stopped",
                    "The instance has ended. The files in its volumes are still there."};
        case Notice::failed: return {503, "failed", Tone::bad, "Failed", "The instance has failed."};
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
                    "This port is not public. Send an API key or a session (Authorization: Bearer hk_… or "
                    "X-Hostler-Key), "
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

std::string_view text_of(Tone tone) {
    switch (tone) {
        case Tone::calm: return "calm";
        case Tone::busy: return "busy";
        case Tone::bad: return "bad";
    }
    return {};
}

// Commands, which sentences have in backquotes, are shown as such.
std::string with_commands(std::string_view sentences) {
    std::string html;
    while (true) {
        const auto begin = sentences.find('`');
        const auto end = begin == sentences.npos ? sentences.npos : sentences.find('`', begin + 1);
        if (end == sentences.npos) return html + html_text(sentences);
        html += fmt::format("{}<code>{}</code>", html_text(sentences.substr(0, begin)),
                            html_text(sentences.substr(begin + 1, end - begin - 1)));
        sentences.remove_prefix(end + 1);
    }
}

std::string html(const Page& page, const Words& words, std::string_view nonce) {
    std::string body;
    if (!page.about.empty()) body += fmt::format("<p class=\"about\">{}</p>", html_text(page.about));
    body += fmt::format("<p>{}</p>", html_text(words.sentence));
    if (!page.detail.empty()) body += fmt::format("<p class=\"detail\">{}</p>", with_commands(page.detail));
    if (!page.button_to.empty())
        body += fmt::format("<form method=\"post\" action=\"{}\"><button id=\"start\">{}</button></form>",
                            html_text(page.button_to), html_text(page.button));
    if (!page.link.empty())
        body += fmt::format("<a class=\"go\" href=\"{}\">{}</a>", html_text(page.link),
                            html_text(page.link_text));
    return html_of({.title = words.title,
                    .body = body,
                    .nonce = nonce,
                    .tone = text_of(words.tone),
                    .again_s = words.again_s,
                    .footer = fmt::format("Hostler gateway · {}", words.status)});
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
            fmt::format("default-src 'none'; style-src 'nonce-{}'; base-uri 'none'; form-action {}; "
                        "frame-ancestors 'none'",
                        nonce, page.button_to.empty() ? "'none'" : "'self'"));
        // Without no-referrer a browser tells the origin of the page with its form.
        if (!page.button_to.empty()) response.headers.set("Referrer-Policy", "same-origin");
        response.body = html(page, words, nonce);
    } else {
        response.headers.add("Content-Type", "application/problem+json");
        response.body = problem(page, words);
    }
    return response;
}

http::Response front_door_answer(std::string api, Reader reader, std::string_view nonce) {
    http::Response response;
    response.headers = {{"Cache-Control", "no-store"},
                        {"X-Content-Type-Options", "nosniff"},
                        {"Referrer-Policy", "no-referrer"}};
    if (reader == Reader::program) {
        response.headers.add("Content-Type", "application/json");
        response.body = fmt::format(R"({{"name":"hostler","what":"gateway","api":{}}})"
                                    "\n",
                                    json_text(api));
        return response;
    }
    response.headers.add("Content-Type", "text/html; charset=utf-8");
    response.headers.add("Content-Security-Policy",
                         fmt::format("default-src 'none'; style-src 'nonce-{}'; base-uri 'none'; form-action "
                                     "'none'; frame-ancestors 'none'",
                                     nonce));
    response.body = front_door(
        {.what = "its gateway, which gives each instance an address", .api = std::move(api), .nonce = nonce});
    return response;
}

Reader reader_of(std::string_view method, std::string_view accept) {
    if (method != "GET" && method != "HEAD") return Reader::program;
    return reader_of(accept);
}

Reader reader_of(std::string_view accept) {
    bool wants_page = false;
    http::each_item(accept, [&](std::string_view item) {
        const auto type = http::trimmed(item.substr(0, item.find(';')));
        wants_page |= http::same_name(type, "text/html") || http::same_name(type, "application/xhtml+xml");
    });
    return wants_page ? Reader::person : Reader::program;
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
