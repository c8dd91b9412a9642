#include "roles/master/server/sign_in_page.h"

#include <fmt/format.h>

#include <charconv>

#include "core/page.h"

namespace hostler::master {

std::string sign_in_page(std::string_view return_to, std::string_view complaint) {
    const std::string body = fmt::format(
        R"(<p>to open <code>{0}</code></p>{1}
<form method="post" action="/sign-in"><input type="hidden" name="return" value="{0}">
<label for="key">API key, which begins with <code>hk_</code></label><input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Open</button></form>
<h2>No key yet?</h2><p>An operator makes one with <code>hostler key create NAME --tenant TENANT</code> and gives it to you.</p>)",
        html_text(return_to),
        complaint.empty() ? ""
                          : fmt::format("<p class=\"alert\" role=\"alert\">{}</p>", html_text(complaint)));
    return html_of({.title = "Sign in", .body = body});
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
