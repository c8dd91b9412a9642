#include "adapters/program/both_engines.h"

#include <iterator>

#include "core/log.h"

namespace hostler::program {

BothEngines::BothEngines(Loop& loop, Timers& timers, Containers containers, ProgramEngine& programs,
                         bool allowed)
    : loop_(loop), timers_(timers), containers_(containers), programs_(programs), allowed_(allowed) {}

Task<EngineFacts> BothEngines::describe() {
    EngineFacts facts = CO_TRY(co_await containers_.engine.describe());
    if (!allowed_) co_return facts;
    const auto limits = co_await programs_.limits();
    CO_TRY(co_await check_cancelled());
    facts.programs = limits.has_value();
    std::string refused = limits ? "" : limits.error().message;
    if (refused != refused_ && !refused.empty()) log_warn("this host runs no programs: {}", refused);
    refused_ = std::move(refused);
    co_return facts;
}

Task<> BothEngines::pull(ImageWanted image, PullSeen seen) {
    co_return co_await containers_.engine.pull(std::move(image), std::move(seen));
}

Task<Container> BothEngines::launch(ContainerSpec spec) {
    if (!spec.program) co_return co_await containers_.engine.launch(std::move(spec));
    if (!allowed_)
        co_return fail(Code::invalid, "this host runs no programs without containers (--programs)",
                       "programs_forbidden");
    co_return co_await programs_.launch(std::move(spec));
}

Task<StopEnd> BothEngines::stop(std::string name, Duration grace) {
    const bool program = CO_TRY(co_await programs_.has(name));
    co_return co_await (program ? programs_.stop(std::move(name), grace)
                                : containers_.engine.stop(std::move(name), grace));
}

Task<> BothEngines::remove(std::string name, LayerEnd layer) {
    const bool program = CO_TRY(co_await programs_.has(name));
    co_return co_await (program ? programs_.remove(std::move(name), layer)
                                : containers_.engine.remove(std::move(name), layer));
}

Task<std::vector<Container>> BothEngines::list(std::string label, std::string value) {
    auto all = CO_TRY(co_await programs_.list(label, value));
    std::ranges::move(CO_TRY(co_await containers_.engine.list(std::move(label), std::move(value))),
                      std::back_inserter(all));
    co_return all;
}

Task<LogPart> BothEngines::logs(std::string name, LogsWanted wanted) {
    const bool program = CO_TRY(co_await programs_.has(name));
    co_return co_await (program ? programs_.logs(std::move(name), wanted)
                                : containers_.engine.logs(std::move(name), wanted));
}

Task<> BothEngines::follow(std::string label, std::string value, std::function<void(EngineNews)> tell) {
    TaskGroup group{loop_};
    group.start("programs", follow_programs(label, value, tell));
    auto ended = co_await containers_.events.follow(std::move(label), std::move(value), std::move(tell));
    (void)co_await group.close();
    co_return ended;
}

Task<> BothEngines::follow_programs(std::string label, std::string value,
                                    std::function<void(EngineNews)> tell) {
    constexpr Duration pause = std::chrono::seconds{1};
    while (true) {
        const auto ended = co_await programs_.follow(label, value, [&](EngineNews news) {
            if (news == EngineNews::changed) tell(news);
        });
        CO_TRY(co_await check_cancelled());
        if (!ended) log_warn("programs cannot be looked at: {}", ended.error().message);
        CO_TRY(co_await sleep(timers_, pause));
    }
}

Task<> BothEngines::answers() { co_return co_await containers_.events.answers(); }

Task<> WaysIn::check_container(std::string name) {
    if (!CO_TRY(co_await programs_.has(name))) co_return Result<>{};
    co_return fail(Code::conflict,
                   "it runs without a container, so no command can be started in it and no "
                   "file be copied: use a volume for its files",
                   "no_container");
}

Task<ProcessPtr> WaysIn::start(ExecSpec spec) {
    CO_TRY(co_await check_container(spec.container));
    co_return co_await exec_.start(std::move(spec));
}

Task<PathFacts> WaysIn::look(std::string container, std::string path) {
    CO_TRY(co_await check_container(container));
    co_return co_await exec_.look(std::move(container), std::move(path));
}

Task<ProcessPtr> WaysIn::read_files(std::string container, std::string path) {
    CO_TRY(co_await check_container(container));
    co_return co_await exec_.read_files(std::move(container), std::move(path));
}

Task<ProcessPtr> WaysIn::write_files(std::string container, std::string folder) {
    CO_TRY(co_await check_container(container));
    co_return co_await exec_.write_files(std::move(container), std::move(folder));
}

Task<std::vector<std::string>> WaysIn::listening(std::string container, std::uint16_t port) {
    co_return co_await processes_.listening(std::move(container), port);
}

Task<std::map<std::string, MemoryKills>> WaysIn::memory_kills(std::vector<std::string> containers) {
    std::vector<std::string> asked;
    for (std::string& name : containers)
        if (!CO_TRY(co_await programs_.has(name))) asked.push_back(std::move(name));
    co_return co_await processes_.memory_kills(std::move(asked));
}

}  // namespace hostler::program
