#include "roles/master/sign_in_page.h"

#include <fmt/format.h>

#include <charconv>

namespace hostler::master {

namespace {

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            case '\'': safe += "&#39;"; break;
            default: safe += c;
        }
    }
    return safe;
}

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ink:#1c2430;--paper:#f6f7f9;--card:#fff;--line:#d9dee6;--accent:#2457d6;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--paper:#12161c;--card:#1b212a;--line:#303a47;--accent:#7ea6ff;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:min(26rem,92vw);background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2rem}
h1{font-size:1.25rem;margin:0 0 .25rem}p{margin:.25rem 0 1.25rem;opacity:.8}
label{display:block;font-weight:600;margin-bottom:.35rem}input{width:100%;font:inherit;padding:.6rem .7rem;border:1px solid var(--line);border-radius:8px;background:transparent;color:inherit}
button{margin-top:1rem;width:100%;font:inherit;font-weight:600;padding:.65rem;border:0;border-radius:8px;background:var(--accent);color:var(--card);cursor:pointer}
.bad{color:var(--bad);font-weight:600}code{font-size:.9em;overflow-wrap:anywhere}
)";

}  // namespace

std::string sign_in_page(std::string_view return_to, std::string_view complaint) {
    return fmt::format(
        R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in · Hostler</title><style>{}</style></head><body><main><h1>Sign in</h1>
<p>to open <code>{}</code></p>{}
<form method="post" action="/sign-in"><input type="hidden" name="return" value="{}">
<label for="key">API key, which begins with <code>hk_</code></label><input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Open</button></form></main></body></html>
)",
        style, escaped(return_to),
        complaint.empty() ? "" : fmt::format("<p class=\"bad\" role=\"alert\">{}</p>", escaped(complaint)),
        escaped(return_to));
}

Result<Return> parse_return(std::string_view return_to, const Gateway& gateway) {
    const auto wrong = [] {
        return fail(Code::invalid, "this address is not one of this cloud's instances", "return_unknown");
    };
    const auto scheme_end = gateway.address.find("://");
    if (scheme_end == std::string::npos) return wrong();
    const std::string_view scheme = std::string_view{gateway.address}.substr(0, scheme_end + 3);
    const std::string_view at = std::string_view{gateway.address}.substr(scheme_end + 3);
    const std::string_view port = at.rfind(':') == at.npos ? "" : at.substr(at.rfind(':'));
    if (return_to.size() > 4096 || !return_to.starts_with(scheme)) return wrong();
    for (const char c : return_to)
        if (static_cast<unsigned char>(c) <= ' ' || c == '\\' || c == '"' || c == '<' || c == '>')
            return wrong();
    std::string_view rest = return_to.substr(scheme.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    Return result{.origin = std::string{scheme} + std::string{authority},
                  .path = rest.starts_with('/') ? std::string{rest} : "/"};
    if (gateway.domain.empty()) {
        const std::string_view name = at.substr(0, at.rfind(':'));
        if (!authority.starts_with(name) || authority.size() <= name.size() || authority[name.size()] != ':')
            return wrong();
        const std::string_view digits = authority.substr(name.size() + 1);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), result.own_port);
        if (error != std::errc{} || end != digits.data() + digits.size() || result.own_port < 1 ||
            result.own_port > 65535)
            return wrong();
        return result;
    }
    const std::string suffix = fmt::format(".{}{}", gateway.domain, port);
    if (!authority.ends_with(suffix) || authority.size() == suffix.size()) return wrong();
    result.route = authority.substr(0, authority.size() - suffix.size());
    for (const char c : result.route)
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return wrong();
    return result;
}

}  // namespace hostler::master
