#include "domain/oidc/provider.h"

#include <algorithm>

#include "core/ip_address.h"

namespace hostler {

namespace {

constexpr std::size_t url_max = 2048;

// The host of "https://HOST:PORT/…", without its port; "" when it has a user, or there is none.
std::string_view host_of(std::string_view url) {
    const auto begin = url.find("://");
    if (begin == url.npos) return {};
    url.remove_prefix(begin + 3);
    url = url.substr(0, url.find_first_of("/?#"));
    if (url.contains('@') || url.contains('\\')) return {};
    if (url.starts_with('[')) return url.substr(0, url.find(']') + 1);
    return url.substr(0, url.find(':'));
}

bool is_plain(std::string_view url) {
    return std::ranges::all_of(url, [](unsigned char c) {
        return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\' && c != '\'';
    });
}

Scope scope_at(const std::string& tenant, const std::string& project) {
    if (tenant.empty()) return Scope::cloud();
    return project.empty() ? Scope::of_tenant(tenant) : Scope::of_project(tenant, project);
}

}  // namespace

bool is_loopback_url(std::string_view url) {
    std::string_view host = host_of(url);
    if (host == "localhost" || host == "[::1]") return true;
    const auto ip = parse_ip(host);
    return ip && ip->is_v4() && ip->bare_text().starts_with("127.");
}

std::string wrong_provider_url(std::string_view url) {
    if (url.size() > url_max || !is_plain(url)) return "must be a URL of at most 2048 visible characters";
    if (url.contains('#')) return "must have no fragment";
    if (host_of(url).empty()) return "must be https://HOST…, without user and password";
    if (url.starts_with("https://")) return "";
    if (url.starts_with("http://") && is_loopback_url(url)) return "";
    return "must be https://HOST…; http:// is for loopback addresses alone";
}

RoleAt default_role_of(const IdentityProvider& provider) {
    return {provider.default_role, scope_at(provider.tenant, "")};
}

RoleAt role_of_group(const IdentityProvider& provider, const GroupRole& mapped) {
    return {mapped.role, scope_at(provider.tenant.empty() ? mapped.tenant : provider.tenant, mapped.project)};
}

std::vector<RoleAt> roles_of_groups(const IdentityProvider& provider,
                                    const std::vector<std::string>& groups) {
    std::vector<RoleAt> roles;
    if (!provider.default_role.empty()) roles.push_back(default_role_of(provider));
    for (const GroupRole& mapped : provider.group_roles)
        if (std::ranges::count(groups, mapped.group) > 0) roles.push_back(role_of_group(provider, mapped));
    std::ranges::sort(roles);
    roles.erase(std::ranges::unique(roles).begin(), roles.end());
    return roles;
}

}  // namespace hostler
