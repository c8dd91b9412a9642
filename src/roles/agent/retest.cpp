#include "roles/agent/retest.h"

#include <algorithm>

#include "core/log.h"

namespace hostler::agent {

Retests::Retests(const Settings& settings, const Ports& ports, Sampler& sampler, Executor& executor)
    : settings_(settings), ports_(ports), sampler_(sampler), executor_(executor) {}

Task<> Retests::run() {
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, settings_.watch_interval));
        const auto due = sampler_.retests_due();
        std::erase_if(rest_until_, [&](const auto& row) { return std::ranges::count(due, row.first) == 0; });
        for (const std::string& uuid : due)
            if (rest_until_[uuid] <= ports_.timers.now()) CO_TRY(co_await retest(uuid));
    }
}

Task<> Retests::retest(std::string uuid) {
    const auto gpu = std::ranges::find(sampler_.facts().gpus, uuid, &GpuFacts::uuid);
    if (gpu == sampler_.facts().gpus.end() || !sampler_.gpu_user(uuid).empty()) co_return Result<>{};
    HostFacts alone = sampler_.facts();
    alone.gpus = {*gpu};
    if (const std::string why = ports_.gpu_bench->unable(alone); !why.empty()) {
        sampler_.note_retest(uuid, health::skipped_retest(why));
        co_return Result<>{};
    }
    const auto found = co_await executor_.measure_gpu(uuid);
    CO_TRY(co_await check_cancelled());
    if (found) {
        sampler_.note_retest(
            uuid, health::judge_retest(alone.gpus.front(),
                                       {found->gpus, found->problems, found->complete, found->absent}));
        co_return Result<>{};
    }
    // Somebody else measures, or starts there: it is looked at again at once.
    if (found.error().code == Code::conflict) co_return Result<>{};
    log_warn("GPU {} is not measured on its way back: {}", uuid, found.error().message);
    rest_until_[uuid] = ports_.timers.now() + settings_.retest_again;
    co_return Result<>{};
}

}  // namespace hostler::agent
