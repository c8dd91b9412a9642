// What is no command, but is read like one: a text that is there already.
#pragma once

#include "ports/exec.h"

namespace hostler {

class EndedProcess final : public Process {
public:
    // `refusal`: why nothing can be written to it, in words.
    EndedProcess(std::string output, std::string refusal)
        : output_(std::move(output)), refusal_(std::move(refusal)) {}
    Task<ProcessOutput> read(std::span<char> into) override {
        const std::size_t size = output_.copy(into.data(), into.size());
        output_.erase(0, size);
        co_return ProcessOutput{size};
    }
    Task<> write(std::string_view) override { co_return fail(Code::unavailable, refusal_); }
    Task<> finish() override { co_return Result<>{}; }
    Task<> resize(TerminalSize) override { co_return Result<>{}; }
    Task<> signal(std::string) override { co_return Result<>{}; }
    Task<int> exit_code() override { co_return 0; }
    void close() override {}

private:
    std::string output_, refusal_;
};

}  // namespace hostler
