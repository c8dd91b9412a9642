#include "http/proxy.h"

namespace hostler::http {

namespace {

// RFC 9110 section 7.6.1, and what older agents sent. Framing and upgrades are written anew.
bool is_of_one_connection(std::string_view name) {
    switch (name.size()) {
        case 2: return same_name(name, "TE");
        case 7: return same_name(name, "Upgrade") || same_name(name, "Trailer");
        case 10: return same_name(name, "Connection") || same_name(name, "Keep-Alive");
        case 14: return same_name(name, "HTTP2-Settings");
        case 16: return same_name(name, "Proxy-Connection");
        case 17: return same_name(name, "Transfer-Encoding");
        case 18: return same_name(name, "Proxy-Authenticate");
        case 19: return same_name(name, "Proxy-Authorization");
        default: return false;
    }
}

// same_name, and '_' is '-'.
bool same_field(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t at = 0; at < a.size(); ++at) {
        const char x = a[at] == '_' ? '-' : a[at], y = b[at] == '_' ? '-' : b[at];
        if (x != y && !same_name({&x, 1}, {&y, 1})) return false;
    }
    return true;
}

// What Connection may not take out of a message, because it says what the message is.
bool is_of_the_message(std::string_view name) {
    return same_name(name, "Host") || same_name(name, "Content-Length") || same_name(name, "Content-Type");
}

// Servers that take '_' for '-' must not find another framing there than the one that we checked.
bool looks_like_framing(std::string_view name) {
    if ((name.size() != 14 && name.size() != 17) || !name.contains('_')) return false;
    return same_field(name, "Content-Length") || same_field(name, "Transfer-Encoding");
}

bool is_left_out(const Head& head, const Rewrite& rewrite, std::string_view name) {
    if (is_of_one_connection(name) || looks_like_framing(name)) return true;
    for (std::size_t at = 0; at < head.connection_tokens_size; ++at)
        if (same_name(name, head.connection_tokens[at]) && !is_of_the_message(name)) return true;
    for (const auto& gone : rewrite.remove)
        if (same_field(name, gone)) return true;
    for (const auto& header : rewrite.set)
        if (same_field(name, header.name)) return true;
    return false;
}

bool is_dropped(std::string_view cookie, const std::vector<std::string>& drop) {
    // A cookie without a name is sent back as its value: "=name=value" becomes "name=value".
    cookie = trimmed(cookie);
    while (cookie.starts_with('=')) cookie = trimmed(cookie.substr(1));
    const auto name = trimmed(cookie.substr(0, cookie.find('=')));
    for (const std::string_view one : drop)
        if (one.ends_with('*') ? name.starts_with(one.substr(0, one.size() - 1)) : name == one) return true;
    return false;
}

void add(std::string& into, std::string_view name, std::string_view value) {
    const std::size_t at = into.size();
    into.resize_and_overwrite(at + name.size() + value.size() + 4, [&](char* text, std::size_t) {
        char* to = text + at;
        to += name.copy(to, name.size());
        *to++ = ':', *to++ = ' ';
        to += value.copy(to, value.size());
        *to++ = '\r', *to++ = '\n';
        return static_cast<std::size_t>(to - text);
    });
}

void add_fields(std::string& into, const Head& head, const Rewrite& rewrite, std::string_view host,
                bool lengthless = false) {
    for (const auto& [name, value] : head.fields) {
        if (is_left_out(head, rewrite, name) || (lengthless && same_name(name, "Content-Length"))) continue;
        if (!rewrite.drop_cookies.empty()) {
            if (name.size() == 10 && same_name(name, "Set-Cookie") && is_dropped(value, rewrite.drop_cookies))
                continue;
            if (name.size() == 6 && same_name(name, "Cookie")) {
                const auto rest = without_cookies(value, rewrite.drop_cookies);
                if (!rest.empty()) add(into, name, rest);
                continue;
            }
        }
        if (!host.empty() && same_name(name, "Host")) {
            add(into, name, std::exchange(host, {}));
            continue;
        }
        add(into, name, value);
    }
    if (!host.empty()) add(into, "Host", host);
    for (const auto& [name, value] : rewrite.set)
        if (!value.empty()) add(into, name, value);
}

}  // namespace

std::string without_cookies(std::string_view value, const std::vector<std::string>& drop) {
    std::string kept;
    const auto keep = [&](std::string_view cookie) {
        if (is_dropped(cookie, drop)) return;
        if (!kept.empty()) kept += "; ";
        kept += cookie;
    };
    each_item(value, keep, ';');
    return kept;
}

void write_head(std::string& into, const RequestHead& head, const Rewrite& rewrite) {
    into.append(head.method).append(" ");
    into.append(rewrite.target.empty() ? head.target : std::string_view{rewrite.target})
        .append(" HTTP/1.1\r\n");
    // HTTP/1.0 may leave Host out; HTTP/1.1, which we speak, may not.
    const bool hostless = head.host.empty() && rewrite.host.empty();
    add_fields(into, head, rewrite,
               hostless ? std::string_view{"localhost"} : std::string_view{rewrite.host});
    if (head.framing.kind == Framing::Kind::chunked) into += "Transfer-Encoding: chunked\r\n";
    if (head.upgrade) {
        add(into, "Connection", "Upgrade");
        add(into, "Upgrade", head.find("Upgrade"));
    }
    into += "\r\n";
}

void write_head(std::string& into, const ResponseHead& head, const Rewrite& rewrite,
                std::string_view connection, bool chunked) {
    into.append("HTTP/1.1 ");
    for (const int unit : {100, 10, 1}) into += static_cast<char>('0' + head.status / unit % 10);
    into.append(" ").append(head.reason).append("\r\n");
    // RFC 9110 section 8.6: these have no Content-Length.
    add_fields(into, head, rewrite, {}, head.status < 200 || head.status == 204);
    if (chunked) into += "Transfer-Encoding: chunked\r\n";
    if (head.status == 101) add(into, "Upgrade", head.find("Upgrade"));
    if (!connection.empty()) add(into, "Connection", connection);
    into += "\r\n";
}

}  // namespace hostler::http
