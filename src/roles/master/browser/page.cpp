#include "roles/master/browser/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/router.h"
#include "core/page.h"

namespace hostler::master {

namespace {

// "https://api.example:8443" of any URL there; scheme and host in whatever case they are.
std::string_view origin_of(std::string_view url) {
    const auto host = url.find("://");
    return host == url.npos ? std::string_view{} : url.substr(0, url.find_first_of("/?#", host + 3));
}

}  // namespace

http::Response page_response(int status, std::string html, std::string_view opens) {
    http::Response response{.status = status, .body = std::move(html)};
    response.headers.set("Content-Type", "text/html; charset=utf-8");
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("Content-Security-Policy",
                         fmt::format("default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {}; "
                                     "frame-ancestors 'none'; base-uri 'none'",
                                     opens));
    // Other sites learn no address of a page: some have a secret. Not no-referrer: browsers would then send
    // `Origin: null` with the page's own form.
    response.headers.set("Referrer-Policy", "same-origin");
    response.headers.set("X-Content-Type-Options", "nosniff");
    return response;
}

bool is_from_elsewhere(const http::Exchange& exchange, std::string_view public_url) {
    const auto& headers = exchange.request.headers;
    if (const auto site = headers.find("Sec-Fetch-Site")) return *site != "same-origin" && *site != "none";
    const auto origin = headers.find("Origin");
    if (!origin) return false;
    if (!public_url.empty() && http::same_name(*origin, origin_of(public_url))) return false;
    const auto host = origin->find("://");
    return host == origin->npos ||
           !http::same_name(origin->substr(host + 3), headers.find("Host").value_or(""));
}

std::string form_field(std::string_view body, std::string_view name) {
    while (!body.empty()) {
        const std::string_view pair = body.substr(0, body.find('&'));
        body.remove_prefix(std::min(body.size(), pair.size() + 1));
        const auto equals = pair.find('=');
        if (equals == pair.npos || pair.substr(0, equals) != name) continue;
        return api::percent_decode(pair.substr(equals + 1), true).value_or("");
    }
    return {};
}

std::string alert_of(std::string_view complaint) {
    if (complaint.empty()) return {};
    return fmt::format(R"(<p class="alert" role="alert">{}</p>)", html_text(complaint));
}

std::string hidden_field(std::string_view name, std::string_view value) {
    return fmt::format(R"(<input type="hidden" name="{}" value="{}">)", name, html_text(value));
}

std::string form_input(const FormInput& input, std::span<const FieldError> wrong) {
    const auto found = std::ranges::find(wrong, input.name, &FieldError::path);
    std::string mark, alert;
    if (found != wrong.end()) {
        mark = fmt::format(R"( aria-invalid="true" aria-describedby="{}-wrong")", input.name);
        alert = fmt::format(R"(<p class="alert" id="{}-wrong" role="alert">{} {}.</p>)", input.name,
                            input.title, html_text(found->message));
    }
    return fmt::format(R"(<label for="{0}">{1}</label><input id="{0}" name="{0}" type="{2}" value="{3}" )"
                       R"(autocomplete="{4}"{5}{6}>{7})",
                       input.name, input.label, input.type, html_text(input.value), input.complete,
                       input.more, mark, alert);
}

}  // namespace hostler::master
