// The machine under the clouds: its processes, mounts and sockets, and what killed runs have left on it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace hostler::cloud {

struct Ran {
    int code = -1;
    std::string out;
    std::string err;
};
// Runs a program to its end; killed after `within`.
Ran run_program(std::vector<std::string> words, std::map<std::string, std::string> environment = {},
                std::chrono::milliseconds within = std::chrono::seconds{60});
std::string shell(const std::string& command);  // Its standard output.

std::string read_file(
    const std::string& path);  // Of /proc too, where it may go meanwhile; "" when there is none.
std::vector<std::string> lines(const std::string& text);  // Without empty ones.

bool alive(pid_t process);
std::vector<pid_t> processes_of(const std::string& folder);  // That name it in their arguments.
std::string program_of(pid_t process);                       // Its executable.
std::vector<int> listening(pid_t process);                   // Its TCP ports.
std::vector<std::string> mounts_of(const std::string& folder);

// Clouds live in /tmp/hostler-cloud-XXXXXX. A folder belongs to whoever holds the lock on its file "owner".
inline constexpr const char* folder_prefix = "hostler-cloud-";
void clean(const std::string& folder);  // By force: of a cloud that was killed, or could not end by itself.
void clean_leftovers();                 // Folders whose owner has gone.

}  // namespace hostler::cloud
