// When to list the containers: at once when the engine says that something has changed, now and then while it
// tells such things, each second while it does not.
#pragma once

#include <functional>
#include <optional>

#include "core/signal.h"
#include "core/task_group.h"
#include "roles/agent/settings.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class EngineWatch {
public:
    EngineWatch(const Settings& settings, const Ports& ports, Workloads& workloads,
                std::function<Task<>()> look);

    Task<> run();                       // Looks when it is time.
    Task<> follow(std::string host);    // Hears what the engine tells, again after each end.
    void note_change() { ++changes_; }  // A container became something else, whoever has seen it.
    bool follows() const { return follows_; }

private:
    Task<> follow_once(std::string host);
    Task<> wait();
    Task<> look();
    Task<> ask();
    void hear(EngineNews news);
    void look_by(Instant at);
    void end_stream(std::string_view why);

    const Settings& settings_;
    const Ports& ports_;
    Workloads& workloads_;
    std::function<Task<>()> look_;
    Signal wake_;
    Instant due_;        // The next look,
    Instant ask_due_{};  // and the next question whether the engine is there.
    Instant looked_at_;
    Instant rested_;                   // No look for news before: they take a tenth of the time at most.
    Instant settled_{};                // From then on a list shows all that was told.
    std::optional<Instant> untold_{};  // A look found what the engine has not told by now.
    bool follows_ = false;
    int failures_ = 0;   // Looks that failed, one after the other.
    bool told_ = false;  // Something, since the last look began.
    bool said_ = false;  // That it tells nothing.
    std::uint64_t changes_ = 0;
    TaskGroup* stream_ = nullptr;
};

}  // namespace hostler::agent
