// Steps of clusters on a simulated machine. What they did outlives the agent.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "adapters/sim/dice.h"
#include "core/timers.h"
#include "ports/node_steps.h"

namespace hostler::sim {

// A command that does as it is told, whatever its arguments are.
struct SimCommand {
    int exit_code = 0;
    std::string output;     // On standard output,
    std::string complaint;  // and on standard error.
    Duration time = std::chrono::milliseconds{500};
    bool marks = false;  // Once it has ended with 0, those that ask for it do so, too.
    std::string asks;    // Ends with 0 once this program has marked, else with 1.
};

struct NodeFaults {
    double fail = 0;  // Chances of each command: it ends with 1, having done its work or not;
    double hang = 0;  // it does not end by itself.
    bool fail_next = false;
    Duration time_max = std::chrono::seconds{2};  // Of a command that is in no table.
};

// What the machine keeps over the death of its agent.
struct NodeHost {
    using Step = std::pair<std::string, std::string>;  // Node, name.
    // A command that runs now.
    struct Running {
        Step of;
        std::vector<std::string> words;
        SimCommand plays;
        bool asks = false;    // It is a question whether the step is done.
        bool works = true;    // It does its work, whether it fails afterwards or not.
        bool orphan = false;  // The agent that began it has died.
        TimerId wake = 0;     // Of an orphan: when it goes on.
    };

    explicit NodeHost(Dice with) : dice(with) {}
    NodeHost(const NodeHost&) = delete;
    ~NodeHost();
    // Its steps leave things on the machine, as `leftovers` of the driver names them, from their first moment
    // on; they stay until each step of phase `clean` that is for all roles has been done after the last other
    // one.
    void know(Driver driver) { drivers.push_back(std::move(driver)); }
    // What an agent that died has left of the node's commands ends.
    void end_orphans(const std::string& node);
    void power_cut();  // After its agent died: no command runs on.

    Dice dice;
    NodeFaults faults;
    std::vector<Driver> drivers;
    std::map<std::string, SimCommand> commands;  // By argument 0. Others take some time and end with 0.
    // What the world makes of a command that is in no table, in the middle of its time; unset: it ends with
    // 0.
    std::function<SimCommand(const std::vector<std::string>& words)> plays;
    // Commands that an agent which died has left go on by it; null: they do nothing any more.
    Timers* beside = nullptr;
    std::set<std::string> missing;                      // Programs that are not there, by argument 0.
    std::map<std::string, std::size_t> runs;            // How often each was begun.
    std::multiset<std::string> alive;                   // That run now, also without an agent.
    std::map<std::string, StepFile> files;              // By path.
    std::map<Step, std::vector<std::string>> programs;  // That keep running.
    std::map<std::uint64_t, Running> running;           // In the order in which they were begun.
    std::set<Step> done;                                // As commands `done` that are in no table see it.
    std::set<std::string> marked;                       // Programs.
    std::set<Leftover> left;                            // A process without its number.
    std::set<Step> cleaned;                             // Steps of phase `clean` since the last other one.

private:
    friend class SimNodeSteps;
    void take_effect(Running& one);
    void go_on_alone(std::uint64_t id, Duration until_middle, Duration rest);
    void end(std::uint64_t id);
    std::uint64_t begun_ = 0;
};

class SimNodeSteps final : public NodeSteps {
public:
    // `life` ends with the process: what is cancelled then runs on by itself.
    SimNodeSteps(NodeHost& host, Timers& timers, std::weak_ptr<const void> life)
        : host_(host), timers_(timers), life_(std::move(life)) {}

    Task<NodeStepDone> perform(NodeStep step) override;
    Task<> forget(std::string node) override;
    Task<std::vector<Leftover>> look(Leftovers what) override;
    Task<NodeApi> api(std::string cluster) override;

private:
    struct Performance;
    Task<NodeStepDone> perform_all(std::shared_ptr<Performance> of);
    Task<SimCommand> command(std::shared_ptr<Performance> of, std::vector<std::string> words, bool asks);
    Task<> must(std::shared_ptr<Performance> of, std::vector<std::string> words);
    Task<bool> is_done(std::shared_ptr<Performance> of);
    Task<> await_done(std::shared_ptr<Performance> of);
    Task<> pass(std::shared_ptr<Performance> of, Duration time);
    SimCommand played(const Performance& of, const std::string& program, bool asks);

    NodeHost& host_;
    Timers& timers_;
    std::weak_ptr<const void> life_;
};

}  // namespace hostler::sim
