#include "adapters/docker/exec.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "adapters/docker/bodies.h"
#include "adapters/docker/transfer.h"

namespace hostler::docker {

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr Duration call_time = 15s;
constexpr Duration end_time = 20s;  // From its last word until the engine knows its exit code.
constexpr Duration end_poll_max = 200ms;
constexpr Duration begin_patience = 2s;  // Until the engine knows that a process has begun.
constexpr std::size_t frame_header_bytes = 8;

constexpr auto signals = std::to_array<std::pair<std::string_view, int>>({
    {"HUP", SIGHUP},
    {"INT", SIGINT},
    {"QUIT", SIGQUIT},
    {"KILL", SIGKILL},
    {"USR1", SIGUSR1},
    {"USR2", SIGUSR2},
    {"TERM", SIGTERM},
    {"CONT", SIGCONT},
    {"STOP", SIGSTOP},
    {"TSTP", SIGTSTP},
    {"WINCH", SIGWINCH},
});

struct Status {
    bool running = false;
    bool ended = false;  // Neither: it has not begun.
    std::int64_t pid = 0;
    int code = 0;
};

Result<Status> parse_status(std::string_view body) {
    boost::system::error_code wrong;
    const auto value = json::parse(body, wrong);
    if (wrong || !value.is_object())
        return fail(Code::unavailable, "the engine does not tell how a command is");
    const auto& object = value.get_object();
    Status status;
    if (const auto* running = object.if_contains("Running"); running && running->is_bool())
        status.running = running->get_bool();
    if (const auto* pid = object.if_contains("Pid"); pid && pid->is_int64()) status.pid = pid->get_int64();
    if (const auto* code = object.if_contains("ExitCode"); code && code->is_int64())
        status.code = static_cast<int>(code->get_int64()), status.ended = !status.running;
    return status;
}

class Command final : public Process {
public:
    Command(Timers& timers, Api& api, std::string id, StreamPtr stream, bool terminal)
        : timers_(timers), api_(api), id_(std::move(id)), stream_(std::move(stream)), terminal_(terminal) {}
    ~Command() override { stream_->close(); }

    Task<ProcessOutput> read(std::span<char> into) override {
        while (true) {
            if (terminal_) co_return ProcessOutput{CO_TRY(co_await read_some(*stream_, into)), false};
            if (const auto piece = frames_.next(ahead_)) {
                const std::size_t size = std::min(into.size(), piece->bytes.size());
                std::memcpy(into.data(), piece->bytes.data(), size);
                // What had no room is the beginning of the next.
                frames_.give_back(piece->bytes.size() - size, ahead_);
                co_return ProcessOutput{size, piece->error};
            }
            const std::size_t size = CO_TRY(co_await read_some(*stream_, buffer_));
            if (size == 0) co_return ProcessOutput{};
            ahead_ = {buffer_.data(), size};
        }
    }

    Task<> write(std::string_view bytes) override { return write_all(*stream_, bytes); }

    Task<> finish() override {
        // A terminal has no end of input but this key.
        if (terminal_) co_return co_await write_all(*stream_, "\x04");
        co_return co_await stream_->finish();
    }

    Task<> resize(TerminalSize size) override {
        const auto path = target(fmt::format("/exec/{}/resize", id_),
                                 {{"h", std::to_string(size.rows)}, {"w", std::to_string(size.columns)}});
        const Instant end = timers_.now() + begin_patience;
        while (true) {
            const auto answer = CO_TRY(co_await api_.call("POST", path, call_time));
            if (answer.success()) co_return Result<>{};
            if (timers_.now() > end || CO_TRY(co_await status()).ended)
                co_return std::unexpected(
                    engine_error(answer.status, answer.body, "the terminal cannot be resized"));
            CO_TRY(co_await sleep(timers_, 20ms));
        }
    }

    // The API has no such call: the command is a process of this machine.
    Task<> signal(std::string name) override {
        const auto known =
            std::ranges::find(signals, std::string_view{name}, [](const auto& one) { return one.first; });
        if (known == signals.end()) co_return fail(Code::invalid, fmt::format("there is no signal {}", name));
        // An engine may pass on what a command says before it knows that the command runs.
        const Instant end = timers_.now() + begin_patience;
        Status now = CO_TRY(co_await status());
        while (!now.ended && (!now.running || now.pid <= 1) && timers_.now() < end) {
            CO_TRY(co_await sleep(timers_, 20ms));
            now = CO_TRY(co_await status());
        }
        if (!now.running || now.pid <= 1) co_return Result<>{};
        if (::kill(static_cast<pid_t>(now.pid), known->second) != 0 && errno != ESRCH)
            co_return fail(Code::unavailable,
                           fmt::format("signal {} cannot be sent: {}", name, std::strerror(errno)));
        co_return Result<>{};
    }

    Task<int> exit_code() override {
        const Instant end = timers_.now() + end_time;
        for (Duration pause = 2ms;; pause = std::min<Duration>(pause * 2, end_poll_max)) {
            const auto now = CO_TRY(co_await status());
            if (now.ended) co_return now.code;
            if (timers_.now() > end)
                co_return fail(Code::unavailable, "the command has closed its output and still runs",
                               "still_running");
            CO_TRY(co_await sleep(timers_, pause));
        }
    }

    void close() override { stream_->close(); }

private:
    Task<Status> status() {
        const auto answer = CO_TRY(co_await api_.call("GET", fmt::format("/exec/{}/json", id_), call_time));
        if (!answer.success())
            co_return std::unexpected(
                engine_error(answer.status, answer.body, "the engine does not tell how a command is"));
        co_return parse_status(answer.body);
    }

    Timers& timers_;
    Api& api_;
    const std::string id_;
    StreamPtr stream_;
    const bool terminal_;
    StreamFrames frames_;
    std::array<char, 16 * 1024> buffer_;
    std::string_view ahead_;  // Of buffer_.
};

}  // namespace

std::optional<StreamFrames::Piece> StreamFrames::next(std::string_view& bytes) {
    while (left_ == 0) {
        const std::size_t size = std::min(frame_header_bytes - header_.size(), bytes.size());
        header_.append(bytes.substr(0, size));
        bytes.remove_prefix(size);
        if (header_.size() < frame_header_bytes) return std::nullopt;
        error_ = header_[0] == 2;
        for (std::size_t i = 4; i < frame_header_bytes; ++i)
            left_ = left_ << 8 | static_cast<std::uint8_t>(header_[i]);
        header_.clear();
    }
    if (bytes.empty()) return std::nullopt;
    const std::size_t size = std::min<std::uint64_t>(left_, bytes.size());
    const Piece piece{bytes.substr(0, size), error_};
    bytes.remove_prefix(size);
    left_ -= size;
    return piece;
}

void StreamFrames::give_back(std::size_t size, std::string_view& bytes) {
    bytes = {bytes.data() - size, bytes.size() + size};
    left_ += size;
}

std::string exec_body(const ExecSpec& spec) {
    json::array command, environment;
    for (const auto& word : spec.command) command.emplace_back(word);
    for (const auto& [name, value] : spec.environment) environment.emplace_back(name + "=" + value);
    json::object body{{"AttachStdin", spec.input}, {"AttachStdout", true},
                      {"AttachStderr", true},      {"Tty", spec.terminal},
                      {"Cmd", std::move(command)}, {"Env", std::move(environment)}};
    if (!spec.user.empty()) body["User"] = spec.user;
    if (!spec.folder.empty()) body["WorkingDir"] = spec.folder;
    return json::serialize(body);
}

// dockerd does not know the size yet and lets it pass.
std::string exec_start_body(const ExecSpec& spec) {
    json::object body{{"Detach", false}, {"Tty", spec.terminal}};
    if (spec.terminal) {
        body["h"] = spec.size.rows;
        body["w"] = spec.size.columns;
    }
    return json::serialize(body);
}

DockerExec::DockerExec(Loop& loop, Net& net, Timers& timers, std::string socket)
    : loop_(loop), timers_(timers), api_(net, timers, socket), client_(net, timers, {.idle_max = 0}) {}

Task<ProcessPtr> DockerExec::start(ExecSpec spec) {
    if (spec.command.empty() || spec.command.front().empty())
        co_return fail(Code::invalid, "no command is named");
    const auto made = CO_TRY(
        co_await api_.call("POST", container_path(spec.container, "/exec"), call_time, exec_body(spec)));
    if (!made.success()) co_return std::unexpected(refused(made.status, made.body, spec.container));
    boost::system::error_code wrong;
    const auto answer = json::parse(made.body, wrong);
    const auto* id = !wrong && answer.is_object() ? answer.get_object().if_contains("Id") : nullptr;
    if (!id || !id->is_string()) co_return fail(Code::unavailable, "the engine made no command");
    std::string name{id->get_string()};
    auto reply =
        CO_TRY(co_await ask("POST", fmt::format("/exec/{}/start", name), exec_start_body(spec), call_time));
    if (reply->status != 101 && reply->status != 200)
        co_return std::unexpected(
            refused(reply->status, CO_TRY(co_await reply->read_all(64 * 1024)), spec.container));
    auto stream = CO_TRY(reply->take_stream());
    auto command =
        std::make_unique<Command>(timers_, api_, std::move(name), std::move(stream), spec.terminal);
    if (spec.terminal) {
        // A command that is gone already needs no size.
        const auto sized = co_await command->resize(spec.size);
        if (!sized && sized.error().code == Code::cancelled) co_return std::unexpected(sized.error());
    }
    co_return ProcessPtr{std::move(command)};
}

Task<http::ReplyPtr> DockerExec::ask(std::string method, std::string path, std::string body,
                                     Duration head_time) {
    http::Call call{.request = {.method = std::move(method), .target = "/v1.41" + path}};
    call.request.headers.set("Host", "engine");
    if (!body.empty()) {
        call.request.headers.set("Content-Type", "application/json");
        call.request.headers.set("Connection", "Upgrade");
        call.request.headers.set("Upgrade", "tcp");
        call.request.body = std::move(body);
    }
    call.patience = {.connect = call_time, .head = head_time, .idle = transfer_idle_time};
    auto reply = co_await client_.start({"unix:" + api_.socket()}, std::move(call));
    if (!reply && reply.error().code == Code::unavailable)
        co_return fail(Code::unavailable, fmt::format("the container engine at {} does not answer ({})",
                                                      api_.socket(), reply.error().message));
    co_return reply;
}

Error DockerExec::refused(int status, std::string_view body, const std::string& container) const {
    auto error = engine_error(status, body, fmt::format("container {}", container));
    if (status == 409 || error.message.find("not running") != std::string::npos ||
        error.message.find("state improper") != std::string::npos) {
        error.code = Code::conflict;
        error.reason = "not_running";
    }
    return error;
}

}  // namespace hostler::docker
