#include "adapters/docker/api.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/percent.h"

namespace hostler::docker {

namespace {

using namespace std::chrono_literals;

// Docker 20.10 and podman 4 speak it, and all after them.
constexpr std::string_view version_path = "/v1.41";
constexpr std::string_view libpod_version_path = "/v4.0.0";  // Podman's own calls: "/libpod/…".
constexpr Duration connect_time = 3s;
constexpr Duration ping_time = 2s;
constexpr Duration ready_poll = 50ms;
constexpr std::size_t answer_bytes_max = 16 << 20;
constexpr std::size_t piece_bytes = 32 * 1024;
constexpr std::size_t line_piece_bytes = 4096, line_bytes_max = 64 * 1024;

std::string versioned(std::string_view path) {
    return fmt::format("{}{}", path.starts_with("/libpod/") ? libpod_version_path : version_path, path);
}

// The file is read as it is sent: it was written just now, so that it comes from memory.
Result<> send_file(http::Call& call, const std::filesystem::path& path) {
    struct Open {
        int file = -1;
        ~Open() {
            if (file >= 0) ::close(file);
        }
    };
    const auto open = std::make_shared<Open>();
    open->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (open->file < 0 || ::fstat(open->file, &status) != 0)
        return fail(Code::unavailable, fmt::format("cannot read {}", path.string()));
    call.source_size = static_cast<std::uint64_t>(status.st_size);
    call.source = [open](std::span<char> into) -> Task<std::size_t> {
        const auto size = ::read(open->file, into.data(), into.size());
        if (size < 0) co_return fail(Code::unavailable, "cannot read the archive that is sent");
        co_return static_cast<std::size_t>(size);
    };
    return {};
}

}  // namespace

std::string target(std::string_view path, const Query& query) {
    std::string out{path};
    char separator = '?';
    for (const auto& [name, value] : query) {
        out += fmt::format("{}{}={}", separator, name, percent_encode(value));
        separator = '&';
    }
    return out;
}

std::string container_path(std::string_view name, std::string_view verb) {
    return fmt::format("/containers/{}{}", percent_encode(name), verb);
}

// No connection is kept: an engine that restarts leaves no dead ones, and a new one to a unix socket costs
// nothing.
Api::Api(Net& net, Timers& timers, std::string socket)
    : socket_(std::move(socket)), client_(net, timers, {.idle_max = 0}) {}

Error Api::explain(Error error) const {
    if (error.code == Code::timeout)
        error.message =
            fmt::format("the container engine at {} did not answer in time ({})", socket_, error.message);
    if (error.code == Code::unavailable)
        error.message =
            fmt::format("the container engine at {} does not answer ({})", socket_, error.message);
    return error;
}

Task<Answer> Api::call(std::string method, std::string path, Duration within, std::string body,
                       std::string type) {
    http::Request request{.method = std::move(method), .target = versioned(path)};
    request.headers.set("Host", "engine");
    if (!body.empty()) request.headers.set("Content-Type", std::move(type));
    request.body = std::move(body);
    const http::Patience patience{.connect = connect_time, .head = within, .idle = within, .total = within};
    auto response =
        co_await client_.fetch({"unix:" + socket_}, std::move(request), patience, answer_bytes_max);
    if (!response) co_return std::unexpected(explain(std::move(response).error()));
    co_return Answer{response->status, std::move(response->body)};
}

Task<Answer> Api::stream(std::string method, std::string path, Duration idle, Duration within,
                         std::function<void(std::string_view)> each, Payload archive, std::string login) {
    http::Call call{.request = {.method = std::move(method), .target = versioned(path)}};
    if (!archive.bytes.empty() || !archive.file.empty())
        call.request.headers.set("Content-Type", "application/x-tar");
    call.request.body = std::move(archive.bytes);
    if (!archive.file.empty()) CO_TRY(send_file(call, archive.file));
    call.request.headers.set("Host", "engine");
    if (!login.empty()) call.request.headers.set("X-Registry-Auth", std::move(login));
    call.patience = {.connect = connect_time, .head = idle, .idle = idle, .total = within};
    auto reply = co_await client_.start({"unix:" + socket_}, std::move(call));
    if (!reply) co_return std::unexpected(explain(std::move(reply).error()));
    Answer answer{(*reply)->status, {}};
    const auto piece = std::make_unique<char[]>(piece_bytes);
    while (true) {
        const auto size = co_await (*reply)->read({piece.get(), piece_bytes});
        if (!size) co_return std::unexpected(explain(size.error()));
        if (*size == 0) break;
        const std::string_view text{piece.get(), *size};
        if (answer.success())
            each(text);
        else if (answer.body.size() < piece_bytes)
            answer.body.append(text);
    }
    co_return answer;
}

Task<> Api::follow(std::string path, Duration head, Duration idle, std::function<void()> begun,
                   std::function<void(std::string_view line)> each) {
    http::Call call{.request = {.method = "GET", .target = versioned(path)}};
    call.request.headers.set("Host", "engine");
    call.patience = {.connect = connect_time, .head = head, .idle = idle};
    auto reply = co_await client_.start({"unix:" + socket_}, std::move(call));
    if (!reply) co_return std::unexpected(explain(std::move(reply).error()));
    if ((*reply)->status != 200)
        co_return fail(Code::unavailable,
                       fmt::format("the container engine at {} answers {}", socket_, (*reply)->status));
    begun();
    std::string held;
    const auto piece = std::make_unique<char[]>(line_piece_bytes);
    while (true) {
        const auto size = co_await (*reply)->read({piece.get(), line_piece_bytes});
        if (!size) co_return std::unexpected(explain(size.error()));
        if (*size == 0) co_return Result<>{};
        held.append(piece.get(), *size);
        std::size_t at = 0;
        for (auto end = held.find('\n'); end != held.npos; end = held.find('\n', at)) {
            each(std::string_view{held}.substr(at, end - at));
            at = end + 1;
        }
        held.erase(0, at);
        if (held.size() > line_bytes_max)
            co_return fail(Code::exhausted,
                           fmt::format("the container engine at {} tells too long a thing", socket_));
    }
}

std::vector<std::string> usual_sockets() {
    std::vector<std::string> sockets;
    constexpr std::string_view scheme = "unix://";
    if (const char* host = std::getenv("DOCKER_HOST"); host && std::string_view(host).starts_with(scheme))
        sockets.emplace_back(host + scheme.size());
    sockets.insert(sockets.end(), {"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"});
    if (const char* folder = std::getenv("XDG_RUNTIME_DIR"))
        sockets.push_back(fmt::format("{}/podman/podman.sock", folder));
    return sockets;
}

Task<std::string> find_engine_socket(Net& net, Timers& timers, std::vector<std::string> sockets) {
    std::string looked;
    for (const auto& socket : sockets) {
        Api api{net, timers, socket};
        const auto answer = co_await api.call("GET", "/_ping", ping_time);
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        if (answer && answer->success()) co_return socket;
        looked += (looked.empty() ? "" : ", ") + socket;
    }
    co_return fail(Code::not_found, fmt::format("no container engine answers at {}", looked));
}

Task<> wait_for_engine(Net& net, Timers& timers, std::string socket, Duration within) {
    const auto end = timers.now() + within;
    Api api{net, timers, socket};
    while (true) {
        const auto answer = co_await api.call("GET", "/_ping", ping_time);
        if (answer && answer->success()) co_return Result<>{};
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        if (timers.now() >= end)
            co_return fail(Code::timeout, fmt::format("the container engine at {} is not ready", socket));
        CO_TRY(co_await sleep(timers, ready_poll));
    }
}

}  // namespace hostler::docker
