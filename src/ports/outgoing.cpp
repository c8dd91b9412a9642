#include "ports/outgoing.h"

#include <algorithm>

namespace hostler {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool printable(std::string_view text) { return std::ranges::none_of(text, is_control); }

bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || marks.contains(c);
    });
}

// The host behind one of `schemes`; "" when there is none or somebody signs in by the URL.
std::string_view host_of(std::string_view url, std::initializer_list<std::string_view> schemes) {
    for (const std::string_view scheme : schemes) {
        if (!url.starts_with(scheme)) continue;
        url.remove_prefix(scheme.size());
        const std::string_view host = url.substr(0, url.find_first_of("/?#"));
        if (host.contains('@') || host.starts_with(':')) return {};
        return host;
    }
    return {};
}

bool well_formed(std::string_view url) {
    constexpr std::size_t url_max = 8192;
    return url.size() <= url_max && printable(url) && !url.contains(' ') && !url.contains('\\');
}

bool is_mail_address(std::string_view text) {
    constexpr std::size_t address_max = 254;
    const auto at = text.find('@');
    return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.size() <= address_max &&
           text.find('@', at + 1) == std::string_view::npos && printable(text) &&
           text.find_first_of(" <>(),;:\"\\[]") == std::string_view::npos;
}

Result<> wrong(std::string path, std::string message) {
    Error error{Code::invalid, message};
    error.fields.push_back({std::move(path), std::move(message)});
    return std::unexpected(std::move(error));
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const {
    for (const auto& [each, value] : headers)
        if (same_name(each, name)) return value;
    return {};
}

Result<> check(const HttpCall& call) {
    if (!well_formed(call.url) || host_of(call.url, {"http://", "https://"}).empty())
        return wrong("url", "the URL must be http://HOST… or https://HOST…, without user and password");
    if (!is_token(call.method)) return wrong("method", "not an HTTP method");
    for (const auto& [name, value] : call.headers)
        if (!is_token(name) || !printable(value)) return wrong("headers", "not a header: \"" + name + "\"");
    if (call.body.size() > Outgoing::body_bytes_max) return wrong("body", "the body is larger than 16 MiB");
    return {};
}

Result<> check(const Mail& mail) {
    if (!well_formed(mail.server) || host_of(mail.server, {"smtp://", "smtps://"}).empty())
        return wrong("server", "the mail server must be smtp://HOST:PORT or smtps://HOST:PORT");
    if (mail.safety == MailSafety::plain && !mail.password.empty())
        return wrong("password", "a password is not sent without TLS");
    if (!is_mail_address(mail.from)) return wrong("from", "\"" + mail.from + "\" is not a mail address");
    if (mail.to.empty() || mail.to.size() > Outgoing::receivers_max)
        return wrong("to", "a letter has 1 to 100 receivers");
    for (const std::string& to : mail.to)
        if (!is_mail_address(to)) return wrong("to", "\"" + to + "\" is not a mail address");
    if (!printable(mail.subject)) return wrong("subject", "a subject is one line");
    if (!is_token(mail.id)) return wrong("id", "a letter's id is letters, digits, '-', '_' and '.'");
    if (mail.text.size() + mail.html.size() > Outgoing::body_bytes_max)
        return wrong("text", "the letter is larger than 16 MiB");
    return {};
}

}  // namespace hostler
