// Commands in containers of the simulated engine: a few that are known by name.
#pragma once

#include "adapters/sim/engine.h"
#include "ports/exec.h"

namespace hostler::sim {

// "cat" gives back its input, "echo WORD…" says words, "err WORD…" says them on its stream of errors, "exit
// N" ends with N, "count N" writes the numbers from 1 to N, a line each, "size" writes its terminal's rows
// and columns now and whenever they change, until "q" comes, "sleep" waits for a signal and ends with 128 and
// its number. Any other is not there: 127. Files are archives, kept as they came, by the folder they came to.
class SimExec final : public Exec {
public:
    SimExec(Loop& loop, Timers& timers, SimEngine& engine) : loop_(loop), timers_(timers), engine_(engine) {}

    Task<ProcessPtr> start(ExecSpec spec) override;
    Task<PathFacts> look(std::string container, std::string path) override;
    Task<ProcessPtr> read_files(std::string container, std::string path) override;
    Task<ProcessPtr> write_files(std::string container, std::string folder) override;

    std::uint64_t started = 0;  // Commands so far.

private:
    Result<> admit(const std::string& container) const;
    Loop& loop_;
    Timers& timers_;
    SimEngine& engine_;
    std::map<std::string, std::string> files_;  // By container and path.
};

}  // namespace hostler::sim
