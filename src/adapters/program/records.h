// The state folder of a program, for agents that come later:
//   alive    locked by the process that holds the program, as long as it lives
//   record   what it is: labels, user, control groups
//   running  its processes, once it runs
//   result   how it ended
//   control  where its holder reads requests
//   log, log.old, log.lost
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hostler::program {

struct Record {
    std::string name, id;
    std::map<std::string, std::string> labels;
    std::uint32_t user = 0;
    std::vector<std::string> groups;
    bool operator==(const Record&) const = default;
};

// A process, not to be taken for a later one of the same number.
struct ProcessMark {
    pid_t pid = 0;
    std::uint64_t started = 0;  // Ticks since the machine's start, as /proc/PID/stat has them.
    bool operator==(const ProcessMark&) const = default;
};

struct Running {
    ProcessMark holder, init;
    bool operator==(const Running&) const = default;
};

struct Ending {
    int exit_code = 0;
    bool oom_killed = false;
    bool stop_killed = false;  // The grace of a stop was over.
    std::string error;
    bool operator==(const Ending&) const = default;
};

std::string to_text(const Record& record);
std::string to_text(const Running& running);
std::string to_text(const Ending& ending);
// Errors: invalid.
Result<Record> parse_record(std::string_view text);
Result<Running> parse_running(std::string_view text);
Result<Ending> parse_ending(std::string_view text);

ProcessMark mark_of(pid_t process);

// Replaces the file as a whole. Blocks, shortly. Errors: exhausted (disk_full), unavailable.
Result<> write_record(const std::string& folder, std::string_view name, std::string_view text);
// The same for the end of a program, and returns when the disk has it and the files before it. A program that
// runs does not outlive the machine, so nothing is lost with those before its end.
Result<> write_ending(const std::string& folder, const Ending& ending);

// The lock of a folder's `alive`, or of another file: of an open file, so that a child may hold it on.
class Lock {
public:
    enum class Wait { no, yes };
    // nullopt: another process has it, or it cannot be opened.
    static std::optional<Lock> take(const std::string& path, Wait wait);
    explicit Lock(int fd) : fd_(fd) {}
    Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Lock& operator=(Lock&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Lock();
    int fd() const { return fd_; }

private:
    int fd_ = -1;
};

}  // namespace hostler::program
