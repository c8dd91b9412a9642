// A real server of somebody else's, started for a test and ended with it; what it prints is kept.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <thread>

#include "core/spawn.h"
#include "core/testing/temp_folder.h"

namespace hostler::contract {

class Program {
public:
    Program(std::vector<std::string> words, std::string log)
        : words_(std::move(words)), log_(std::move(log)) {
        start();
    }
    ~Program() { stop(SIGKILL); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void start() {
        const int to = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        HOSTLER_ASSERT(to >= 0);
        auto child = spawn(words_, {.streams = {{to, 1}, {to, 2}}});
        ::close(to);
        HOSTLER_ASSERT(child && "the program is not installed");
        child_ = *child;
    }
    void stop(int signal) {
        if (child_ == 0) return;
        ::kill(child_, signal);
        wait_end(std::exchange(child_, 0));
    }
    std::string printed() const {
        std::ifstream in{log_};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    // The digits behind the last of `words` that it prints; for a test's start, before anything runs on a
    // loop.
    int number_after(const std::string& words) const {
        for (int left = 3000; left > 0; --left) {
            const std::string text = printed();
            const auto at = text.rfind(words);
            const auto end =
                at == std::string::npos ? at : text.find_first_not_of("0123456789", at + words.size());
            if (end != std::string::npos && end > at + words.size())
                return std::stoi(text.substr(at + words.size(), end - at - words.size()));
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        std::cerr << printed();
        HOSTLER_ASSERT(false && "the program does not say where it listens within 30 s");
        return 0;
    }

private:
    std::vector<std::string> words_;
    std::string log_;
    pid_t child_ = 0;
};

}  // namespace hostler::contract
