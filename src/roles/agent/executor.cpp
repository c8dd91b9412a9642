#include "roles/agent/executor.h"

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"
#include "roles/agent/messages.h"

namespace hostler::agent {

namespace {

// Counts what runs, whichever way it ends.
struct Slot {
    std::size_t& running;
    Signal& ended;
    Slot(std::size_t& count, Signal& signal) : running(count), ended(signal) { ++running; }
    ~Slot() {
        --running;
        ended.notify_one();
    }
    Slot(const Slot&) = delete;
};

std::string_view verb_of(const uplink::Command& command) {
    using enum uplink::Command::ActionCase;
    switch (command.action_case()) {
        case kStartWorkload: return "start";
        case kStopWorkload: return "stop";
        case kEnsureNetwork: return "ensure network";
        case kRemoveNetwork: return "remove network";
        case kCreateVolume: return "create volume";
        case kDeleteVolume: return "delete volume";
        case kPullImage: return "pull image";
        case kTestGpu: return "test GPU";
        case kMeasureHost: return "measure";
        case kProveGpus: return "challenge";
        case kNodeStep: return "do a step of a cluster's node";
        case kNodeClean: return "look for leftovers of a cluster's node";
        case ACTION_NOT_SET: break;
    }
    return "do what a newer master means by";
}

}  // namespace

Executor::Job::Job(uplink::Command&& of) : kept(std::make_shared<uplink::Command>(std::move(of))) {}

Executor::Executor(const Settings& settings, const Ports& ports, CommandBook& book, Workloads& workloads,
                   Leases& leases, Hooks hooks)
    : settings_(settings),
      ports_(ports),
      book_(book),
      workloads_(workloads),
      leases_(leases),
      hooks_(std::move(hooks)),
      tenant_ids_(ports.journal),
      private_images_(ports.journal),
      silent_(ports),
      tasks_(ports.loop) {}

Executor::~Executor() = default;

void Executor::begin() {
    for (auto& command : book_.unfinished()) {
        log_info("command {} was begun before this start and continues", command.id());
        enqueue(std::move(command), true);
    }
    tasks_.start("commands", admit_all());
}

void Executor::take(uplink::Command command) {
    auto kept = std::make_shared<const uplink::Command>(std::move(command));
    if (!arrivals_.try_push(kept))
        log_warn("command {} is dropped: too many wait; it will be sent again", kept->id());
}

Task<> Executor::close() { return tasks_.close(); }

// One after the other, so that the order in which they came is the order in which they are done.
Task<> Executor::admit_all() {
    CO_TRY(co_await forget_old_decisions());
    while (true) {
        const auto command = CO_TRY(co_await arrivals_.pop());
        const auto admission = CO_TRY(co_await book_.admit(*command));
        if (admission.answer) hooks_.send(*admission.answer);
        if (!admission.begin) continue;
        log_info("command {} of epoch {}: {} {}, generation {}", command->id(), command->epoch(),
                 verb_of(*command), command->subject(), command->generation());
        enqueue(*command);
    }
}

void Executor::enqueue(uplink::Command command, bool resumed) {
    const std::string subject = command.subject();
    auto& lane = lanes_[subject];
    // A start may wait minutes for an image or a probe. What comes after it does not wait for that.
    const bool ends = command.has_stop_workload() && command.stop_workload().if_unused_ms() == 0;
    if (ends || command.has_start_workload())
        for (const auto& earlier : lane.jobs)
            if (earlier->command.has_start_workload()) supersede(*earlier);
    // A node does the newest of its commands: what the master asked for before, it does not wait for any
    // more.
    if (command.has_node_step() || command.has_node_clean())
        for (const auto& earlier : lane.jobs) supersede(*earlier);
    lane.jobs.push_back(std::make_shared<Job>(std::move(command)));
    lane.jobs.back()->resumed = resumed;
    if (lane.jobs.size() == 1) tasks_.start("commands of " + subject, work(subject));
}

void Executor::supersede(Job& job) {
    job.superseded = true;
    if (job.interruptible && job.running) job.running->cancel();
}

Task<> Executor::work(std::string subject) {
    auto& jobs = lanes_[subject].jobs;
    while (!jobs.empty()) {
        CO_TRY(co_await perform(jobs.front()));
        jobs.pop_front();
    }
    lanes_.erase(subject);
    co_return Result<>{};
}

Task<> Executor::perform(JobPtr job) {
    std::optional<Result<>> outcome;
    if (job->superseded) outcome = fail(Code::cancelled, "superseded");
    if (!outcome) {
        TaskGroup running{ports_.loop};
        Signal ended;
        running.start("command",
                      [](Executor& self, JobPtr mine, std::optional<Result<>>& into, Signal& done) -> Task<> {
                          into = co_await self.act(std::move(mine));
                          done.notify_all();
                          co_return Result<>{};
                      }(*this, job, outcome, ended));
        job->running = &running;
        Result<> waited{};
        if (!outcome) waited = co_await ended.wait();
        job->running = nullptr;
        (void)co_await running.close();
        if (!waited) co_return std::unexpected(waited.error());
    }
    const auto& id = job->command.id();
    uplink::CommandUpdate answer;
    if (*outcome) {
        answer.set_id(id);
        answer.set_state("done");
    } else if (job->superseded && (job->command.has_measure_host() || job->command.has_prove_gpus())) {
        answer =
            failed(id, {.code = Code::conflict, .message = "an instance needs the GPUs", .reason = "in_use"});
    } else if (job->superseded) {
        answer = failed(id, {.code = Code::cancelled,
                             .message = "a later command for " + job->command.subject() + " took its place",
                             .reason = "superseded"});
    } else {
        Error error = outcome->error();
        if (error.code == Code::cancelled) error.code = Code::unavailable;  // It was not we who cancelled.
        answer = failed(id, error);
        log_warn("command {} for {} failed: {}", id, job->command.subject(), error.message);
    }
    if (*outcome && job->measured) *answer.mutable_measured() = *job->measured;
    if (*outcome) {
        answer.mutable_outputs()->insert(job->outputs.begin(), job->outputs.end());
        for (const Leftover& left : job->leftovers) {
            auto& told = *answer.add_leftovers();
            told.set_kind(left.kind);
            told.set_name(clean_text(left.name, 512));
        }
    }
    if (job->seen) *answer.mutable_workload() = workload_message(*job->seen);
    if (job->killed != 0) {
        answer.mutable_killed()->set_generation(job->killed);
        answer.mutable_killed()->set_grace_ms(
            std::chrono::duration_cast<milliseconds>(job->killed_after).count());
    }
    std::vector<Journal::Entry> with;
    if (*outcome && job->seen && job->seen->ready)
        with.push_back(workloads_.readiness(job->seen->instance, job->seen->generation));
    // An answer that could be forgotten is none: it leaves only when it is durable.
    Duration wait = milliseconds{250};
    while (true) {
        const auto durable = co_await book_.finish(answer, with);
        if (durable) break;
        if (durable.error().code == Code::cancelled) co_return durable;
        log_error("the answer to command {} cannot be stored yet: {}", id, durable.error().message);
        CO_TRY(co_await sleep(ports_.timers, wait));
        wait = std::min<Duration>(wait * 2, seconds{30});
    }
    hooks_.send(answer);
    if (!with.empty()) workloads_.note_ready(job->seen->instance);
    co_return co_await forget_decision(job);
}

Task<> Executor::act(JobPtr job) {
    const auto& command = job->command;
    // One that was begun before a restart may be older than what was obeyed before it.
    if (command.generation() < book_.generation(command.subject()))
        co_return fail(Code::conflict,
                       fmt::format("{} has obeyed generation {}; this command is of {}", command.subject(),
                                   book_.generation(command.subject()), command.generation()),
                       "stale_generation");
    switch (command.action_case()) {
        case uplink::Command::kStartWorkload:
        case uplink::Command::kPullImage: {
            while (heavy_ >= settings_.starts_parallel_max) CO_TRY(co_await heavy_ended_.wait());
            const Slot slot{heavy_, heavy_ended_};
            if (command.has_start_workload()) {
                CO_TRY(co_await yield_gpus(job));
                co_return co_await start(job);
            }
            co_return co_await pull(job, command.pull_image().image());
        }
        case uplink::Command::kStopWorkload: co_return co_await stop(job);
        case uplink::Command::kEnsureNetwork: {
            const auto& network = command.ensure_network();
            co_return co_await persist(ports_.timers, [&] {
                return ports_.networks.ensure({network.network(), network.subnet(), network.gateway()});
            });
        }
        case uplink::Command::kRemoveNetwork:
            co_return co_await persist(
                ports_.timers, [&] { return ports_.networks.remove(command.remove_network().network()); });
        case uplink::Command::kCreateVolume: {
            co_return co_await create_volume(command.create_volume().volume(),
                                             command.create_volume().size_bytes());
        }
        case uplink::Command::kDeleteVolume:
            co_return co_await delete_volume(command.delete_volume().volume());
        case uplink::Command::kTestGpu: co_return hooks_.test_gpu(command.test_gpu().gpu());
        case uplink::Command::kMeasureHost: co_return co_await measure(job);
        case uplink::Command::kProveGpus: co_return co_await prove(job);
        case uplink::Command::kNodeStep: co_return co_await node_step(job);
        case uplink::Command::kNodeClean: co_return co_await node_clean(job);
        case uplink::Command::ACTION_NOT_SET: break;
    }
    co_return fail(Code::invalid, "this agent does not know what the command asks; upgrade it",
                   "unknown_action");
}

// Whoever follows an instance over a restart is given the end of the run before first.
Task<LogPart> Executor::logs(std::string instance, LogsWanted wanted) {
    if (const Workload* workload = workloads_.find(instance)) {
        auto live = co_await ports_.engine.logs(workload->container, wanted);
        const bool gap = live && wanted.after && live->truncated;
        if (live && !live->pieces.empty() && !gap) co_return live;
        if (!live && live.error().code != Code::not_found) co_return live;
        if (live) {  // An engine that is removing it may have thrown them away already.
            const auto kept = co_await ports_.logs.read(instance, LogStore::text_max);
            CO_TRY(co_await check_cancelled());
            if (!kept) co_return live;
            LogPart before = read_kept(*kept, wanted);
            if (!before.pieces.empty()) co_return before;
            if (gap && end_of_kept(*kept) == *wanted.after) live->truncated = false;
            co_return live;
        }
    }
    co_return read_kept(CO_TRY(co_await ports_.logs.read(std::move(instance), LogStore::text_max)), wanted);
}

}  // namespace hostler::agent
