// The Engine port for programs without containers.
#pragma once

#include <memory>

#include "adapters/program/programs.h"
#include "core/signal.h"
#include "core/worker.h"
#include "ports/engine_events.h"

namespace hostler::program {

class ProgramEngine final : public Engine, public EngineEvents {
public:
    // `worker` does what blocks; a start takes it for about 0.1 s.
    ProgramEngine(Loop& loop, Timers& timers, Worker& worker, ProgramSettings settings);

    Task<EngineFacts> describe() override;
    Task<Limits> limits();
    Task<bool> has(std::string name);  // There is a program of this name, whether it runs or not.
    // Succeeds for "program", the only image. Errors: invalid.
    Task<> pull(ImageWanted image, PullSeen seen) override;
    Task<Container> launch(ContainerSpec spec) override;
    Task<StopEnd> stop(std::string name, Duration grace) override;
    Task<> remove(std::string name, LayerEnd layer) override;
    using Engine::remove;
    Task<std::vector<Container>> list(std::string label, std::string value) override;
    Task<LogPart> logs(std::string name, LogsWanted wanted) override;
    // By looking, when a program has ended and after ProgramSettings::news_time: changes between two looks
    // may be one, or none when they cancel out.
    Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) override;
    Task<> answers() override;

private:
    // What it ended with; nullopt: it did not run when it was asked to end.
    Task<std::optional<Ending>> end(std::string name, Duration grace);
    Task<std::optional<Container>> look(std::string name);

    struct Heard {
        bool rung = false;  // Since the last look.
        Signal changed{};
    };
    Task<> listen(Heard& heard);
    Task<> look_for_changes(std::string label, std::string value, std::function<void(EngineNews)> tell,
                            Heard& heard);

    Loop& loop_;
    Timers& timers_;
    Worker& worker_;
    Duration kill_time_, news_time_;
    std::function<ResolveDevices()> devices_;
    std::shared_ptr<Programs> programs_;
};

}  // namespace hostler::program
