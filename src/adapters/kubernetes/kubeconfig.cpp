#include "adapters/kubernetes/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "adapters/kubernetes/yaml.h"
#include "core/base64.h"
#include "core/safe_text.h"

namespace hostler::kubernetes {

namespace {

namespace json = boost::json;

constexpr std::size_t errors_max = 32;
constexpr std::size_t file_bytes_max = 1 << 20;
constexpr std::size_t shown_max = 100;  // Characters of a value that a message repeats.

// Every complaint with the path of its field.
struct Complaints {
    std::vector<FieldError> fields;
    void add(std::string path, std::string message) {
        if (fields.size() < errors_max) fields.push_back({std::move(path), std::move(message)});
    }
    Result<> result() && {
        if (fields.empty()) return {};
        std::string message = "the kubeconfig is wrong:";
        for (const auto& [path, why] : fields)
            message += fmt::format("{} {}: {}", &path == &fields.front().path ? "" : ";", path, why);
        Error error{Code::invalid, std::move(message), {}, std::move(fields), {}};
        return std::unexpected(std::move(error));
    }
};

std::string shown(std::string_view text) { return safe_line(text.substr(0, shown_max)); }

// An object and where it is; its members are read one by one, and a wrong one is told and counts as absent.
class Part {
public:
    Part(Complaints& complaints, const json::value* value, std::string path)
        : complaints_(complaints), path_(std::move(path)) {
        if (value && !value->is_null()) {
            object_ = value->if_object();
            if (!object_) complaints_.add(path_, "must be a map");
        }
    }

    const json::value* find(std::string_view name) const {
        const auto* found = object_ ? object_->if_contains(name) : nullptr;
        return found && !found->is_null() ? found : nullptr;
    }
    std::string text(std::string_view name) const {
        const auto* found = find(name);
        if (found && !found->is_string()) {
            complain(name, "must be a string");
            return {};
        }
        return found ? std::string{found->get_string()} : "";
    }
    bool flag(std::string_view name) const {
        const auto* found = find(name);
        if (found && !found->is_bool()) complain(name, "must be true or false");
        return found && found->is_bool() && found->get_bool();
    }
    std::vector<Part> parts(std::string_view name) const {
        std::vector<Part> all;
        for (const json::value& item : list(name))
            all.emplace_back(complaints_, &item, fmt::format("{}[{}]", at(name), all.size()));
        return all;
    }
    std::vector<std::string> texts(std::string_view name) const {
        std::vector<std::string> all;
        for (const json::value& item : list(name)) {
            if (!item.is_string()) complain(fmt::format("{}[{}]", name, all.size()), "must be a string");
            all.emplace_back(item.is_string() ? std::string{item.get_string()} : "");
        }
        return all;
    }
    Part part(std::string_view name) const { return {complaints_, find(name), at(name)}; }

    std::string at(std::string_view name) const {
        return path_.empty() ? std::string{name} : fmt::format("{}.{}", path_, name);
    }
    void complain(std::string_view name, std::string message) const {
        complaints_.add(at(name), std::move(message));
    }
    void require(std::string_view name) const {
        if (!find(name)) complain(name, "is required");
    }
    void refuse(std::string_view name, std::string_view why) const {
        const auto* found = find(name);
        if (found && *found != json::value(false) && *found != json::value(""))
            complain(name, std::string{why});
    }
    const json::object* object() const { return object_; }

private:
    std::span<const json::value> list(std::string_view name) const {
        const auto* found = find(name);
        if (found && !found->is_array()) complain(name, "must be a list");
        if (!found || !found->is_array()) return {};
        return {found->get_array().data(), found->get_array().size()};
    }

    Complaints& complaints_;
    std::string path_;
    const json::object* object_ = nullptr;
};

class Kubeconfig {
public:
    Kubeconfig(const json::value& value, std::string folder, const ReadFile& read_file)
        : folder_(std::move(folder)), read_file_(read_file), top_(complaints_, &value, "") {}

    Result<Access> access(std::string_view wanted) {
        const std::string version = top_.text("apiVersion"), kind = top_.text("kind");
        if (!version.empty() && version != "v1") top_.complain("apiVersion", "must be v1");
        if (!kind.empty() && kind != "Config") top_.complain("kind", "must be Config");
        const std::string context = wanted.empty() ? top_.text("current-context") : std::string{wanted};
        if (context.empty())
            top_.complain("current-context", "is required where no context is asked for");
        else if (const auto found = named("contexts", "context", context, "the context"))
            read_context(*found);
        TRY(std::move(complaints_).result());
        return std::move(access_);
    }

private:
    std::optional<Part> named(std::string_view list, std::string_view member, std::string_view name,
                              std::string_view what) {
        std::optional<Part> found;
        for (const Part& item : top_.parts(list)) {
            if (item.text("name") != name) continue;
            item.require(member);
            if (found) item.complain("name", fmt::format("'{}' stands twice", shown(name)));
            found.emplace(item.part(member));
        }
        if (!found) top_.complain(list, fmt::format("must have {} '{}'", what, shown(name)));
        return found;
    }

    void read_context(const Part& context) {
        context.require("cluster");
        context.require("user");
        access_.ns = context.text("namespace");
        const std::string cluster = context.text("cluster"), user = context.text("user");
        if (!cluster.empty())
            if (const auto found = named("clusters", "cluster", cluster, "the cluster")) read_cluster(*found);
        if (!user.empty())
            if (const auto found = named("users", "user", user, "the user")) read_user(*found);
    }

    void read_cluster(const Part& cluster) {
        cluster.require("server");
        if (const auto url = cluster.text("server"); !url.empty())
            if (const auto read = read_server_url(url, access_); !read)
                cluster.complain("server", read.error().message);
        if (const auto name = cluster.text("tls-server-name"); !name.empty()) access_.server_name = name;
        cluster.refuse("insecure-skip-tls-verify",
                       "is not supported: give certificate-authority or certificate-authority-data");
        cluster.refuse("proxy-url", "is not supported");
        access_.authority = pem(cluster, "certificate-authority", "CERTIFICATE");
    }

    void read_user(const Part& user) {
        access_.certificate = pem(user, "client-certificate", "CERTIFICATE");
        access_.key = pem(user, "client-key", "PRIVATE KEY");
        if (access_.certificate.empty() != access_.key.empty() && complaints_.fields.empty())
            user.complain(
                access_.key.empty() ? "client-key" : "client-certificate",
                access_.key.empty() ? "is required with client-certificate" : "is required with client-key");
        access_.token = user.text("token");
        if (const auto bad = std::ranges::find_if(access_.token, [](char c) { return c <= ' ' || c > '~'; });
            bad != access_.token.end())
            user.complain("token", "holds a character that a token may not");
        access_.token_file = path(user.text("tokenFile"));
        if (!access_.token_file.empty()) access_.token.clear();  // As kubectl has it.
        user.refuse("username", "is not supported: API servers take no passwords");
        user.refuse("password", "is not supported: API servers take no passwords");
        user.refuse("auth-provider", "is not supported: use exec");
        access_.impersonate = {user.text("as"), user.texts("as-groups"), {}};
        user.refuse("as-uid", "is not supported");
        const Part extra = user.part("as-user-extra");
        if (extra.object())
            for (const auto& entry : *extra.object())
                access_.impersonate.extra[std::string{entry.key()}] = extra.texts(entry.key());
        if (access_.impersonate.user.empty() && !access_.impersonate.empty())
            user.complain("as", "is required with as-groups and as-user-extra");
        if (user.find("exec")) read_exec(user.part("exec"));
        if (access_.exec && (!access_.token.empty() || !access_.token_file.empty()))
            user.complain("exec", "excludes token and tokenFile");
    }

    void read_exec(const Part& exec) {
        ExecPlugin plugin{.api_version = exec.text("apiVersion"), .arguments = {}};
        exec.require("apiVersion");
        constexpr std::string_view known[] = {"client.authentication.k8s.io/v1",
                                              "client.authentication.k8s.io/v1beta1"};
        if (!plugin.api_version.empty() && std::ranges::find(known, plugin.api_version) == std::end(known))
            exec.complain("apiVersion", fmt::format("must be {}", known[0]));
        exec.require("command");
        std::string command = exec.text("command");
        if (command.contains('/')) command = path(std::move(command));
        plugin.arguments.push_back(std::move(command));
        std::ranges::move(exec.texts("args"), std::back_inserter(plugin.arguments));
        for (const Part& variable : exec.parts("env")) {
            variable.require("name");
            auto name = variable.text("name");
            if (name.contains('=') || name.contains('\0')) variable.complain("name", "must have no '='");
            plugin.environment.emplace_back(std::move(name), variable.text("value"));
        }
        const auto mode = exec.text("interactiveMode");
        if (mode == "Always")
            exec.complain("interactiveMode", "must be Never or IfAvailable: there is no terminal");
        else if (!mode.empty() && mode != "Never" && mode != "IfAvailable")
            exec.complain("interactiveMode", "must be Never, IfAvailable or Always");
        plugin.cluster_info = exec.flag("provideClusterInfo");
        plugin.install_hint = exec.text("installHint");
        access_.exec = std::move(plugin);
    }

    // Inline data comes before a file, as kubectl has it.
    std::string pem(const Part& of, const std::string& name, std::string_view block) {
        std::string found, field = name + "-data";
        if (const auto data = of.text(field); !data.empty()) {
            if (data.find_first_not_of(
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n ") != data.npos) {
                of.complain(field, "is not base64");
                return {};
            }
            found = base64_decoded(data);
        } else if (const auto file = path(of.text(name)); !file.empty()) {
            field = name;
            auto read = read_file_(file);
            if (!read) {
                of.complain(field, read.error().message);
                return {};
            }
            found = std::move(*read);
        } else {
            return {};
        }
        if (!found.contains("-----BEGIN ") || !found.contains(block)) {
            of.complain(field, fmt::format("has no {} in PEM",
                                           block == "CERTIFICATE" ? "certificate" : "private key"));
            return {};
        }
        return found;
    }

    std::string path(std::string text) const {
        if (text.empty() || text.starts_with('/') || folder_.empty()) return text;
        return fmt::format("{}/{}", folder_, text);
    }

    const std::string folder_;
    const ReadFile& read_file_;
    Complaints complaints_;
    Part top_;
    Access access_{};
};

bool is_host(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-' || c == '_';
    });
}

}  // namespace

Result<> read_server_url(std::string_view url, Access& into) {
    const auto wrong = [&] {
        return fail(Code::invalid,
                    fmt::format("must be a URL as https://HOST:PORT (it is '{}')", shown(url)));
    };
    std::string_view rest = url;
    const bool tls = rest.starts_with("https://");
    if (!tls && !rest.starts_with("http://")) return wrong();
    rest.remove_prefix(tls ? 8 : 7);
    const auto slash = std::min(rest.find('/'), rest.size());
    std::string_view authority = rest.substr(0, slash), path = rest.substr(slash), host, port;
    if (authority.starts_with('[')) {
        const auto end = authority.find(']');
        if (end == authority.npos) return wrong();
        host = authority.substr(1, end - 1);
        if (host.empty() || host.find_first_not_of("0123456789abcdefABCDEF:.") != host.npos) return wrong();
        port = authority.substr(end + 1);
    } else {
        const auto colon = std::min(authority.find(':'), authority.size());
        host = authority.substr(0, colon);
        if (!is_host(host)) return wrong();
        port = authority.substr(colon);
    }
    if (!port.empty()) {
        int number = 0;
        const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
        if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || number < 1 ||
            number > 65535)
            return wrong();
    }
    while (path.ends_with('/')) path.remove_suffix(1);
    if (!std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; }))
        return wrong();
    const bool here = host == "localhost" || host == "::1" ||
                      (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
    if (!tls && !here) return fail(Code::invalid, "must be https: http is only for servers on this machine");
    into.tls = tls;
    into.server_name = host;
    into.path = path;
    into.address = fmt::format(fmt::runtime(host.contains(':') ? "[{}]{}" : "{}{}"), host,
                               port.empty() ? (tls ? ":443" : ":80") : port);
    return {};
}

Result<Access> read_kubeconfig(std::string_view text, std::string_view context, const std::string& folder,
                               const ReadFile& read_file) {
    const auto value = parse_yaml(text);
    if (!value)
        return fail(Code::invalid, fmt::format("the kubeconfig cannot be read: {}", value.error().message));
    if (value->is_null()) return fail(Code::invalid, "the kubeconfig is empty");
    return Kubeconfig{*value, folder, read_file}.access(context);
}

Result<Access> load_kubeconfig(const std::string& path, std::string_view context) {
    const auto text = TRY(read_small_file(path));
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(path, ignored).parent_path().string();
    auto access = read_kubeconfig(text, context, folder, read_small_file);
    if (!access) access.error().message = fmt::format("{}: {}", path, access.error().message);
    return access;
}

Result<std::string> read_small_file(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found)
        return fail(Code::not_found, fmt::format("the file {} does not exist", safe_line(path)));
    std::ifstream in{path, std::ios::binary};
    if (!in || status.type() == std::filesystem::file_type::directory)
        return fail(Code::unavailable, fmt::format("the file {} cannot be read", safe_line(path)));
    std::string text(file_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > file_bytes_max)
        return fail(Code::invalid,
                    fmt::format("the file {} is larger than {} bytes", safe_line(path), file_bytes_max));
    return text;
}

}  // namespace hostler::kubernetes
