// What holds for programs without containers as for containers (ports/engine.h), with real programs.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <fstream>

#include "core/kernel_files.h"
#include "program_rig.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string server_script =
    "trap 'echo SIGTERM; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
const std::string stubborn_script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";

TEST_F(ProgramTest, SaysWhatItIs) {
    const auto facts = run(engine_->describe());
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_EQ(facts->name, "programs");
    EXPECT_THAT(facts->cgroup_version, ::testing::AnyOf(1, 2));
    EXPECT_TRUE(facts->disk_unlimited.empty());
    EXPECT_EQ(run(engine_->limits())->cgroup_version, facts->cgroup_version);
}

TEST_F(ProgramTest, ItsOnlyImageIsPulledAtOnce) {
    EXPECT_TRUE(run(engine_->pull("program", {})));
    EXPECT_EQ(run(engine_->pull("debian:12", {})).error().code, Code::invalid);
    auto spec = shell("a", "exit 0");
    spec.image = "debian:12";
    const auto answer = launch(spec);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::not_found);
    EXPECT_EQ(answer.error().reason, Engine::image_missing);
}

TEST_F(ProgramTest, ExitCodesAreKept) {
    for (const int code : {0, 7, 255}) {
        const auto name = fmt::format("exit-{}", code);
        ASSERT_TRUE(launch(shell(name, fmt::format("echo leaving; exit {}", code))));
        const auto ended = wait_end(name);
        EXPECT_EQ(ended.exit_code, code);
        EXPECT_FALSE(ended.oom_killed);
        EXPECT_EQ(log_of(name), "leaving\n");
    }
    ASSERT_TRUE(launch(shell("signal", "kill -SEGV $$")));
    EXPECT_EQ(wait_end("signal").exit_code, 128 + SIGSEGV);
}

TEST_F(ProgramTest, LaunchedTwiceIsOneProgram) {
    const auto spec = shell("a", server_script);
    const auto first = launch(spec);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->state, ContainerState::running);
    EXPECT_EQ(first->labels, spec.labels);
    EXPECT_EQ(first->id.size(), 64U);
    const auto second = launch(spec);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(*second, *first);
}

TEST_F(ProgramTest, TheSameNameWithOtherLabelsIsAConflict) {
    auto spec = shell("a", server_script);
    ASSERT_TRUE(launch(spec));
    spec.labels["hostler.generation"] = "2";
    const auto other = launch(spec);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::conflict);
    EXPECT_EQ(other.error().reason, Engine::name_taken);
}

TEST_F(ProgramTest, WhatHasEndedIsNotStartedAgain) {
    const auto spec = shell("a", "exit 3");
    ASSERT_TRUE(launch(spec));
    wait_end("a");
    const auto again = launch(spec);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->state, ContainerState::exited);
    EXPECT_EQ(again->exit_code, 3);
}

TEST_F(ProgramTest, StoppingAsksFirstAndMayBeRepeated) {
    ASSERT_TRUE(launch(shell("a", server_script)));
    ASSERT_TRUE(wait_for([&] { return log_of("a") == "ready\n"; }));
    EXPECT_EQ(run(engine_->stop("a", 10s)), StopEnd::ended);
    EXPECT_EQ(wait_end("a").exit_code, 0);
    EXPECT_THAT(log_of("a"), ::testing::EndsWith("SIGTERM\n"));
    EXPECT_EQ(run(engine_->stop("a", 10s)), StopEnd::ended);
    EXPECT_EQ(run(engine_->stop("nothing-of-that-name", 1s)), StopEnd::ended);
}

TEST_F(ProgramTest, WhatDoesNotEndIsKilledWhenItsGraceIsOver) {
    ASSERT_TRUE(launch(shell("a", stubborn_script)));
    ASSERT_TRUE(wait_for([&] { return log_of("a") == "ready\n"; }));
    const Instant asked = timers_->now();
    EXPECT_EQ(run(engine_->stop("a", 1s)), StopEnd::killed);
    EXPECT_GE(timers_->now() - asked, 1s);
    EXPECT_LT(timers_->now() - asked, 10s);
    EXPECT_EQ(wait_end("a").exit_code, 137);
    EXPECT_EQ(run(engine_->stop("a", 1s)), StopEnd::ended) << "it is over: nothing was killed now";
}

TEST_F(ProgramTest, RemovingTakesItAwayAndMayBeRepeated) {
    ASSERT_TRUE(launch(shell("a", stubborn_script)));
    EXPECT_TRUE(run(engine_->remove("a")));
    EXPECT_EQ(find("a"), std::nullopt);
    EXPECT_TRUE(run(engine_->remove("a")));
    EXPECT_EQ(run(engine_->logs("a", {100})).error().code, Code::not_found);
    EXPECT_EQ(left(), before_);
}

TEST_F(ProgramTest, ListShowsThoseWithTheLabelOnly) {
    ASSERT_TRUE(launch(shell("a", server_script)));
    ASSERT_TRUE(launch(shell("b", server_script)));
    EXPECT_EQ(find("b")->name, "b");
    EXPECT_EQ(find("c"), std::nullopt);
}

TEST_F(ProgramTest, LinesOfALogHaveTheirTimes) {
    ASSERT_TRUE(launch(shell("a", "echo one; sleep 0.1; echo two >&2; printf three")));
    wait_end("a");
    const auto log = run(engine_->logs("a", {.bytes_max = 64 * 1024}));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_FALSE(log->truncated);
    const auto pieces = log_pieces(log->pieces);
    EXPECT_EQ(text_of(pieces), "one\ntwo\nthree");
    EXPECT_LT(pieces.front().time, pieces.back().time);
    const auto rest = run(engine_->logs("a", {.bytes_max = 64 * 1024, .after = log->next}));
    EXPECT_EQ(rest->pieces, "");
    const auto part = run(engine_->logs("a", {.bytes_max = 25}));
    EXPECT_EQ(text_of(log_pieces(part->pieces)), "three");
    EXPECT_TRUE(part->truncated);
    EXPECT_EQ(run(engine_->logs("nothing-of-that-name", {100})).error().code, Code::not_found);
}

TEST_F(ProgramTest, AMissingDeviceIsNotFoundAndLeavesNothing) {
    auto spec = shell("a", server_script);
    spec.cdi_devices = {"nvidia.com/gpu=not-there"};
    const auto answer = launch(spec);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::not_found);
    EXPECT_THAT(answer.error().message, HasSubstr("not-there"));
    EXPECT_EQ(left(), before_);
}

TEST_F(ProgramTest, ACommandThatIsNotThereIsInvalidAndLeavesNothing) {
    auto spec = shell("a", "");
    spec.command = {"no-such-program"};
    const auto answer = launch(spec);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::invalid);
    EXPECT_THAT(answer.error().message, HasSubstr("cannot run 'no-such-program'"));
    EXPECT_EQ(left(), before_);
    spec.command = {"sh", "-c", "echo found in PATH"};
    EXPECT_EQ(output_of(spec), "found in PATH\n");
}

TEST_F(ProgramTest, HostileNamesAreRefused) {
    for (const std::string name : {"", ".", "..", "../x", "a/b", "/", "/etc", ".hidden", "a b", "a\nb"}) {
        const auto answer = launch(shell(name, "exit 0"));
        ASSERT_FALSE(answer) << name;
        EXPECT_EQ(answer.error().code, Code::invalid) << name;
        EXPECT_EQ(run(engine_->stop(name, 1s)), StopEnd::ended);
        EXPECT_TRUE(run(engine_->remove(name)));
        EXPECT_EQ(run(engine_->logs(name, {100})).error().code, Code::not_found);
    }
    EXPECT_FALSE(launch(shell(std::string(129, 'a'), "exit 0")));
    EXPECT_EQ(output_of(shell(std::string(128, 'a'), "echo long")), "long\n");
}

TEST_F(ProgramTest, AfterARestartOfTheAgentAllIsFoundAgain) {
    const auto spec = shell("a", server_script);
    const auto launched = launch(spec);
    ASSERT_TRUE(launched);
    ASSERT_TRUE(launch(shell("b", "sleep 0.3; exit 5")));
    begin(settings());
    EXPECT_EQ(find("a"), *launched);
    EXPECT_EQ(wait_end("b").exit_code, 5);
    EXPECT_EQ(*launch(spec), *launched);
    ASSERT_TRUE(wait_for([&] { return log_of("a") == "ready\n"; }));
    EXPECT_EQ(run(engine_->stop("a", 10s)), StopEnd::ended);
    EXPECT_THAT(log_of("a"), ::testing::EndsWith("SIGTERM\n"));
}

TEST_F(ProgramTest, AProgramOutlivesTheProcessThatStartedIt) {
    const pid_t agent = ::fork();
    if (agent == 0) {
        Loop loop;
        testing::RealTimers timers{loop};
        const auto worker = make_worker(loop, "agent");
        program::ProgramEngine engine{loop, timers, *worker, settings()};
        const auto launched =
            testing::run_real(loop, engine.launch(shell("a", "sleep 0.5; echo done; exit 9")));
        if (launched) ::kill(::getpid(), SIGKILL);
        ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(agent, &status, 0), agent);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(find("a")->state, ContainerState::running);
    EXPECT_EQ(wait_end("a").exit_code, 9);
    EXPECT_EQ(log_of("a"), "done\n");
}

TEST_F(ProgramTest, OneNameIsStartedOnceByTwoAgents) {
    const auto other_worker = make_worker(loop_, "other");
    program::ProgramEngine other{loop_, *timers_, *other_worker, settings()};
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i) {
        const auto spec = shell(fmt::format("a-{}", i), server_script);
        TaskGroup group{loop_};
        const auto start = [&ids](program::ProgramEngine& engine, ContainerSpec wanted) -> Task<> {
            const auto made = co_await engine.launch(std::move(wanted));
            EXPECT_TRUE(made) << made.error().message;
            if (made) ids.push_back(made->id);
            co_return Result<>{};
        };
        group.start("one", start(*engine_, spec));
        group.start("other", start(other, spec));
        EXPECT_TRUE(wait_for([&] { return group.size() == 0; }));
        ASSERT_EQ(ids.size(), 2U);
        EXPECT_EQ(ids[0], ids[1]);
        ids.clear();
    }
}

TEST_F(ProgramTest, AProgramEndsWithItsHolder) {
    ASSERT_TRUE(
        launch(shell("a", "setsid sleep 1000 & trap '' TERM; echo ready; while :; do sleep 1; done")));
    ASSERT_TRUE(wait_for([&] { return log_of("a") == "ready\n"; }));
    const auto processes = running("a");
    ASSERT_GT(processes.holder.pid, 1);
    ASSERT_EQ(program::mark_of(processes.holder.pid), processes.holder);
    ASSERT_EQ(::kill(processes.holder.pid, SIGKILL), 0);
    const auto ended = wait_end("a");
    EXPECT_EQ(ended.exit_code, 137);
    EXPECT_FALSE(ended.oom_killed);
    EXPECT_THAT(ended.error, HasSubstr("the process that held the program was killed"));
    EXPECT_TRUE(wait_for([&] { return left().processes.empty(); }));
    EXPECT_EQ(log_of("a"), "ready\n");
    EXPECT_EQ(run(engine_->stop("a", 1s)), StopEnd::ended);
}

TEST_F(ProgramTest, TellsWhatHappensToTheProgramsThatAreFollowed) {
    auto quick = settings();
    quick.news_time = 50ms;
    begin(quick);
    TaskGroup stream{loop_};
    bool follows = false;
    int changes = 0;
    stream.start("events", engine_->follow(label, "a", [&](EngineNews news) {
        follows = true;
        if (news == EngineNews::changed) ++changes;
    }));
    ASSERT_TRUE(wait_for([&] { return follows; }));
    ASSERT_TRUE(launch(shell("other", server_script)));
    EXPECT_TRUE(run(sleep(*timers_, 200ms)));
    EXPECT_EQ(changes, 0);
    ASSERT_TRUE(launch(shell("a", "sleep 0.3")));
    EXPECT_TRUE(wait_for([&] { return changes > 0; })) << "it was started";
    EXPECT_TRUE(wait_for([&] { return find("a")->state == ContainerState::exited; }));
    EXPECT_TRUE(run(sleep(*timers_, 200ms)));
    changes = 0;
    ASSERT_TRUE(run(engine_->remove("a")));
    EXPECT_TRUE(wait_for([&] { return changes > 0; })) << "it was removed";
    EXPECT_TRUE(run(engine_->answers()));
    EXPECT_EQ(stream.size(), 1U);
    ASSERT_TRUE(run(stream.close()));
}

TEST_F(ProgramTest, TellsAtOnceThatAProgramHasEnded) {
    auto rare = settings();
    rare.news_time = 10min;
    begin(rare);
    ASSERT_TRUE(launch(shell("a", server_script)));
    TaskGroup stream{loop_};
    std::vector<EngineNews> told;
    stream.start("events", engine_->follow(label, "a", [&](EngineNews news) { told.push_back(news); }));
    ASSERT_TRUE(wait_for([&] { return !told.empty(); }));
    ASSERT_TRUE(run(engine_->stop("a", 0s)));
    EXPECT_TRUE(wait_for([&] { return told.size() > 1; })) << "no look is due for minutes";
    ASSERT_TRUE(run(stream.close()));
}

TEST_F(ProgramTest, FiftyProgramsLeaveNothing) {
    for (int i = 0; i < 50; ++i) {
        const auto launched = launch(shell(fmt::format("p-{}", i), i % 2 == 0 ? "exit 4" : server_script));
        ASSERT_TRUE(launched) << launched.error().message;
    }
    std::set<std::uint32_t> users;
    for (int i = 0; i < 50; ++i) {
        std::ifstream in{folder_of(fmt::format("p-{}", i)) + "/record"};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        const auto record = program::parse_record(text);
        ASSERT_TRUE(record);
        users.insert(record->user);
    }
    EXPECT_EQ(users.size(), 50U);
    for (int i = 0; i < 50; i += 2) EXPECT_EQ(wait_end(fmt::format("p-{}", i)).exit_code, 4);
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(run(engine_->remove(fmt::format("p-{}", i))));
    EXPECT_EQ(left(), before_);
}

TEST_F(ProgramTest, AFolderOfOneThatWasMadeOrRemovedByHalfIsCleared) {
    ASSERT_TRUE(launch(shell("whole", server_script)));
    std::filesystem::create_directory(folder_of("half"));
    std::ofstream{folder_of("half") + "/alive"};
    EXPECT_EQ(run(engine_->list(label, "whole"))->size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder_of("half")));
    EXPECT_TRUE(std::filesystem::exists(folder_of("whole")));
}

TEST_F(ProgramTest, ThereAreNoMoreProgramsThanUsers) {
    auto few = settings();
    few.ids.count = 2;
    begin(few);
    ASSERT_TRUE(launch(shell("a", server_script)));
    ASSERT_TRUE(launch(shell("b", server_script)));
    const auto third = launch(shell("c", server_script));
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, Code::exhausted);
    EXPECT_EQ(run(engine_->stop("a", 0s)), StopEnd::killed);
    EXPECT_TRUE(launch(shell("c", server_script))) << "the user of one that has ended";
}

}  // namespace
}  // namespace hostler::contract
