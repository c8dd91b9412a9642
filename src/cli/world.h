// What a command line meets outside: terminal, environment, standard streams, time; and how it ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream.h"
#include "core/task.h"
#include "core/timers.h"

namespace hostler::cli {

// What a program's end tells scripts.
enum class Exit {
    ok = 0,
    general = 1,
    usage = 2,
    not_found = 3,
    denied = 4,
    conflict = 5,
    capacity = 6,  // Quota or capacity.
    timeout = 7,
    unreachable = 8,
};

struct WindowSize {
    int rows = 0;
    int columns = 0;
};

struct CliWorld {
    Loop& loop;
    Net& net;
    Timers& timers;
    std::function<std::optional<std::string>(const std::string& name)> env;
    std::function<void(std::string_view)> out;  // Data,
    std::function<void(std::string_view)> err;  // and talk.
    // Standard input to its end, or its first so many bytes.
    std::function<std::string(std::size_t bytes_max)> in{};
    // Asks whoever sits there; nullopt at the end of input. Empty without a terminal: nobody is ever asked
    // then.
    std::function<std::optional<std::string>(std::string_view prompt, bool secret)> ask{};
    // Standard input and output as a stream; it ends when they do. Empty: commands that need them fail.
    std::function<StreamPtr()> stdio{};
    // The next signal that this process gets: SIGWINCH, SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    std::function<Task<int>()> next_signal{};
    std::function<std::optional<WindowSize>()> window_size{};
    // Keys of the terminal come as they are typed, until what it gives back is gone; null: there is none.
    std::function<std::shared_ptr<void>()> raw_terminal{};
    std::function<std::uint32_t()> dice{};  // Hard to guess.
    // Opens a web address in the person's browser; false: there is no program for it. Empty: never.
    std::function<bool(const std::string& url)> open_url{};
    std::string host_name{};  // Of this machine, as it calls itself; empty: unknown.
    bool in_is_terminal = false;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    int columns = 0;  // Of the terminal; 0: unknown.
    std::string version = "0.1.0";
    // Commands that the executable runs itself, for help and completion: {"up", "Run a cloud on this
    // machine."}.
    std::vector<std::pair<std::string, std::string>> other_commands{};
};

// This process's terminal, environment and standard streams.
CliWorld terminal_world(Loop& loop, Net& net, Timers& timers);

}  // namespace hostler::cli
