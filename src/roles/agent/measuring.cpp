// What takes GPUs for a while: commands all of them, the way back of one this one. Workloads go first.
#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"
#include "roles/agent/messages.h"

namespace hostler::agent {

namespace {

std::unexpected<Error> in_use(std::string what) { return fail(Code::conflict, std::move(what), "in_use"); }

// Has GPUs while it lives.
template <class Held>
class Turn {
public:
    Turn(Held& held, Signal& ended, Held by) : held_(held), ended_(ended) { held_ = std::move(by); }
    ~Turn() {
        held_ = Held{};
        ended_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Held& held_;
    Signal& ended_;
};

}  // namespace

// Errors: conflict (in_use).
Result<> Executor::gpus_unused() const {
    if (measuring_) return in_use("the GPUs are being measured already");
    if (!on_way_back_.empty()) return in_use(fmt::format("GPU {} is being measured", on_way_back_));
    if (!workloads_.known()) return in_use("it is not known what runs here");
    for (const auto& [instance, workload] : workloads_.all())
        if (!workload.gpus.empty() && workload.state != WorkloadState::exited)
            return in_use(fmt::format("instance {} has GPUs", instance));
    for (const auto& [subject, lane] : lanes_)
        for (const JobPtr& job : lane.jobs)
            if (job->command.has_start_workload() && !job->command.start_workload().gpus().empty())
                return in_use(fmt::format("instance {} is about to have GPUs", subject));
    if (std::string user = hooks_.gpu_user(); !user.empty()) return in_use(std::move(user));
    return {};
}

// Whoever has all GPUs lets go of them.
Task<> Executor::yield_gpus(JobPtr start) {
    if (start->command.start_workload().gpus().empty()) co_return Result<>{};
    while (measuring_) {
        supersede(*measuring_);
        CO_TRY(co_await measuring_ended_.wait());
    }
    while (std::ranges::count(start->command.start_workload().gpus(), on_way_back_) > 0)
        CO_TRY(co_await measuring_ended_.wait());
    co_return Result<>{};
}

Task<GpuBench::Figures> Executor::measure_gpu(std::string gpu) {
    HOSTLER_ASSERT(ports_.gpu_bench);
    if (measuring_ || !on_way_back_.empty()) co_return in_use("the GPUs are being measured already");
    if (!workloads_.known()) co_return in_use("it is not known what runs here");
    for (const auto& [instance, workload] : workloads_.all())
        if (std::ranges::count(workload.gpus, gpu) > 0 && workload.state != WorkloadState::exited)
            co_return in_use(fmt::format("instance {} has it", instance));
    for (const auto& [subject, lane] : lanes_)
        for (const JobPtr& job : lane.jobs)
            if (std::ranges::count(job->command.start_workload().gpus(), gpu) > 0)
                co_return in_use(fmt::format("instance {} is about to have it", subject));
    const Turn turn{on_way_back_, measuring_ended_, gpu};
    co_return co_await ports_.gpu_bench->measure(gpu);
}

Task<> Executor::measure(JobPtr job) {
    if (!ports_.gpu_bench) co_return fail(Code::invalid, "this agent measures nothing", "unknown_action");
    CO_TRY(gpus_unused());
    const Turn turn{measuring_, measuring_ended_, job};
    HostFigures figures;
    if (job->command.measure_host().gpus()) {
        auto gpus = CO_TRY(co_await ports_.gpu_bench->measure({}));
        if (!gpus.complete && !gpus.gpus.empty())
            co_return fail(Code::unavailable,
                           gpus.problems.empty() ? "the measurement did not end" : gpus.problems.front());
        figures.gpus = std::move(gpus.gpus);
        figures.problems = std::move(gpus.problems);
    }
    if (ports_.disk_bench) figures.disk = CO_TRY(co_await ports_.disk_bench->measure());
    job->measured = std::make_shared<uplink::Measured>(measured_message(figures));
    co_return Result<>{};
}

Task<> Executor::prove(JobPtr job) {
    if (!ports_.gpu_bench) co_return fail(Code::invalid, "this agent measures nothing", "unknown_action");
    CO_TRY(gpus_unused());
    const Turn turn{measuring_, measuring_ended_, job};
    const auto& asked = job->command.prove_gpus();
    const GpuChallenge challenge{.seed = asked.seed(),
                                 .rounds = std::clamp(asked.rounds(), 1U, 1U << 20),
                                 .steps = std::clamp(asked.steps(), 1U, 1U << 20),
                                 .walkers = std::clamp(asked.walkers(), 1U, 1U << 16)};
    const auto proofs =
        CO_TRY(co_await ports_.gpu_bench->prove(challenge, [this, job] { return path_seed(job); }));
    uplink::CommandUpdate update;
    update.set_id(job->command.id());
    update.set_state("running");
    update.set_phase("walked");
    for (const GpuProof& proof : proofs.gpus) *update.add_proofs() = proof_message(proof);
    hooks_.send(update);
    if (!proofs.complete)
        co_return fail(Code::unavailable,
                       proofs.problems.empty() ? "the challenge did not end" : proofs.problems.front());
    co_return Result<>{};
}

Task<std::uint32_t> Executor::path_seed(JobPtr job) {
    progress(*job, "filled", "");
    const Deadline deadline{ports_.timers, settings_.path_deadline, [job] { job->path_told.notify_all(); }};
    while (!job->path_seed) {
        if (deadline.expired()) co_return fail(Code::timeout, "the master did not say where the paths begin");
        CO_TRY(co_await job->path_told.wait());
    }
    co_return *job->path_seed;
}

void Executor::tell_path(const uplink::ChallengePath& path) {
    for (const auto& [subject, lane] : lanes_)
        for (const JobPtr& job : lane.jobs) {
            if (job->command.id() != path.command()) continue;
            job->path_seed = path.path_seed();
            job->path_told.notify_all();
        }
}

}  // namespace hostler::agent
