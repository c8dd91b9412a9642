#include "adapters/program/engine.h"

#include "adapters/program/bell.h"
#include "core/names.h"
#include "core/task_group.h"

namespace hostler::program {

namespace {

constexpr Duration look_first = std::chrono::milliseconds{5}, look_most = std::chrono::milliseconds{100};

}  // namespace

ProgramEngine::ProgramEngine(Loop& loop, Timers& timers, Worker& worker, ProgramSettings settings)
    : loop_(loop),
      timers_(timers),
      worker_(worker),
      kill_time_(settings.kill_time),
      news_time_(settings.news_time),
      devices_(settings.devices),
      programs_(std::make_shared<Programs>(std::move(settings))) {}

Task<Limits> ProgramEngine::limits() {
    co_return co_await run_on<Limits>(worker_, [programs = programs_] { return programs->limits(); });
}

Task<bool> ProgramEngine::has(std::string name) {
    co_return co_await run_on<bool>(worker_, [programs = programs_, name = std::move(name)] {
        return Result<bool>{programs->has(name)};
    });
}

Task<EngineFacts> ProgramEngine::describe() {
    const Limits limits = CO_TRY(co_await this->limits());
    co_return EngineFacts{.name = "programs", .cgroup_version = limits.cgroup_version, .programs = true};
}

Task<> ProgramEngine::pull(ImageWanted image, PullSeen) {
    if (image.name.empty() || image.name == image_name) co_return Result<>{};
    co_return fail(Code::invalid,
                   fmt::format("image {} cannot be run as a program without a container: its image is '{}'",
                               image.name, image_name));
}

Task<Container> ProgramEngine::launch(ContainerSpec spec) {
    ResolveDevices devices;
    if (devices_ && !spec.cdi_devices.empty()) devices = devices_();
    co_return co_await run_on<Container>(
        worker_, [programs = programs_, spec = std::move(spec), devices = std::move(devices)] {
            return programs->start(spec, devices);
        });
}

Task<std::optional<Container>> ProgramEngine::look(std::string name) {
    co_return co_await run_on<std::optional<Container>>(
        worker_, [programs = programs_, name = std::move(name)]() -> Result<std::optional<Container>> {
            return programs->look(name);
        });
}

Task<std::optional<Ending>> ProgramEngine::end(std::string name, Duration grace) {
    if (!is_plain_name(name)) co_return std::nullopt;
    const auto there = CO_TRY(co_await look(name));
    if (!there || there->state == ContainerState::exited) co_return std::nullopt;
    const auto grace_ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(grace, Duration{0})).count();
    CO_TRY(co_await run_on<void>(worker_, [programs = programs_, name, grace_ms]() -> Result<> {
        programs->ask_to_stop(name, grace_ms);
        return {};
    }));
    const Instant until = timers_.now() + grace + kill_time_;
    for (Duration pause = look_first; timers_.now() < until; pause = std::min(pause * 2, look_most)) {
        CO_TRY(co_await sleep(timers_, pause));
        auto ending = CO_TRY(co_await run_on<std::optional<Ending>>(
            worker_, [programs = programs_, name]() -> Result<std::optional<Ending>> {
                return programs->ending(name);
            }));
        if (ending) co_return ending;
    }
    co_return fail(Code::timeout, fmt::format("program {} does not end, though it was killed", name));
}

Task<StopEnd> ProgramEngine::stop(std::string name, Duration grace) {
    const auto ending = CO_TRY(co_await end(std::move(name), grace));
    co_return ending && ending->stop_killed ? StopEnd::killed : StopEnd::ended;
}

Task<> ProgramEngine::remove(std::string name, LayerEnd) {
    if (!is_plain_name(name)) co_return Result<>{};
    CO_TRY(co_await end(name, Duration{0}));
    co_return co_await run_on<void>(worker_, [programs = programs_, name] { return programs->remove(name); });
}

Task<std::vector<Container>> ProgramEngine::list(std::string label, std::string value) {
    co_return co_await run_on<std::vector<Container>>(
        worker_,
        [programs = programs_, label = std::move(label),
         value = std::move(value)]() -> Result<std::vector<Container>> {
            auto all = programs->all();
            std::erase_if(all, [&](const Container& one) {
                const auto found = one.labels.find(label);
                return !one.name.empty() && (found == one.labels.end() || found->second != value);
            });
            return all;
        });
}

Task<> ProgramEngine::follow(std::string label, std::string value, std::function<void(EngineNews)> tell) {
    Heard heard;
    TaskGroup listening{loop_};
    listening.start("ends of programs", listen(heard));
    auto ended = co_await look_for_changes(std::move(label), std::move(value), std::move(tell), heard);
    (void)co_await listening.close();
    co_return ended;
}

Task<> ProgramEngine::look_for_changes(std::string label, std::string value,
                                       std::function<void(EngineNews)> tell, Heard& heard) {
    auto seen = CO_TRY(co_await list(label, value));
    tell(EngineNews::follows);
    while (true) {
        if (!heard.rung) {
            const Deadline deadline{timers_, news_time_, [&] { heard.changed.notify_all(); }};
            CO_TRY(co_await heard.changed.wait());
        }
        heard.rung = false;
        auto now = CO_TRY(co_await list(label, value));
        if (now != seen) tell(EngineNews::changed);
        seen = std::move(now);
    }
}

// Without it changes are found by looking. The first program makes the folder of its pipe.
Task<> ProgramEngine::listen(Heard& heard) {
    Bell bell{loop_, programs_->state_folder()};
    while (true) {
        const auto rung = co_await bell.rung();
        CO_TRY(co_await check_cancelled());
        if (!rung) {
            CO_TRY(co_await sleep(timers_, news_time_));
            continue;
        }
        heard.rung = true;
        heard.changed.notify_all();
    }
}

Task<> ProgramEngine::answers() {
    CO_TRY(co_await limits());
    co_return Result<>{};
}

Task<LogPart> ProgramEngine::logs(std::string name, LogsWanted wanted) {
    if (!is_plain_name(name)) co_return fail(Code::not_found, fmt::format("program {} does not exist", name));
    co_return co_await run_on<LogPart>(
        worker_, [programs = programs_, name, wanted] { return programs->log(name, wanted); });
}

}  // namespace hostler::program
