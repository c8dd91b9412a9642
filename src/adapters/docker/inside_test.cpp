#include "adapters/docker/inside.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hostler::docker {
namespace {

// A process that runs another file after a moment, as an engine's runtime becomes a container's init.
int start_later(const char* script) {
    constexpr unsigned moment_us = 50'000;
    const int pid = ::fork();
    if (pid != 0) return pid;
    ::usleep(moment_us);
    ::execl("/bin/sh", "sh", "-c", script, static_cast<char*>(nullptr));
    ::_exit(1);
}

void end(int pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

TEST(ProgramBegins, WhenAChildOfTheInitRunsAnotherFile) {
    const int pid = start_later("sleep 5; exit 1");
    EXPECT_TRUE(program_begins(pid));
    end(pid);
}

// The shell's child runs the shell's own file, and then both end.
TEST(ProgramBegins, NeitherWithTheInitsOwnChildNorWithTheRuntimeBeforeIt) {
    const int pid = start_later("(i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done); exit 127");
    EXPECT_FALSE(program_begins(pid));
    end(pid);
}

}  // namespace
}  // namespace hostler::docker
