#include "cli/follow_job.h"

#include <fmt/format.h>

#include <boost/describe/enum_to_string.hpp>
#include <charconv>
#include <map>
#include <set>

#include "api/codec.h"
#include "api/operations_job.h"
#include "cli/render.h"
#include "cli/wait.h"
#include "core/safe_text.h"
#include "domain/job/array.h"

namespace hostler::cli {

namespace {

constexpr int tries_max = 60;  // In a row, each two seconds apart.
// Between questions.
constexpr Duration pause_min = std::chrono::milliseconds{500};
constexpr Duration pause_max = std::chrono::seconds{2};
constexpr int answers_max = 16;    // In a row of one task that still writes: the others have their turn.
constexpr int quiet_max = 60;      // Of a task that has no place, and whose instance has not ended.
constexpr int lost_tries_max = 5;  // Of a task that has no place, and whose host does not answer.

constexpr std::int64_t newest = 0;  // Attempt of a task, whichever it is.

// One attempt of one task.
struct Output {
    std::int64_t rank = 0;
    std::optional<std::int64_t> index;
    std::int64_t attempt = 1;
    api::LogStream stream = api::LogStream::both;
    api::Params place;  // Where the next question begins.
    bool asked = false;
    bool over = false;
    int quiet = 0;
    int tries = 0;
    std::string rest;  // The beginning of a line, or of a character.
};

// An index that is absent is before all others.
using TaskKey = std::pair<std::optional<std::int64_t>, std::int64_t>;

bool has_ended(std::string_view state) { return state == "stopped" || state == "failed" || state == "lost"; }

// The task still has a place.
bool is_active(const api::Job& job, const Output& output) {
    return std::ranges::any_of(job.running, [&](const api::JobTask& task) {
        return task.rank == output.rank && task.index == output.index && task.attempt == output.attempt &&
               !has_ended(task.state);
    });
}

bool covers(const api::JobEndShown& end, const TaskKey& key) {
    return end.index == key.first && end.rank <= key.second &&
           key.second < end.rank + std::max<std::int64_t>(1, std::ssize(end.instances));
}

// No further attempt of the task follows, as far as its ends tell: those of the newest attempts are shown.
bool is_final(const api::Job& job, const TaskKey& key) {
    std::int64_t counted = 0;
    bool final = false;
    for (const api::JobEndShown& end : job.ends) {
        if (!covers(end, key)) continue;
        const bool free =
            end.reason == "preempted" || end.reason == "host_lost" || end.reason == "host_removed";
        if (!free) ++counted;
        final = end.reason == "completed" || end.reason == "time_limit" || end.reason == "image_missing" ||
                (!free && counted > job.retries);
    }
    const bool again = std::ranges::any_of(job.running, [&](const api::JobTask& task) {
        return task.index == key.first && task.rank == key.second;
    });
    return final && !again;
}

JobArray array_of(const api::Job& job) {
    return job.array ? read_array(*job.array).value_or(JobArray{}) : JobArray{};
}

bool waits(const api::Job& job) {
    return job.state == api::JobState::pending || job.state == api::JobState::admitted ||
           job.state == api::JobState::starting || job.state == api::JobState::preempting;
}

class JobFollow {
public:
    JobFollow(CliWorld& world, ApiClient& client, JobFollowed what)
        : world_(world), client_(client), what_(std::move(what)) {}

    Task<api::Job> run() {
        for (Duration pause = pause_min;; pause = std::min(pause * 2, pause_max)) {
            trouble_ = false;
            const api::Job job = CO_TRY(co_await look());
            if (what_.rank && *what_.rank >= job.tasks)
                co_return fail(Code::not_found,
                               fmt::format("the tasks of job {} are 0 to {}", job.name, job.tasks - 1));
            begin(job);
            bool written = false;
            for (Output& output : outputs_) written |= CO_TRY(co_await read(output, is_active(job, output)));
            std::erase_if(outputs_, [](const Output& output) { return output.over; });
            if (outputs_.empty() && is_done(job)) {
                if (offer_missed(job)) continue;
                CO_TRY(write_ends(job));
                co_return job;
            }
            if (!is_over(job) && (waits(job) || followed_.empty()))
                CO_TRY(co_await tell_why());
            else
                why_.clear();
            if (written) pause = pause_min;
            CO_TRY(co_await sleep(world_.timers, trouble_ ? pause_max : pause));
        }
    }

private:
    // By its id from the second time on: another job may get its name.
    Task<api::Job> look() {
        ApiCall call{.operation = &api::ops::get_job, .params = {{"job", what_.job}}};
        if (!what_.tenant.empty()) call.query.emplace_back("tenantID", what_.tenant);
        if (!what_.project.empty()) call.query.emplace_back("project", what_.project);
        for (;;) {
            auto answer = co_await client_.call(call);
            if (!answer && begun_ && CO_TRY(co_await again(answer.error()))) continue;
            const json::value seen = CO_TRY(std::move(answer));
            tries_ = 0;
            api::Job job = CO_TRY(api::decode_stored<api::Job>(json::serialize(seen)));
            begun_ = true;
            if (!job.id.empty()) what_.job = job.id;
            co_return job;
        }
    }

    // After a pause, when the question may be answered then.
    Task<bool> again(Error error) {
        if (!may_pass(error) || ++tries_ > tries_max) co_return false;
        if (tries_ == 1) world_.err(fmt::format("{}; asking again\n", safe_line(error.message)));
        CO_TRY(co_await sleep(world_.timers, pause_max));
        co_return true;
    }

    bool is_done(const api::Job& job) const {
        if (is_over(job)) return true;
        if (!what_.rank || followed_.empty()) return false;
        const TaskKey& key = followed_.begin()->first;
        if (!what_.attempt) return is_final(job, key);
        return true;  // It was read to its end.
    }

    // ---- attempts

    bool is_wanted(const Output& output) const {
        if (what_.attempt && output.attempt != *what_.attempt) return false;
        return !what_.rank || (output.rank == *what_.rank && output.index == what_.index);
    }

    void begin(const api::Job& job) {
        if (what_.rank && job.array && !what_.index) {
            std::int64_t first = 0;
            std::from_chars(job.array->data(), job.array->data() + job.array->size(), first);
            what_.index = first;
        }
        std::vector<Output> fresh;
        const auto offer = [&](Output output) {
            std::int64_t& seen = followed_of(output);
            if (!is_wanted(output) || output.attempt <= seen) return;
            seen = output.attempt;
            fresh.push_back(std::move(output));
        };
        for (const api::JobEndShown& end : job.ends)
            for (std::size_t i = 0; i < end.instances.size(); ++i)
                offer({.rank = end.rank + static_cast<std::int64_t>(i),
                       .index = end.index,
                       .attempt = end.attempt});
        for (const api::JobTask& task : job.running)
            offer({.rank = task.rank, .index = task.index, .attempt = task.attempt});
        std::erase_if(followed_, [](const auto& one) { return one.second == 0; });
        // Earlier attempts were not asked for.
        if (what_.rank && !any_ && fresh.size() > 1) fresh.erase(fresh.begin(), fresh.end() - 1);
        for (Output& output : fresh) {
            if (any_) tell_attempt(job, output);
            output.place = {{"tail", "10000"}};
            if (what_.rank && !any_) output.place = what_.first;
            add(std::move(output));
        }
        any_ = any_ || !fresh.empty();
    }

    // A job shows its latest ends only: elements that began and ended between two looks are asked for at
    // last.
    bool offer_missed(const api::Job& job) {
        const auto array = array_of(job);
        if (std::exchange(missed_offered_, true) || what_.rank || !is_over(job) || job.gang) return false;
        const std::int64_t elements = array.ranges.empty() ? job.tasks : array.size();
        for (std::int64_t position = 0; position < elements; ++position) {
            Output output{.attempt = newest, .place = {{"tail", "10000"}}};
            if (array.ranges.empty())
                output.rank = position;
            else
                output.index = array.index_at(position);
            if (!followed_.contains({output.index, output.rank})) add(std::move(output));
        }
        return !outputs_.empty();
    }

    void add(Output output) {
        if (what_.files && what_.files->apart()) {
            output.stream = api::LogStream::err;
            outputs_.push_back(output);
            output.stream = api::LogStream::out;
        }
        outputs_.push_back(std::move(output));
    }

    std::int64_t& followed_of(const Output& output) { return followed_[{output.index, output.rank}]; }

    // Once for all ranks of a gang.
    void tell_attempt(const api::Job& job, const Output& output) {
        if (output.attempt == 1) return;
        const TaskKey key{output.index, output.rank};
        const TaskKey element{output.index, job.gang ? 0 : output.rank};
        if (!told_attempts_.insert({element, output.attempt}).second) return;
        std::string line = name(job);
        if (output.index) line += fmt::format(" index {}", *output.index);
        if (!job.gang && job.tasks > 1) line += fmt::format(" task {}", output.rank);
        line += fmt::format(": attempt {} begins", output.attempt);
        for (const api::JobEndShown& end : job.ends)
            if (covers(end, key) && end.attempt == output.attempt - 1) {
                line += fmt::format("; attempt {} ended: {}", end.attempt, end.reason);
                if (end.exit_code && *end.exit_code != 0) line += fmt::format(" {}", *end.exit_code);
            }
        world_.err(safe_line(line) + "\n");
    }

    static std::string name(const api::Job& job) { return fmt::format("job/{}", job.name); }

    // ---- output

    ApiCall question(const Output& output) const {
        ApiCall call{.operation = &api::ops::get_job_logs, .params = {{"job", what_.job}}};
        if (!what_.tenant.empty()) call.query.emplace_back("tenantID", what_.tenant);
        call.query.emplace_back("rank", std::to_string(output.rank));
        if (output.index) call.query.emplace_back("index", std::to_string(*output.index));
        if (output.attempt != newest) call.query.emplace_back("attempt", std::to_string(output.attempt));
        if (output.stream != api::LogStream::both)
            call.query.emplace_back("stream", output.stream == api::LogStream::err ? "err" : "out");
        if (what_.timestamps) call.query.emplace_back("timestamps", "true");
        call.query.emplace_back("follow", "true");
        call.query.insert(call.query.end(), output.place.begin(), output.place.end());
        return call;
    }

    // Whether it has written something.
    Task<bool> read(Output& output, bool active) {
        bool written = false;
        for (int i = 0; !output.over && (i < answers_max || !active); ++i) {
            auto answer = co_await client_.call(question(output));
            if (!answer) {
                CO_TRY(co_await take_refusal(output, active, answer.error()));
                co_return written;
            }
            output.tries = 0;
            const std::string text = log_bytes(*answer);
            const std::string next = text_of(*answer, "next");
            const auto is = [&](std::string_view flag) {
                const json::value* set = answer->get_object().if_contains(flag);
                return set && set->is_bool() && set->get_bool();
            };
            const bool from_start = !what_.rank || output.attempt > 1;
            if (is("truncated") && (output.asked || from_start))
                world_.err("some lines are missing: they are no longer kept\n");
            output.asked = true;
            CO_TRY(take(output, text));
            // Lines of the other stream may lie between.
            bool more = !text.empty();
            if (!next.empty()) {
                api::Params behind{{"after", next}, {"tail", "10000"}};
                more |= output.stream != api::LogStream::both && output.place != behind;
                output.place = std::move(behind);
            }
            written |= !text.empty();
            if (more) continue;
            if (!active && (is("ended") || ++output.quiet > quiet_max)) end(output);
            break;
        }
        co_return written;
    }

    // A task without a container has no output so far; or its output is not kept.
    Task<> take_refusal(Output& output, bool active, Error error) {
        const bool none = error.reason == "not_running" || error.code == Code::not_found;
        if (none && !active) {
            if (!output.asked && output.attempt != newest)
                world_.err(fmt::format("{}\n", safe_line(error.message)));
            end(output);
        }
        if (none) co_return Result<>{};
        if (!may_pass(error) || ++output.tries > tries_max) co_return std::unexpected(std::move(error));
        if (!active && output.tries > lost_tries_max) {
            world_.err(fmt::format("the end of the output is missing: {}\n", safe_line(error.message)));
            end(output);
            co_return Result<>{};
        }
        if (output.tries == 1) world_.err(fmt::format("{}; asking again\n", safe_line(error.message)));
        trouble_ = true;
        co_return Result<>{};
    }

    void end(Output& output) {
        if (!output.rest.empty()) print(output, std::exchange(output.rest, {}), what_.prefix ? "\n" : "");
        output.over = true;
    }

    void print(const Output& output, std::string_view text, std::string_view behind) {
        world_.out(prefix(output) + (what_.terminal ? safe_log(text) : std::string{text}) +
                   std::string{behind});
    }

    // To its file, where it has one.
    Result<> take(Output& output, std::string_view bytes) {
        const bool error = output.stream == api::LogStream::err;
        if (!what_.files || !what_.files->takes(error)) {
            write(output, bytes);
            return {};
        }
        return what_.files->write(names_of(output.index, output.rank), error, bytes);
    }

    OutputNames names_of(std::optional<std::int64_t> index, std::int64_t rank) const {
        const std::string own = index ? fmt::format("{}_{}", what_.job, *index) : what_.job;
        return {.job = own, .array_job = what_.job, .array_index = index, .host = "hostler", .rank = rank};
    }

    // As Slurm writes it there.
    Result<> write_ends(const api::Job& job) {
        if (!what_.files) return {};
        for (const api::JobEndShown& end : job.ends)
            if (end.reason == "time_limit")
                TRY(what_.files->write(
                    names_of(end.index, end.rank), true,
                    fmt::format("hostler: error: *** JOB {} CANCELLED DUE TO TIME LIMIT ***\n", what_.job)));
        return {};
    }

    // Lines of several tasks come whole.
    void write(Output& output, std::string_view bytes) {
        if (!what_.prefix && !what_.terminal) return world_.out(bytes);
        output.rest.append(bytes);
        if (!what_.prefix) {
            const auto whole = output.rest.size() - unfinished_bytes(output.rest);
            world_.out(safe_log(std::string_view{output.rest}.substr(0, whole)));
            output.rest.erase(0, whole);
            return;
        }
        constexpr std::size_t line_max = std::size_t{1} << 20;
        std::size_t from = 0;
        for (auto to = output.rest.find('\n'); to != std::string::npos; to = output.rest.find('\n', from)) {
            print(output, std::string_view{output.rest}.substr(from, to - from), "\n");
            from = to + 1;
        }
        output.rest.erase(0, from);
        if (output.rest.size() > line_max) print(output, std::exchange(output.rest, {}), "\n");
    }

    std::string prefix(const Output& output) const {
        if (!what_.prefix) return {};
        if (!output.index) return fmt::format("[{}] ", output.rank);
        if (output.rank == 0) return fmt::format("[{}] ", *output.index);
        return fmt::format("[{}.{}] ", *output.index, output.rank);
    }

    // Once for each reason.
    Task<> tell_why() {
        ApiCall call{.operation = &api::ops::explain_job, .params = {{"job", what_.job}}};
        if (!what_.tenant.empty()) call.query.emplace_back("tenantID", what_.tenant);
        const auto answer = co_await client_.call(std::move(call));
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        if (!answer) co_return Result<>{};  // It is asked for again.
        const std::string token = text_of(*answer, "token");
        if (token.empty() || std::exchange(why_, token) == token) co_return Result<>{};
        world_.err(safe_line(text_of(*answer, "sentence")) + "\n");
        if (const auto help = text_of(*answer, "wouldHelp"); !help.empty())
            world_.err(fmt::format("  would help: {}\n", safe_line(help)));
        co_return Result<>{};
    }

    CliWorld& world_;
    ApiClient& client_;
    JobFollowed what_;
    std::vector<Output> outputs_;
    std::map<TaskKey, std::int64_t> followed_;  // The newest attempt that was begun.
    std::set<std::pair<TaskKey, std::int64_t>> told_attempts_;
    std::string why_;  // The reason that was told last.
    bool begun_ = false;
    bool missed_offered_ = false;
    bool any_ = false;      // Something was followed.
    bool trouble_ = false;  // A question of this round was not answered.
    int tries_ = 0;
};

}  // namespace

bool is_over(const api::Job& job) {
    return job.state == api::JobState::succeeded || job.state == api::JobState::failed ||
           job.state == api::JobState::cancelled;
}

int exit_of(const api::Job& job) {
    if (job.state == api::JobState::succeeded) return static_cast<int>(Exit::ok);
    const int code = job.exit_code.value_or(0);
    return code == 0 ? static_cast<int>(Exit::general) : code;
}

std::string end_of(const api::Job& job) {
    const std::string_view state = boost::describe::enum_to_string(job.state, "over");
    std::string text = fmt::format("job/{} {}", job.name, state);
    if (!job.reason.empty() && job.reason != state && job.reason != "completed")
        text += fmt::format(" ({})", job.reason);
    if (!job.message.empty()) text += ": " + job.message;
    return safe_line(text);
}

bool may_pass(const Error& error) {
    return error.code == Code::unavailable || error.code == Code::timeout || error.code == Code::exhausted;
}

Task<api::Job> follow_job(CliWorld& world, ApiClient& client, JobFollowed what) {
    JobFollow follow{world, client, std::move(what)};
    co_return co_await follow.run();
}

Task<json::value> wait_job(CliWorld& world, ApiClient& client, std::string job, std::string tenant,
                           Duration patience) {
    Progress progress{world};
    const Instant end = world.timers.now() + patience;
    std::string state = "pending";
    for (Duration pause = std::chrono::milliseconds{200};; pause = std::min(pause * 2, pause_max)) {
        ApiCall call{.operation = &api::ops::get_job, .params = {{"job", job}}};
        if (!tenant.empty()) call.query.emplace_back("tenantID", tenant);
        auto seen = co_await client.call(std::move(call));
        if (!seen && !may_pass(seen.error())) co_return seen;
        if (seen) {
            const auto shown = CO_TRY(api::decode_stored<api::Job>(json::serialize(*seen)));
            if (is_over(shown)) co_return seen;
            state = text_of(*seen, "state");
            progress.show(state, shown.message.empty() ? "" : fmt::format("{}: {}", state, shown.message));
        }
        if (world.timers.now() + pause > end) {
            if (!seen) co_return seen;
            co_return fail(Code::timeout,
                           fmt::format("job {} is still {}; it continues in the background", job, state));
        }
        CO_TRY(co_await sleep(world.timers, pause));
    }
}

}  // namespace hostler::cli
