// Child processes that are kept running: started again when they end by themselves, ended together with us.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bin/process.h"
#include "core/signal.h"

namespace hostler::bin {

struct ChildSpec {
    std::string name;  // "access-nj": of its log file, too.
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;  // Beside ours, and over it.
    // Asked before each start, so that a child comes back with what has been learnt since.
    std::function<std::vector<std::string>()> more_arguments{};
    std::function<void()> before_start{};  // Called before each start, when nothing of it runs.
};

class Supervisor {
public:
    // Children write to FOLDER/NAME.log.
    Supervisor(Process& process, std::filesystem::path log_folder);

    // Starts it, and again whenever it ends, with a growing pause while it does so at once. It gets SIGTERM
    // when this process dies, however it dies.
    void keep(ChildSpec spec);
    // SIGTERM to all, in the opposite order of their start, SIGKILL after `grace` each. Not cancellable.
    Task<> stop(Duration grace);
    const std::filesystem::path& log_folder() const { return log_folder_; }

private:
    struct Child {
        ChildSpec spec;
        int pid = 0;
        Signal ended{};
    };
    std::filesystem::path log_of(const Child& child) const;
    Task<> run(std::shared_ptr<Child> child);
    Result<int> start(const Child& child);
    Task<int> wait(std::shared_ptr<Child> child);

    Process& process_;
    std::filesystem::path log_folder_;
    std::vector<std::shared_ptr<Child>> children_;
    bool stopping_ = false;
    TaskGroup tasks_;
};

}  // namespace hostler::bin
