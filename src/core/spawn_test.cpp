#include "core/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

namespace hostler {

namespace {

std::string read_all(int from) {
    std::string all;
    char piece[256];
    for (ssize_t size; (size = ::read(from, piece, sizeof piece)) > 0;)
        all.append(piece, static_cast<std::size_t>(size));
    return all;
}

struct Pipe {
    Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
    ~Pipe() {
        ::close(ends[0]);
        if (ends[1] >= 0) ::close(ends[1]);
    }
    std::string said() {
        ::close(std::exchange(ends[1], -1));
        return read_all(ends[0]);
    }
    int ends[2] = {-1, -1};
};

TEST(Spawn, GivesArgumentsStreamsAndEnvironment) {
    Pipe out;
    const std::vector<std::string> words{"sh", "-c", "echo \"$0 $NAME\"; exit 7", "a b"};
    const auto pid =
        spawn(words, {.streams = {{out.ends[1], 1}}, .environment = {{"NAME=value", "PATH=/usr/bin:/bin"}}});
    ASSERT_TRUE(pid);
    EXPECT_EQ(out.said(), "a b value\n");
    EXPECT_EQ(wait_end(*pid), 7);
}

TEST(Spawn, SaysWhichProgramIsNotThere) {
    const std::vector<std::string> words{"no-such-program"};
    const auto pid = spawn(words, {});
    ASSERT_FALSE(pid);
    EXPECT_EQ(pid.error().code, Code::not_found);
    EXPECT_EQ(pid.error().message, "the program 'no-such-program' is not installed");
}

TEST(Spawn, AGroupOfItsOwnEndsWhole) {
    Pipe out;
    const std::vector<std::string> words{"sh", "-c", "sleep 600 & sleep 600"};
    const auto pid = spawn(words, {.streams = {{out.ends[1], 1}}, .own_group = true});
    ASSERT_TRUE(pid);
    EXPECT_EQ(ended(*pid), std::nullopt);
    ASSERT_EQ(::kill(-*pid, SIGKILL), 0);
    EXPECT_EQ(wait_end(*pid), 128 + SIGKILL);
    EXPECT_EQ(out.said(), "") << "whoever held the pipe is gone";
}

// A shell has what it starts in the background ignore SIGINT, and whoever that starts would inherit it.
TEST(Spawn, NoSignalIsIgnoredThereOrBlocked) {
    const auto before = ::signal(SIGINT, SIG_IGN);
    sigset_t interrupt, old;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &old);
    const std::vector<std::string> words{"sh", "-c", "kill -INT $$; exit 7"};
    const auto pid = spawn(words, {});
    ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
    ::signal(SIGINT, before);
    ASSERT_TRUE(pid);
    EXPECT_EQ(wait_end(*pid), 128 + SIGINT);
}

}  // namespace
}  // namespace hostler
