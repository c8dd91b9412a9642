// Ways into a container that runs: commands beside its own, and files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler {

struct TerminalSize {
    std::uint16_t rows = 24;
    std::uint16_t columns = 80;
};

struct ExecSpec {
    std::string container;
    std::vector<std::string> command;                // Not empty.
    std::map<std::string, std::string> environment;  // Beside the container's own.
    std::string user;                                // Empty: the container's; so for the next.
    std::string folder;
    bool terminal = false;  // Input and output are a terminal's, and there is no stream of errors.
    bool input = false;     // It can be written to.
    TerminalSize size;
};

// What a process wrote: `size` bytes; 0: there is nothing more.
struct ProcessOutput {
    std::size_t size = 0;
    bool error = false;  // On its stream of errors.
};

// A command in a container, or a transfer of files: one reader and one writer at a time.
class Process {
public:
    virtual ~Process() = default;  // As close().
    virtual Task<ProcessOutput> read(
        std::span<char> into) = 0;                     // Errors: cancelled (also by close()), unavailable.
    virtual Task<> write(std::string_view bytes) = 0;  // Errors: unavailable (it reads no more).
    virtual Task<> finish() = 0;                       // No more input.
    virtual Task<> resize(TerminalSize size) = 0;
    virtual Task<> signal(std::string name) = 0;  // "INT". Errors: invalid (there is none of that name).
    // Once it has written all, or will be written no more. Errors: of a transfer: what it failed with.
    virtual Task<int> exit_code() = 0;
    virtual void close() = 0;  // Nothing more of it is wanted; the command may go on.
};

using ProcessPtr = std::unique_ptr<Process>;

struct PathFacts {
    std::string name;
    std::uint64_t size = 0;
    std::uint32_t mode = 0;  // Of the file, as stat(2) says it, without its type.
    bool folder = false;
    std::string link;  // Where it leads, when it is a link.
};

// Errors everywhere: not_found (the container), conflict (it does not run), unavailable, timeout.
class Exec {
public:
    virtual ~Exec() = default;
    // Errors: invalid (an empty command). A command that is not there exits with 127, or 126, and says so.
    virtual Task<ProcessPtr> start(ExecSpec spec) = 0;
    // Errors: not_found with reason "path_not_found".
    virtual Task<PathFacts> look(std::string container, std::string path) = 0;
    // Writes a tar archive of `path`, whose entries begin with its last name. It needs no program inside.
    virtual Task<ProcessPtr> read_files(std::string container, std::string path) = 0;
    // Takes a tar archive and unpacks it in `folder`, which is there.
    virtual Task<ProcessPtr> write_files(std::string container, std::string folder) = 0;
};

}  // namespace hostler
