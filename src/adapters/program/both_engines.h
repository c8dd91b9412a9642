// Containers and programs of one host as one engine.
#pragma once

#include "adapters/program/engine.h"
#include "core/task_group.h"
#include "ports/exec.h"
#include "ports/processes.h"

namespace hostler::program {

// ContainerSpec::program decides at the launch, and the name from then on: no two have the same.
class BothEngines final : public Engine, public EngineEvents {
public:
    struct Containers {
        Engine& engine;
        EngineEvents& events;
    };
    // `allowed`: programs may start. Without it those that run are seen, and can be stopped.
    BothEngines(Loop& loop, Timers& timers, Containers containers, ProgramEngine& programs, bool allowed);

    Task<EngineFacts> describe() override;
    Task<> pull(ImageWanted image, PullSeen seen) override;
    Task<Container> launch(ContainerSpec spec) override;
    Task<StopEnd> stop(std::string name, Duration grace) override;
    Task<> remove(std::string name, LayerEnd layer) override;
    using Engine::remove;
    Task<std::vector<Container>> list(std::string label, std::string value) override;
    Task<LogPart> logs(std::string name, LogsWanted wanted) override;

    Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) override;
    Task<> answers() override;

private:
    Task<> follow_programs(std::string label, std::string value, std::function<void(EngineNews)> tell);

    Loop& loop_;
    Timers& timers_;
    Containers containers_;
    ProgramEngine& programs_;
    bool allowed_;
    std::string refused_;  // Why this host runs no programs, as told last.
};

// Ways into containers. Errors, for a program: conflict (no_container).
class WaysIn final : public Exec, public Processes {
public:
    WaysIn(Exec& exec, Processes& processes, ProgramEngine& programs)
        : exec_(exec), processes_(processes), programs_(programs) {}

    Task<ProcessPtr> start(ExecSpec spec) override;
    Task<PathFacts> look(std::string container, std::string path) override;
    Task<ProcessPtr> read_files(std::string container, std::string path) override;
    Task<ProcessPtr> write_files(std::string container, std::string folder) override;

    Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) override;
    // Of containers; a program that loses its processes so ends with oom_killed.
    Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) override;

private:
    Task<> check_container(std::string name);

    Exec& exec_;
    Processes& processes_;
    ProgramEngine& programs_;
};

}  // namespace hostler::program
