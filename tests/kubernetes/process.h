// Programs that end with the test, also when it is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::kube {

using Seconds = std::chrono::seconds;
using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;  // On top of ours.

struct Ran {
    int code = -1;  // 124: it ran longer than it may and was killed.
    std::string out;
    std::string err;
};
// Runs a program to its end. Code 127 when there is no such program.
Ran run(Words words, Seconds within = Seconds{60}, const std::string& input = {},
        const Environment& environment = {});

// One that runs until it is stopped. Its output goes to a file.
class Child {
public:
    static Result<Child> start(Words words, std::string log, const Environment& environment = {});
    Child() = default;
    ~Child() { kill(); }
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;

    pid_t pid() const { return pid_; }
    bool runs();  // Until it has ended by itself, or was stopped.
    // Sends `signal`, and SIGKILL to what is there `within` later.
    void stop(int signal, Seconds within = Seconds{10});
    void kill();
    // It is nsenter, which passes no signal on: `stop` sends to what it has started.
    void enters() { enters_ = true; }
    // The end of its output, for messages.
    std::string tail() const;
    const std::string& log() const { return log_; }

private:
    pid_t pid_ = 0;
    bool enters_ = false;
    std::string log_;
};

std::string read_file(const std::string& path);  // "" when there is none.
void write_file(const std::string& path, const std::string& text);

// Asks every 50 ms until it is so. False: it was not `within` that time.
bool eventually(Seconds within, auto is_so);

// The first child of a process, 0: none.
pid_t child_of(pid_t process);

void pause_briefly();  // 50 ms.

bool eventually(Seconds within, auto is_so) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (!is_so()) {
        if (std::chrono::steady_clock::now() > end) return false;
        pause_briefly();
    }
    return true;
}

}  // namespace hostler::kube
