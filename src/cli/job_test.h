// For tests of jobs: an API with one job, whose tasks write what they are told to.
#pragma once

#include <csignal>
#include <map>

#include "api/operations_job.h"
#include "api/operations_spec.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {

class JobTest : public CliTest {
protected:
    struct Log {
        std::string text;
        bool ended = false;
        std::string errors{};  // Asked for by themselves.
    };

    JobTest() {
        job = {
            .id = "j-1", .name = "train", .tenant_id = "acme", .project = "default", .spec_name = "h100-1"};
        specs = {{"h100-8", "64", "512Gi", "H100 SXM5 80GB", 8},
                 {"h100-1", "8", "64Gi", "H100 SXM5 80GB", 1},
                 {"l4-1", "4", "16Gi", "L4", 1},
                 {"h100-1-big", "32", "256Gi", "H100 SXM5 80GB", 1}};
        serve();
        serve_logs();
        world.next_signal = [this]() -> Task<int> {
            CO_TRY(co_await came.wait());
            co_return number;
        };
    }

    void serve() {
        api.handlers.on<api::ops::list_specs>([this](api::Call, api::Empty) -> Task<api::List<api::Spec>> {
            co_return api::List<api::Spec>{.items = specs};
        });
        api.handlers.on<api::ops::submit_job>([this](api::Call, api::SubmitJob asked) -> Task<api::Job> {
            if (refusal) co_return std::unexpected(*refusal);
            submitted.push_back(asked);
            job.state = api::JobState::pending;
            job.running.clear();
            job.ends.clear();
            logs.clear();
            job.exit_code.reset();
            job.name = asked.name;
            job.tasks = asked.tasks;
            job.gang = asked.gang;
            job.array = asked.array;
            co_return job;
        });
        api.handlers.on<api::ops::get_job>([this](api::Call, api::NameJob asked) -> Task<api::Job> {
            if (away) co_return fail(Code::unavailable, "no master answers");
            if (asked.job != job.id && asked.job != job.name)
                co_return fail(Code::not_found, "there is no job");
            co_return job;
        });
        api.handlers.on<api::ops::cancel_job>([this](api::Call, api::NameJob) -> Task<api::Job> {
            ++cancelled;
            if (cancel_fails) co_return fail(Code::forbidden, "not yours");
            finish(api::JobState::cancelled, "cancelled");
            co_return job;
        });
        api.handlers.on<api::ops::explain_job>(
            [this](api::Call, api::NameJob) -> Task<api::JobExplanation> { co_return why; });
        api.handlers.on<api::ops::hold_job>(
            [this](api::Call, api::NameJob) -> Task<api::Job> { co_return job; });
        api.handlers.on<api::ops::release_job>(
            [this](api::Call, api::NameJob) -> Task<api::Job> { co_return job; });
    }

    void serve_logs() {
        api.handlers.on<api::ops::get_job_logs>([this](api::Call, api::GetJobLogs asked) -> Task<api::Logs> {
            tails.push_back(asked.tail);
            if (log_refusal) co_return std::unexpected(*log_refusal);
            const auto found = logs.find({asked.rank, asked.index.value_or(-1), asked.attempt.value_or(1)});
            if (found == logs.end())
                co_return fail(Code::conflict, "job train has no such task that has begun", "not_running");
            const auto from = static_cast<std::size_t>(std::atoll(asked.after.c_str()));
            if (asked.stream == api::LogStream::err)
                co_return api::Logs{.text = from == 0 ? found->second.errors : "",
                                    .next = std::to_string(found->second.errors.size()),
                                    .ended = found->second.ended};
            co_return api::Logs{.text = found->second.text.substr(from),
                                .next = std::to_string(found->second.text.size()),
                                .ended = found->second.ended};
        });
    }

    // A task begins. `index` -1: of no array.
    Log& begin(std::int64_t rank = 0, std::int64_t attempt = 1, std::int64_t index = -1) {
        job.state = api::JobState::running;
        api::JobTask task{.instance = "i", .rank = rank, .attempt = attempt, .state = "running"};
        if (index >= 0) task.index = index;
        job.running.push_back(task);
        return logs[{rank, index, attempt}];
    }
    // An attempt of an element ends, with as many instances.
    void end(std::string reason, std::optional<int> exit_code, std::int64_t rank = 0,
             std::int64_t attempt = 1, std::size_t instances = 1) {
        std::erase_if(job.running, [&](const api::JobTask& task) {
            return task.rank >= rank && task.rank < rank + static_cast<std::int64_t>(instances);
        });
        for (auto& [key, log] : logs)
            if (std::get<2>(key) == attempt) log.ended = true;
        job.ends.push_back({.rank = rank,
                            .attempt = attempt,
                            .reason = std::move(reason),
                            .exit_code = exit_code,
                            .instances = std::vector<std::string>(instances, "i")});
    }
    void finish(api::JobState state, std::string reason, std::optional<int> exit_code = std::nullopt) {
        job.state = state;
        job.reason = std::move(reason);
        job.message = state == api::JobState::failed ? "1 of 1 elements failed" : "it was so";
        job.exit_code = exit_code;
        job.running.clear();
        for (auto& [key, log] : logs) log.ended = true;
    }
    void press(int signal) {
        number = signal;
        came.notify_all();
        timers.settle();
    }

    api::Job job;
    std::vector<api::Spec> specs;
    std::vector<api::SubmitJob> submitted;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Log> logs;  // By rank, index, attempt.
    std::vector<int> tails;
    api::JobExplanation why{.token = "insufficient_capacity", .sentence = "No host has a free GPU."};
    std::optional<Error> refusal;
    std::optional<Error> log_refusal;
    bool away = false;
    bool cancel_fails = false;
    int cancelled = 0;
    Signal came;
    int number = 0;
};

}  // namespace hostler::cli
