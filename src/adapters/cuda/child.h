// A process whose words are read as they come.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::cuda {

// In a group of its own, which is killed with this; what does not die of that within two seconds is left.
class Child {
public:
    Child() = default;
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Its standard output comes here, its input is what say() says, its errors are ours. Errors: not_found,
    // unavailable.
    Result<> start(std::vector<std::string> arguments);
    void say(std::string_view line);  // A short one, and the last: its input ends then.
    // The next whole line that it has written, without waiting; nullopt: none yet, or `finished`.
    std::optional<std::string> line();
    bool finished() const { return finished_; }  // It writes no more.
    // How it ended, in words: "", "exit status 3", "signal 11 (Segmentation fault)"; "it does not end" after
    // two seconds. Blocks for so long.
    std::string end();

    static constexpr std::size_t line_max = std::size_t{1} << 20;  // Longer ones are cut.

private:
    void fill();
    int pid_ = 0;
    int output_ = -1;
    int input_ = -1;
    bool finished_ = false;
    std::string buffer_;
};

}  // namespace hostler::cuda
