// What containers wrote: from the engine's file where that can be read, else from the engine.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/docker/engine.h"
#include "adapters/docker/frames.h"

namespace hostler::docker {

namespace {

constexpr std::size_t known_max = 4096;
constexpr std::size_t asked_bytes_max = 16 << 20;  // Of what an engine answers.
constexpr std::size_t pieces_of_a_line = 64;       // Docker counts each as a line.

}  // namespace

Task<> DockerEngine::note_log(Inspected there) {
    if (logs_known_.size() >= known_max) logs_known_.clear();
    logs_known_[there.container.name] = {there.id, there.log};
    if (!there.log || there.log->format != LogFormat::k8s) co_return Result<>{};
    co_return co_await run_on<void>(worker_, [held = held_logs_, path = there.log->path]() -> Result<> {
        held->hold(path);
        return {};
    });
}

// Those that an earlier agent started.
Task<> DockerEngine::note_logs(std::vector<Inspected> running) {
    for (const auto& there : running) {
        const auto known = logs_known_.find(there.container.name);
        if (known != logs_known_.end() && known->second.id == there.id) continue;
        if (auto closer = co_await inspect(there.id); closer && *closer)
            CO_TRY(co_await note_log(std::move(**closer)));
        CO_TRY(co_await check_cancelled());
    }
    co_return Result<>{};
}

// Errors: not_found (there is no such container).
Task<std::optional<LogFile>> DockerEngine::log_file(std::string name) {
    auto there = CO_TRY(co_await inspect(name));
    if (!there) co_return fail(Code::not_found, fmt::format("container {} does not exist", name));
    auto file = there->log;
    CO_TRY(co_await note_log(std::move(*there)));
    co_return file;
}

Task<LogPart> DockerEngine::logs(std::string name, LogsWanted wanted) {
    const auto known = logs_known_.find(name);
    std::optional<LogFile> file;
    if (known != logs_known_.end()) file = known->second.file;
    const bool guess = file.has_value();
    if (!guess) file = CO_TRY(co_await log_file(name));
    const auto read = [&]() -> Task<LogPart> {
        return run_on<LogPart>(worker_, [file = *file, wanted] { return read_log(file, wanted); });
    };
    if (!file) co_return co_await ask_for_logs(std::move(name), wanted);
    auto part = co_await read();
    if (!part && part.error().code == Code::not_found && guess) {
        // Another container may have the name by now.
        file = CO_TRY(co_await log_file(name));
        if (file) part = co_await read();
    }
    if (part || part.error().code == Code::cancelled) co_return part;
    co_return co_await ask_for_logs(std::move(name), wanted);
}

Task<LogPart> DockerEngine::ask_for_logs(std::string name, LogsWanted wanted) {
    LogFrames frames{asked_bytes_max};
    Query query{{"stdout", "true"}, {"stderr", "true"}, {"timestamps", "true"}};
    const auto since =
        std::chrono::floor<std::chrono::seconds>(wanted.after ? wanted.after->time : wanted.since)
            .time_since_epoch()
            .count();
    if (since > 0) query.emplace_back("since", std::to_string(since));
    // Podman takes the square of this number in time.
    const bool tail = !wanted.after && CO_TRY(co_await traits()).dialect == Dialect::docker;
    const auto lines = std::min(wanted.lines_max, wanted.bytes_max) + pieces_of_a_line;
    if (tail) query.emplace_back("tail", std::to_string(lines));
    const auto path = target(container_path(name, "/logs"), query);
    const auto answer =
        CO_TRY(co_await api_.stream("GET", path, settings_.call_time, settings_.start_time,
                                    [&frames](std::string_view piece) { frames.feed(piece); }));
    // 409: dockerd is removing it.
    if (answer.status == 404 || answer.status == 409)
        co_return fail(Code::not_found, fmt::format("container {} does not exist", name));
    if (!answer.success()) {
        auto error = engine_error(answer.status, answer.body, fmt::format("container {} has no log", name));
        error.code = Code::unavailable;
        co_return std::unexpected(std::move(error));
    }
    const std::string log = frames.take();
    const auto pieces = log_pieces(log);
    co_return log_part(pieces, !frames.cut() && (!tail || pieces.size() < lines), wanted);
}

}  // namespace hostler::docker
