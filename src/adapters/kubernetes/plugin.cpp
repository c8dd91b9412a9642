#include "adapters/kubernetes/plugin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "adapters/kubernetes/codec.h"
#include "core/base64.h"
#include "core/safe_text.h"
#include "core/spawn.h"

extern char** environ;

namespace hostler::kubernetes {

namespace {

constexpr std::size_t error_bytes_max = 4096;
constexpr std::size_t error_shown_max = 300;

class Descriptor {
public:
    Descriptor() = default;
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void close() {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
    int fd = -1;
};

// One of the plugin's outputs: what was read of it, up to a bound.
struct Output {
    Descriptor ours{}, theirs{};
    std::string text{};
    std::size_t bytes_max = 0;
    bool beyond = false;

    bool open() {
        int pair[2];
        if (::pipe2(pair, O_CLOEXEC) != 0) return false;
        ours.fd = pair[0];
        theirs.fd = pair[1];
        return ::fcntl(ours.fd, F_SETFL, O_NONBLOCK) == 0;
    }
    void read() {
        char piece[4096];
        const auto size = ::read(ours.fd, piece, sizeof piece);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size <= 0) return ours.close();
        beyond |= text.size() + static_cast<std::size_t>(size) > bytes_max;
        text.append(piece, std::min(static_cast<std::size_t>(size), bytes_max - text.size()));
    }
};

// Reads both outputs to their ends. False: the deadline came first.
bool read_all(Output& out, Output& err, std::chrono::steady_clock::time_point end) {
    while (out.ours.fd >= 0 || err.ours.fd >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd ready[] = {{out.ours.fd, POLLIN, 0}, {err.ours.fd, POLLIN, 0}};
        if (::poll(ready, 2, static_cast<int>(std::min<long>(left.count(), 1 << 30))) < 0 && errno != EINTR)
            return false;
        if (ready[0].revents) out.read();
        if (ready[1].revents) err.read();
    }
    return true;
}

// The program may have closed its outputs and still run.
std::optional<int> wait_until(pid_t pid, std::chrono::steady_clock::time_point end) {
    while (true) {
        if (const auto code = ended(pid)) return code;
        if (std::chrono::steady_clock::now() >= end) return std::nullopt;
        constexpr int poll_ms = 5;
        ::poll(nullptr, 0, poll_ms);
    }
}

std::vector<std::string> environment_of(const Access& access) {
    std::vector<std::string> all;
    const auto& own = access.exec->environment;
    const auto set_here = [&](std::string_view variable) {
        const auto name = variable.substr(0, variable.find('='));
        return name == "KUBERNETES_EXEC_INFO" ||
               std::ranges::any_of(own, [&](const auto& one) { return one.first == name; });
    };
    for (char** one = environ; *one; ++one)
        if (!set_here(*one)) all.emplace_back(*one);
    for (const auto& [name, value] : own) all.push_back(name + "=" + value);
    all.push_back("KUBERNETES_EXEC_INFO=" + plugin_info(access));
    return all;
}

std::string first_line(std::string_view text) {
    const auto start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos) return "it says nothing on its standard error";
    text.remove_prefix(start);
    return safe_line(text.substr(0, std::min(text.find('\n'), error_shown_max)));
}

std::unexpected<Error> wrong(const std::string& field, std::string_view why) {
    return std::unexpected(
        Error{Code::invalid, fmt::format("{} {}", field, why), {}, {{field, std::string{why}}}, {}});
}

Result<PluginCredential> outcome(const ExecPlugin& plugin, const Output& out, const Output& err, int code) {
    const auto& program = plugin.arguments[0];
    if (code != 0)
        return fail(
            Code::unauthenticated,
            fmt::format("the credential plugin '{}' ended with {}: {}", program, code, first_line(err.text)),
            "plugin_failed");
    if (out.beyond)
        return fail(Code::invalid,
                    fmt::format("the credential plugin '{}' printed more than {} bytes", program,
                                plugin_output_bytes_max),
                    "plugin_failed");
    auto read = read_credential(out.text, plugin.api_version);
    if (!read)
        read.error().message =
            fmt::format("the answer of the credential plugin '{}': {}", program, read.error().message);
    return read;
}

}  // namespace

std::string plugin_info(const Access& access) {
    json::object spec{{"interactive", false}};
    if (access.exec->cluster_info) {
        json::object cluster{
            {"server", fmt::format("{}://{}{}", access.tls ? "https" : "http", access.address, access.path)},
            {"tls-server-name", access.server_name}};
        if (!access.authority.empty()) cluster["certificate-authority-data"] = base64(access.authority);
        spec["cluster"] = std::move(cluster);
    }
    return json::serialize(json::object{
        {"kind", "ExecCredential"}, {"apiVersion", access.exec->api_version}, {"spec", std::move(spec)}});
}

Result<PluginCredential> read_credential(std::string_view output, const std::string& api_version) {
    const auto object = TRY(parse_object(output));
    if (text_at(object, {"kind"}) != "ExecCredential") return wrong("kind", "must be ExecCredential");
    if (text_at(object, {"apiVersion"}) != api_version)
        return wrong("apiVersion", fmt::format("must be {}, as the kubeconfig says", api_version));
    PluginCredential credential{std::string{text_at(object, {"status", "token"})},
                                std::string{text_at(object, {"status", "clientCertificateData"})},
                                std::string{text_at(object, {"status", "clientKeyData"})}};
    if (credential.token.empty() && credential.certificate.empty())
        return wrong("status", "must have a token or clientCertificateData");
    if (std::ranges::any_of(credential.token, [](char c) { return c <= ' ' || c > '~'; }))
        return wrong("status.token", "holds a character that a token may not");
    if (credential.certificate.empty() != credential.key.empty())
        return wrong("status.clientKeyData", "is required with clientCertificateData");
    if (const auto text = text_at(object, {"status", "expirationTimestamp"}); !text.empty()) {
        const auto time = parse_rfc3339(text);
        if (!time) return wrong("status.expirationTimestamp", "must be a time as 2026-11-21T11:40:29Z");
        credential.expires = *time;
    }
    return credential;
}

Result<PluginCredential> run_plugin(const Access& access, std::chrono::milliseconds deadline) {
    const ExecPlugin& plugin = access.exec.value();
    const auto end = std::chrono::steady_clock::now() + deadline;
    Output out{.bytes_max = plugin_output_bytes_max}, err{.bytes_max = error_bytes_max};
    Descriptor null;
    null.fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!out.open() || !err.open() || null.fd < 0)
        return fail(Code::unavailable, fmt::format("cannot run the credential plugin '{}': {}",
                                                   plugin.arguments[0], std::strerror(errno)));
    auto pid = spawn(plugin.arguments, {.streams = {{null.fd, 0}, {out.theirs.fd, 1}, {err.theirs.fd, 2}},
                                        .own_group = true,
                                        .environment = environment_of(access)});
    if (!pid) {
        pid.error().message = fmt::format("the credential plugin: {}", pid.error().message);
        pid.error().help = plugin.install_hint;
        return std::unexpected(std::move(pid).error());
    }
    out.theirs.close();
    err.theirs.close();
    std::optional<int> code;
    if (read_all(out, err, end)) code = wait_until(*pid, end);
    ::kill(-*pid, SIGKILL);  // Whatever it left running, too.
    if (code) return outcome(plugin, out, err, *code);
    wait_end(*pid);
    return fail(Code::timeout, fmt::format("the credential plugin '{}' did not end within {} ms",
                                           plugin.arguments[0], deadline.count()));
}

}  // namespace hostler::kubernetes
