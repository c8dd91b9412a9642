// The roles as a person or a service manager starts them: their command lines, and Ctrl-C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "core/testing/temp_folder.h"
#include "machine.h"

namespace hostler::cloud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string agent() { return std::filesystem::path{HOSTLER}.parent_path() / "hostler-agent"; }

void expect_usage(const Ran& ran, const std::string& who, const std::string& what) {
    EXPECT_EQ(ran.code, 2) << who;
    EXPECT_EQ(lines(ran.err).size(), 1U) << ran.err;
    EXPECT_THAT(ran.err, StartsWith(who + ": "));
    EXPECT_THAT(ran.err, HasSubstr(what));
    EXPECT_EQ(ran.out, "") << who;
}

TEST(CommandLine, AWrongOneEndsEachRoleWithTwoAndALine) {
    for (const std::string role :
         {"up", "master", "access", "gateway", "ca", "seal", "store", "backup", "restore"}) {
        expect_usage(run_program({HOSTLER, role, "--no-such-option"}), "hostler " + role, "--help");
        const Ran help = run_program({HOSTLER, role, "--help"});
        EXPECT_EQ(help.code, 0) << role;
        EXPECT_THAT(help.out, HasSubstr("hostler " + role));
        EXPECT_EQ(help.err, "");
    }
    expect_usage(run_program({HOSTLER, "access", "--zone", "nj"}), "hostler access", "--data is required");
    expect_usage(run_program({HOSTLER, "gateway", "--data", "/x", "--master", "m:1", "--drain", "long"}),
                 "hostler gateway", "--drain");
    expect_usage(run_program({HOSTLER, "up", "--masters", "10"}), "hostler up", "--masters");
    expect_usage(run_program({HOSTLER, "up", "--clusters", "--cluster-saves", "/not/there"}), "hostler up",
                 "--cluster-saves /not/there: is no folder that is there");
    expect_usage(run_program({HOSTLER, "up", "--cluster-saves", "/tmp"}), "hostler up", "needs --clusters");
    expect_usage(run_program({HOSTLER, "up", "--drivers", "/not/there"}), "hostler up",
                 "the folder of drivers /not/there cannot be read: No such file or directory");
    expect_usage(run_program({HOSTLER, "master", "--data", "/x", "more"}), "hostler master", "more");
    for (const std::vector<std::string>& role :
         std::vector<std::vector<std::string>>{{"master", "--data", "/x"}, {"up"}}) {
        const auto expect_wrong = [&](std::vector<std::string> words, const std::string& what) {
            words.insert(words.begin(), role.begin(), role.end());
            words.insert(words.begin(), HOSTLER);
            expect_usage(run_program(std::move(words)), "hostler " + role.front(), what);
        };
        expect_wrong({"--report-interval-of", "H101=1", "--report-interval-of", "h100=20"},
                     "--report-interval-of H101=1: no GPU of that class is known; --report-interval-of "
                     "h100=20: its seconds are 0.5 to ");
        expect_wrong({"--report-interval-of", "H100"}, "it is CLASS=SECONDS");
        expect_wrong({"--report-interval-of", "H100=nan"}, "its seconds are 0.5 to ");
        expect_wrong({"--report-interval", "500"}, "--move-lease 600 is too short");
    }
    expect_usage(run_program({HOSTLER, "ca", "issue"}), "hostler ca", "is required");
    expect_usage(run_program({HOSTLER, "store", "copy", "/x"}), "hostler store", "to is required");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"--no-such-option"}, {"run", "--no-such-option"}, {"supervise"}, {"inventory", "-o", "xml"}}) {
        std::vector<std::string> all{agent()};
        all.insert(all.end(), words.begin(), words.end());
        expect_usage(run_program(std::move(all)), "hostler-agent", "--help");
    }
}

// What the kernel says that this process ignores.
bool ignores(pid_t process, int signal) {
    for (const std::string& line : lines(read_file("/proc/" + std::to_string(process) + "/status")))
        if (line.starts_with("SigIgn:"))
            return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1U) != 0;
    return true;
}

// A shell has what it starts in the background ignore Ctrl-C, and so would tenants' shells below it.
TEST(Signals, WhatIsStartedInTheBackgroundHearsCtrlCAllTheSame) {
    const testing::TempFolder folder;
    const std::string data = folder.path() + "/master", ready = folder.path() + "/ready";
    const pid_t process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
        for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
        ::execl(HOSTLER, HOSTLER, "master", "--data", data.c_str(), "--api", "127.0.0.1:0", "--wire",
                "127.0.0.1:0", "--ready-file", ready.c_str(), nullptr);
        ::_exit(127);
    }
    const auto within = [](std::chrono::seconds time, const std::function<bool()>& so) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (!so() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(10ms);
        return so();
    };
    EXPECT_TRUE(within(60s, [&] { return std::filesystem::exists(ready); }));
    for (const int signal : {SIGINT, SIGQUIT}) EXPECT_FALSE(ignores(process, signal)) << signal;
    ::kill(process, SIGINT);
    int status = -1;
    bool ended = false;
    EXPECT_TRUE(
        within(30s, [&] { return ended = ended || ::waitpid(process, &status, WNOHANG) == process; }));
    if (!ended) {
        ::kill(process, SIGKILL);
        ::waitpid(process, &status, 0);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Up, SaysWhyARoleDoesNotStart) {
    const testing::TempFolder folder;
    const std::string log = folder.path() + "/log";
    shell(fmt::format(
        "{} up --engine sim --data {}/data --listen 127.0.0.1:0 --metrics nonsense >{} 2>&1 & up=$!; i=0; "
        "until grep -q 'started again' {} || [ $i -ge 1200 ]; do sleep 0.05; i=$((i+1)); done; kill $up; "
        "wait $up",
        HOSTLER, folder.path(), log, log));
    EXPECT_THAT(read_file(log),
                HasSubstr("master has ended (code 1: 'nonsense' is not an address; write host:port"));
}

// As in a container that has few devices.
TEST(Simulated, GpusForWhichNoDeviceCanStandAreToldOf) {
    const testing::TempFolder folder;
    const auto said = [&](const std::string& name, const std::string& device) {
        const std::string at = folder.path() + "/" + name;
        const std::string ended = shell(fmt::format(
            "unshare --mount sh -c 'mount -t tmpfs none /dev; mknod -m 666 /dev/null c 1 3; mknod -m 666 "
            "/dev/urandom c 1 9; {0} {1} up --engine sim --data {2} --listen 127.0.0.1:0 --simulate "
            "hosts=2,gpus=1 --ready-file {2}-ready >{2}-log 2>&1 & up=$!; i=0; while [ ! -e {2}-ready ] && "
            "kill -0 $up 2>/dev/null && [ $i -lt 1200 ]; do sleep 0.05; i=$((i+1)); done; kill $up; wait "
            "$up; "
            "echo $?'",
            device, HOSTLER, at));
        EXPECT_EQ(ended, "0\n");
        return read_file(at + "-log");
    };
    const std::string warning = "no device of this machine can stand for a simulated GPU";
    const std::string bare = said("bare", "");
    EXPECT_THAT(bare, HasSubstr(warning));
    EXPECT_EQ(bare.find(warning), bare.rfind(warning)) << "once for all hosts";
    EXPECT_THAT(said("whole", "mknod -m 666 /dev/fuse c 1 3;"), Not(HasSubstr(warning)));
}

}  // namespace
}  // namespace hostler::cloud
