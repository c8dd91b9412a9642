#include "adapters/docker/transfer.h"

#include <fmt/format.h>
#include <boost/json.hpp>
#include <cstring>

#include "adapters/docker/exec.h"
#include "core/base64.h"
#include "core/signal.h"

namespace hostler::docker {

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::size_t error_bytes_max = 64 * 1024;

// What both are not: a command.
class Transfer : public Process {
public:
    Task<ProcessOutput> read(std::span<char>) override { co_return ProcessOutput{}; }
    Task<> write(std::string_view) override { co_return fail(Code::unavailable, "it takes no files"); }
    Task<> finish() override { co_return Result<>{}; }
    Task<> resize(TerminalSize) override { co_return Result<>{}; }
    Task<> signal(std::string) override { co_return Result<>{}; }
};

class FromContainer final : public Transfer {
public:
    explicit FromContainer(http::ReplyPtr reply) : reply_(std::move(reply)) {}
    Task<ProcessOutput> read(std::span<char> into) override {
        if (closed_) co_return fail(Code::cancelled, "the transfer was given up");
        co_return ProcessOutput{CO_TRY(co_await reply_->read(into))};
    }
    Task<int> exit_code() override { co_return 0; }
    void close() override { closed_ = true; }

private:
    http::ReplyPtr reply_;
    bool closed_ = false;
};

class ToContainer final : public Transfer {
    struct State {
        std::string_view piece;  // Not yet taken; its writer waits.
        bool finished = false;
        bool done = false;
        std::optional<Error> error;
        Signal changed;
    };

public:
    ToContainer(Loop& loop, http::Client& client, http::Endpoint engine, std::string target,
                std::function<Error(int, std::string_view)> refused)
        : tasks_(loop) {
        tasks_.start("files for a container",
                     send(state_, client, std::move(engine), std::move(target), std::move(refused)));
    }
    ~ToContainer() override { close(); }

    // It has nothing to say, and tells so when all is unpacked.
    Task<ProcessOutput> read(std::span<char>) override {
        const auto state = state_;
        while (!state->done) CO_TRY(co_await state->changed.wait());
        co_return ProcessOutput{};
    }
    Task<> write(std::string_view bytes) override {
        const auto state = state_;
        state->piece = bytes;
        state->changed.notify_all();
        while (!state->piece.empty() && !state->done) {
            const auto waited = co_await state->changed.wait();
            if (!waited) {
                state->piece = {};
                state->done = true;
                co_return waited;
            }
        }
        if (state->done) co_return fail(Code::unavailable, "the container has stopped taking files");
        co_return Result<>{};
    }
    Task<> finish() override {
        state_->finished = true;
        state_->changed.notify_all();
        co_return Result<>{};
    }
    Task<int> exit_code() override {
        if (state_->error) co_return std::unexpected(*state_->error);
        co_return 0;
    }
    void close() override {
        if (!state_->done) state_->error = Error{Code::cancelled, "the transfer was given up"};
        state_->done = true;
        state_->piece = {};
        tasks_.cancel();
        state_->changed.notify_all();
    }

private:
    static Task<> send(std::shared_ptr<State> state, http::Client& client, http::Endpoint engine,
                       std::string target, std::function<Error(int, std::string_view)> refused) {
        http::Call call{.request = {.method = "PUT", .target = std::move(target)}};
        call.request.headers.set("Host", "engine");
        call.request.headers.set("Content-Type", "application/x-tar");
        call.patience = {.head = transfer_idle_time, .idle = transfer_idle_time};
        call.source = [state](std::span<char> into) -> Task<std::size_t> {
            while (state->piece.empty()) {
                if (state->done) co_return fail(Code::cancelled, "the transfer was given up");
                if (state->finished) co_return std::size_t{0};
                CO_TRY(co_await state->changed.wait());
            }
            const std::size_t size = std::min(into.size(), state->piece.size());
            std::memcpy(into.data(), state->piece.data(), size);
            state->piece.remove_prefix(size);
            state->changed.notify_all();
            co_return size;
        };
        auto reply = co_await client.start(std::move(engine), std::move(call));
        if (!reply) {
            state->error = reply.error();
        } else if ((*reply)->status >= 300) {
            const auto body = co_await (*reply)->read_all(error_bytes_max);
            state->error = refused((*reply)->status, body.value_or(""));
        } else if (!state->finished) {
            state->error = Error{Code::unavailable, "the engine stopped taking files half-way"};
        }
        if (reply) (void)co_await (*reply)->close();
        state->done = true;
        state->changed.notify_all();
        co_return Result<>{};
    }

    std::shared_ptr<State> state_ = std::make_shared<State>();
    TaskGroup tasks_;
};

}  // namespace

ProcessPtr archive_from(http::ReplyPtr reply) { return std::make_unique<FromContainer>(std::move(reply)); }

ProcessPtr archive_to(Loop& loop, http::Client& client, http::Endpoint engine, std::string target,
                      std::function<Error(int, std::string_view)> refused) {
    return std::make_unique<ToContainer>(loop, client, std::move(engine), std::move(target),
                                         std::move(refused));
}

Result<PathFacts> parse_path_facts(std::string_view header) {
    boost::system::error_code wrong;
    const auto value = json::parse(base64_decoded(header), wrong);
    if (wrong || !value.is_object())
        return fail(Code::unavailable, "the engine does not tell what is at that path");
    const auto& object = value.get_object();
    PathFacts facts;
    if (const auto* name = object.if_contains("name"); name && name->is_string())
        facts.name = name->get_string();
    if (const auto* size = object.if_contains("size"); size && size->is_int64() && size->get_int64() > 0)
        facts.size = static_cast<std::uint64_t>(size->get_int64());
    if (const auto* link = object.if_contains("linkTarget"); link && link->is_string())
        facts.link = link->get_string();
    // The mode is as Go has it: kinds from the highest bit down, permissions as usual.
    constexpr std::uint64_t go_folder = 1U << 31, go_link = 1U << 27;
    if (const auto* mode = object.if_contains("mode"); mode && mode->is_number()) {
        const auto bits = mode->to_number<std::uint64_t>();
        facts.mode = static_cast<std::uint32_t>(bits & 0777);
        facts.folder = (bits & go_folder) != 0;
        if ((bits & go_link) == 0) facts.link.clear();
    }
    return facts;
}

Task<PathFacts> DockerExec::look(std::string container, std::string path) {
    const auto where = target(container_path(container, "/archive"), {{"path", path}});
    auto reply = CO_TRY(co_await ask("HEAD", where, "", 15s));
    // An answer to HEAD has no words: which of the two is missing is asked.
    if (reply->status == 404) co_return std::unexpected(CO_TRY(co_await missing(container, path)));
    const auto header = reply->headers.find("X-Docker-Container-Path-Stat");
    if (reply->status >= 300 || !header) co_return std::unexpected(refused(reply->status, "", container));
    co_return parse_path_facts(*header);
}

Task<Error> DockerExec::missing(std::string container, std::string path) {
    const auto there = CO_TRY(co_await api_.call("GET", container_path(container, "/json"), 15s));
    if (there.status == 404)
        co_return Error{Code::not_found, fmt::format("there is no container {}", container)};
    co_return Error{Code::not_found, fmt::format("there is no {} in the instance", path), "path_not_found"};
}

Task<ProcessPtr> DockerExec::read_files(std::string container, std::string path) {
    const auto where = target(container_path(container, "/archive"), {{"path", path}});
    auto reply = CO_TRY(co_await ask("GET", where, "", transfer_idle_time));
    if (reply->status == 404) co_return std::unexpected(CO_TRY(co_await missing(container, path)));
    if (reply->status >= 300)
        co_return std::unexpected(
            refused(reply->status, CO_TRY(co_await reply->read_all(error_bytes_max)), container));
    co_return archive_from(std::move(reply));
}

Task<ProcessPtr> DockerExec::write_files(std::string container, std::string folder) {
    const auto where = "/v1.41" + target(container_path(container, "/archive"), {{"path", folder}});
    co_return archive_to(
        loop_, client_, {"unix:" + api_.socket()}, where,
        [this, container](int status, std::string_view body) { return refused(status, body, container); });
}

}  // namespace hostler::docker
