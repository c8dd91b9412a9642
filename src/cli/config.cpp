#include "cli/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <sstream>

namespace hostler::cli {

namespace {

constexpr std::size_t config_max = 64 * 1024;
constexpr std::size_t ca_max = 1024 * 1024;

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t\r");
    if (from == text.npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::string error_text() { return std::error_code(errno, std::generic_category()).message(); }

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t size_max) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return std::nullopt;
    std::string text(size_max, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::string config_path(const CliWorld& world) {
    if (auto path = world.env("HOSTLER_CONFIG"); path && !path->empty()) return *path;
    if (auto base = world.env("XDG_CONFIG_HOME"); base && !base->empty())
        return *base + "/hostler/config.toml";
    if (auto home = world.env("HOME"); home && !home->empty()) return *home + "/.config/hostler/config.toml";
    return {};
}

Connection parse_config(std::string_view text) {
    Connection found;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (line.starts_with("export ")) line = trimmed(line.substr(7));
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == line.npos) continue;
        const auto name = trimmed(line.substr(0, equals));
        std::string_view value = trimmed(line.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
            value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        if (name == "api" || name == "HOSTLER_API") found.api = value;
        if (name == "key" || name == "HOSTLER_KEY") found.key = value;
        if (name == "ca" || name == "HOSTLER_CA") found.ca = value;
    }
    return found;
}

namespace {

// An empty one is as good as one that is wrong.
std::vector<std::string_view> urls_of(std::string_view list) {
    std::vector<std::string_view> urls;
    for (const auto part : std::views::split(list, ',')) urls.emplace_back(part.begin(), part.end());
    if (urls.empty()) urls.emplace_back();
    return urls;
}

}  // namespace

Result<Connection> connection(const CliWorld& world, Connection flags) {
    Connection found = flags;
    const std::string env_api = world.env("HOSTLER_API").value_or("");
    const std::string env_key = world.env("HOSTLER_KEY").value_or("");
    if (found.api.empty()) found.api = env_api;
    if (found.key.empty()) found.key = env_key;
    if (found.ca.empty()) found.ca = world.env("HOSTLER_CA").value_or("");
    if (found.api.empty() || found.key.empty() || found.ca.empty()) {
        const std::string path = config_path(world);
        const auto text = path.empty() ? std::nullopt : read_file(path, config_max);
        if (!text && !world.env("HOSTLER_CONFIG").value_or("").empty())
            return fail(Code::invalid, fmt::format("HOSTLER_CONFIG names {}, which cannot be read", path));
        const Connection file = text ? parse_config(*text) : Connection{};
        // A key is never sent to another API than the one it was kept for.
        const bool same = found.api.empty() || found.api == file.api;
        if (found.key.empty() && same) found.key = file.key;
        if (found.ca.empty() && same) found.ca = file.ca;
        if (found.api.empty()) found.api = file.api;
    }
    if (found.api.empty())
        return fail(Code::invalid,
                    "no API is known: pass --api URL, set HOSTLER_API, or run `hostler login`");
    bool secure = false;
    for (const std::string_view url : urls_of(found.api))
        if (TRY(parse_api_url(url)).endpoint.secure) secure = true;
    if (!flags.ca.empty() && !secure)
        return fail(Code::invalid, fmt::format("--ca is for https:// addresses, and {} is none", found.api));
    return found;
}

Result<> save_config(const std::string& path, const Connection& connection) {
    if (path.empty())
        return fail(Code::invalid, "there is no HOME to keep the key under; set HOSTLER_CONFIG to a file");
    if ((connection.api + connection.key + connection.ca).find_first_of("\"\n\r") != std::string::npos)
        return fail(Code::invalid, "an address, key or file name cannot contain quotes or line breaks");
    std::error_code ec;
    std::string text = fmt::format("# Written by `hostler login`.\napi = \"{}\"\nkey = \"{}\"\n",
                                   connection.api, connection.key);
    // Found again from whatever folder the next call is made.
    if (!connection.ca.empty())
        text += fmt::format("ca = \"{}\"\n", std::filesystem::absolute(connection.ca, ec).string());
    return write_private(path, text);
}

Result<> write_private(const std::string& path, std::string_view text) {
    const std::filesystem::path file{path};
    std::error_code ec;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ec);
    if (ec)
        return fail(Code::invalid,
                    fmt::format("cannot make {}: {}", file.parent_path().string(), ec.message()));
    // Written beside it and moved over it, so that a crash leaves the old or the new one.
    const std::string fresh = path + ".new";
    ::unlink(fresh.c_str());
    const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return fail(Code::invalid, fmt::format("cannot write {}: {}", fresh, error_text()));
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (::close(fd) != 0 || !written || ::rename(fresh.c_str(), path.c_str()) != 0)
        return fail(Code::invalid, fmt::format("cannot write {}: {}", path, error_text()));
    return {};
}

Result<Base> parse_api_url(std::string_view url) {
    const auto wrong = [&](std::string_view why) {
        return fail(
            Code::invalid,
            fmt::format("'{}' {}; write the API's address as https://HOST, http://HOST:PORT or unix:/PATH",
                        url, why));
    };
    std::string_view rest = url;
    if (rest.starts_with("unix:")) {
        if (!rest.substr(5).starts_with('/')) return wrong("has no absolute path");
        return Base{{std::string(rest)}, "localhost", ""};
    }
    const bool secure = rest.starts_with("https://");
    if (!secure && !rest.starts_with("http://")) return wrong("has no scheme that is known");
    rest.remove_prefix(secure ? 8 : 7);
    const auto slash = rest.find('/');
    std::string host{rest.substr(0, slash)};
    std::string prefix{slash == rest.npos ? "" : rest.substr(slash)};
    while (prefix.ends_with('/')) prefix.pop_back();
    if (host.empty() || host.find_first_of("@?# \\") != host.npos) return wrong("has no proper host");
    if (prefix.find_first_of("?# ") != prefix.npos) return wrong("has more than a path");
    const auto bracket = host.rfind(']');
    const auto colon = host.find(':', bracket == host.npos ? 0 : bracket);
    Base base{{colon == host.npos ? host + (secure ? ":443" : ":80") : host}, host, prefix};
    if (secure)
        base.endpoint.secure =
            Secure{.own = std::make_shared<Credentials>(), .expect = "https://" + host.substr(0, colon)};
    return base;
}

Result<std::vector<Base>> bases_of(const Connection& connection) {
    std::vector<Base> bases;
    for (const std::string_view url : urls_of(connection.api)) bases.push_back(TRY(parse_api_url(url)));
    const bool secure =
        std::ranges::any_of(bases, [](const Base& base) { return base.endpoint.secure.has_value(); });
    if (!secure || connection.ca.empty()) return bases;
    auto own = std::make_shared<Credentials>();
    auto authority = read_file(connection.ca, ca_max + 1);
    if (!authority || authority->empty())
        return fail(
            Code::invalid,
            fmt::format("{}, which is to name the authorities to believe, cannot be read", connection.ca));
    if (authority->size() > ca_max)
        return fail(Code::invalid, fmt::format("{} is larger than {} bytes", connection.ca, ca_max));
    if (!authority->contains("-----BEGIN CERTIFICATE-----"))
        return fail(Code::invalid, fmt::format("{} holds no certificate in PEM", connection.ca));
    own->authority = std::move(*authority);
    for (Base& base : bases)
        if (base.endpoint.secure) base.endpoint.secure->own = own;
    return bases;
}

}  // namespace hostler::cli
