#include "roles/gateway/origin.h"

#include <algorithm>
#include <vector>

#include "http/message.h"

namespace hostler::gateway {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= host_name_max && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
}

bool is_address_in_brackets(std::string_view text) {
    return text.size() > 3 && text.size() < 48 && text.front() == '[' && text.back() == ']' &&
           std::all_of(
               text.begin() + 1, text.end() - 1, [](char c) { return hex(c) >= 0 || c == ':' || c == '.'; });
}

std::string_view default_port(std::string_view scheme) { return scheme == "https" ? "443" : "80"; }

}  // namespace

std::optional<HostPort> host_of(std::string_view text) {
    HostPort host;
    const auto bracket = text.find(']');
    const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon != std::string_view::npos) {
        host.port = text.substr(colon + 1);
        if (host.port.empty() || host.port.size() > 5 ||
            !std::all_of(host.port.begin(), host.port.end(), [](char c) { return c >= '0' && c <= '9'; }))
            return std::nullopt;
    }
    host.name = text.substr(0, colon);
    std::transform(host.name.begin(), host.name.end(), host.name.begin(), lower);
    if (host.name.size() > 1 && host.name.ends_with('.')) host.name.pop_back();
    if (!is_name(host.name) && !is_address_in_brackets(host.name)) return std::nullopt;
    return host;
}

std::optional<std::string_view> label_below(std::string_view name, std::string_view domain) {
    if (domain.empty() || name.size() <= domain.size() + 1 || !name.ends_with(domain)) return std::nullopt;
    const auto label = name.substr(0, name.size() - domain.size() - 1);
    if (name[label.size()] != '.' || label.find('.') != std::string_view::npos) return std::nullopt;
    return label;
}

bool same_origin(std::string_view origin, std::string_view scheme, const HostPort& host) {
    const auto end = origin.find("://");
    if (end == std::string_view::npos || !http::same_name(origin.substr(0, end), scheme)) return false;
    const auto from = host_of(origin.substr(end + 3));
    if (!from || from->name != host.name) return false;
    const auto port = [&](const HostPort& of) { return of.port.empty() ? default_port(scheme) : of.port; };
    return port(*from) == port(host);
}

bool is_own_path(std::string_view path) {
    path = path.substr(0, path.find('?'));
    // Most paths have no segment that begins with a dot, however one reads them.
    if (!path.starts_with('.') && path.find("/.") == path.npos && path.find_first_of("%\\") == path.npos)
        return false;
    std::string plain = percent_decoded(path);
    std::replace(plain.begin(), plain.end(), '\\', '/');
    std::vector<std::string_view> segments;
    for (std::string_view rest = plain; !rest.empty();) {
        const auto slash = rest.find('/');
        const auto segment = rest.substr(0, slash);
        rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
        if (segment.empty() || segment == ".") continue;
        if (segment != "..") {
            segments.push_back(segment);
        } else if (!segments.empty()) {
            segments.pop_back();
        }
    }
    return !segments.empty() && http::same_name(segments.front(), ".hostler");
}

std::string safe_path(std::string_view to) {
    const bool plain =
        std::all_of(to.begin(), to.end(), [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
    if (!plain || !to.starts_with('/') || to.starts_with("//") || is_own_path(to)) return "/";
    return std::string{to};
}

std::string percent_decoded(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            plain += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        const auto amp = query.find('&');
        const auto pair = query.substr(0, amp);
        const auto equals = pair.find('=');
        if (percent_decoded(pair.substr(0, equals)) == name)
            return equals == std::string_view::npos ? std::string{}
                                                    : percent_decoded(pair.substr(equals + 1));
        if (amp == std::string_view::npos) break;
        query.remove_prefix(amp + 1);
    }
    return std::nullopt;
}

}  // namespace hostler::gateway
