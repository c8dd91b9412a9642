// What containers write, byte for byte and however much it is, on real engines.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "containers.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t much = 64 << 20, answer_bytes = 1 << 20;

// What `seq` writes.
std::string numbers(int last, int first = 1) {
    std::string text;
    for (int i = first; i <= last; ++i) text += fmt::format("{}\n", i);
    return text;
}

class WrittenLogs : public Containers {
protected:
    // Runs `script` of a shell.
    void write(const std::string& script, Engine* engine = nullptr, std::vector<MountSpec> mounts = {}) {
        auto spec = rig_->server(name());
        spec.image = rig().busybox_image();
        spec.command = {"/busybox", "sh", "-c", script};
        spec.mounts = std::move(mounts);
        launched_.push_back(name());
        const auto launched = run((engine ? *engine : rig_->engine()).launch(spec));
        ASSERT_TRUE(launched) << launched.error().message;
    }
    LogPart read(LogsWanted wanted) {
        const auto log = run(rig_->engine().logs(name(), wanted));
        EXPECT_TRUE(log) << log.error().message;
        return log.value_or(LogPart{});
    }
    static std::string text(const LogPart& log) { return text_of(log_pieces(log.pieces)); }
    bool until(const std::function<bool()>& so, Duration within = 20s) {
        const Instant end = rig_->timers().now() + within;
        while (!so()) {
            if (rig_->timers().now() > end) return false;
            EXPECT_TRUE(run(sleep(rig_->timers(), 20ms)));
        }
        return true;
    }
    bool on_podman() { return rig().dialect() == docker::Dialect::podman; }
    // With logs that are soon full.
    std::unique_ptr<docker::DockerEngine> engine_of_short_logs() {
        auto settings = rig().engine_settings();
        settings.log_bytes_max = 1 << 20;
        return std::make_unique<docker::DockerEngine>(rig().net(), rig_->timers(), rig().worker(), settings);
    }
};
INSTANTIATE_TEST_SUITE_P(Real, WrittenLogs, engines, kind_name);

TEST_P(WrittenLogs, TheEndOfManyLinesIsReadAtOnce) {
    write("/busybox seq 100000; echo WHY; exit 1");
    EXPECT_EQ(wait_until(ContainerState::exited).exit_code, 1);
    const Instant begun = rig_->timers().now();
    const auto last = read({.bytes_max = answer_bytes, .lines_max = 200});
    const auto took = rig_->timers().now() - begun;
    EXPECT_EQ(text(last), numbers(100'000, 99'802) + "WHY\n");
    EXPECT_TRUE(last.truncated);
    EXPECT_LT(took, 1s);
    EXPECT_EQ(text(read({.bytes_max = much})), numbers(100'000) + "WHY\n");
}

TEST_P(WrittenLogs, LinesSinceATimeAreReadAtOnce) {
    write("/busybox seq 100000; /busybox sleep 1; echo LATE");
    wait_until(ContainerState::exited);
    const auto late = read({.bytes_max = answer_bytes, .lines_max = 1});
    const auto at = log_pieces(late.pieces).front().time;
    const Instant begun = rig_->timers().now();
    const auto since = read({.bytes_max = answer_bytes, .since = at - 500ms});
    EXPECT_LT(rig_->timers().now() - begun, 1s);
    EXPECT_EQ(text(since), "LATE\n");
    EXPECT_FALSE(since.truncated);
}

// The engine begins another file, several times.
TEST_P(WrittenLogs, TheEndIsKeptHoweverMuchWasWritten) {
    const auto engine = engine_of_short_logs();
    write("i=0; while [ $i -lt 20 ]; do /busybox seq 10000; /busybox sleep 0.3; i=$((i+1)); done; echo WHY",
          engine.get());
    wait_until(ContainerState::exited);
    // Where the engine began the last file depends on when it read.
    const auto log = run(engine->logs(name(), {.bytes_max = much, .lines_max = 10'001}));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_TRUE(text(*log) == numbers(10'000) + "WHY\n") << text(*log).substr(0, 100);
    EXPECT_TRUE(log->truncated);
    EXPECT_TRUE(run(engine->logs(name(), {.bytes_max = much}))->truncated) << "the first lines are lost";
}

// By another agent than the one that started it, from answers that are small, over files that begin anew.
// The program never is more than a round ahead of the reader, however slow that is.
TEST_P(WrittenLogs, FollowingLosesNothingAndDoublesNothing) {
    constexpr int rounds = 16;
    const std::string folder = rig().folder() + "/rounds";
    std::filesystem::create_directories(folder);
    write(fmt::format("i=0; while [ $i -lt {} ]; do while [ ! -e /rounds/$i ]; do /busybox sleep 0.02; done; "
                      "/busybox seq 10000; i=$((i+1)); done; echo WHY",
                      rounds),
          engine_of_short_logs().get(), {{folder, "/rounds", true}});
    EXPECT_FALSE(list().empty());
    const std::string round = numbers(10'000);
    std::string expected, got;
    LogPlace place;
    for (int i = 0; i < rounds; ++i) {
        std::ofstream{fmt::format("{}/{}", folder, i)};
        expected += round;
        if (i + 1 == rounds) expected += "WHY\n";
        ASSERT_TRUE(until([&] {
            const auto part = read({.bytes_max = 256 << 10, .after = place});
            EXPECT_FALSE(part.truncated) << got.size();
            got += text(part);
            place = part.next;
            return got.size() >= expected.size();
        })) << got.size();
    }
    EXPECT_TRUE(got == expected) << "line ends are where they were written";
}

TEST_P(WrittenLogs, WhatALateFollowerHasMissedIsTold) {
    const auto engine = engine_of_short_logs();
    write(
        "echo first; /busybox sleep 1; i=0; while [ $i -lt 20 ]; do /busybox seq 10000; /busybox sleep 0.1; "
        "i=$((i+1)); done",
        engine.get());
    ASSERT_TRUE(until([&] { return text(read({.bytes_max = answer_bytes})).starts_with("first\n"); }));
    const auto first = read({.bytes_max = answer_bytes, .lines_max = 1, .after = LogPlace{}});
    wait_until(ContainerState::exited);
    const auto rest = read({.bytes_max = much, .after = first.next});
    EXPECT_TRUE(rest.truncated);
    EXPECT_TRUE(text(rest).ends_with(numbers(10'000)));
}

TEST_P(WrittenLogs, AnUnfinishedLineIsReadAsFarAsItIs) {
    write(
        "printf 10%%; /busybox sleep 0.2; printf '\\r20%%'; /busybox sleep 0.2; printf '\\r30%%'; "
        "trap 'exit 0' TERM; /busybox sleep 60 & wait");
    // Docker keeps it to itself until it is 16 KiB long, or ends.
    if (on_podman()) {
        EXPECT_TRUE(until([&] { return text(read({.bytes_max = answer_bytes})) == "10%\r20%\r30%"; }, 5s));
        const auto place = read({.bytes_max = answer_bytes, .lines_max = 1, .after = LogPlace{}});
        EXPECT_EQ(text(read({.bytes_max = answer_bytes, .lines_max = 1})), "10%\r20%\r30%")
            << "it is one line";
        EXPECT_EQ(text(read({.bytes_max = answer_bytes, .after = place.next})), "");
    } else {
        EXPECT_TRUE(run(sleep(rig_->timers(), 1s)));
    }
    EXPECT_TRUE(run(rig_->engine().stop(name(), 10s)));
    wait_until(ContainerState::exited);
    EXPECT_EQ(text(read({.bytes_max = answer_bytes})), "10%\r20%\r30%");
}

TEST_P(WrittenLogs, ALongLineIsOneLine) {
    write("echo before; /busybox head -c 200000 /dev/zero | /busybox tr '\\000' x; echo end; echo after");
    wait_until(ContainerState::exited);
    const std::string line = std::string(200'000, 'x') + "end\n";
    const auto last = read({.bytes_max = answer_bytes, .lines_max = 2});
    EXPECT_TRUE(text(last) == line + "after\n") << text(last).size();
    EXPECT_TRUE(last.truncated);
    EXPECT_FALSE(last.inside);
    const auto cut = read({.bytes_max = 100'000, .lines_max = 2});
    EXPECT_TRUE(cut.truncated && cut.inside);
    EXPECT_TRUE((line + "after\n").ends_with(text(cut)));
    EXPECT_GT(text(cut).size(), 80'000U);
}

TEST_P(WrittenLogs, EveryByteIsThereAsItWasWritten) {
    write("printf '\\377\\000\\303\\274 \\033[31mred\\033[0m\\r\\t\\001\\n\\n\\303'");
    wait_until(ContainerState::exited);
    using namespace std::string_view_literals;
    EXPECT_EQ(text(read({.bytes_max = answer_bytes})), "\xff\0\xc3\xbc \033[31mred\033[0m\r\t\001\n\n\xc3"sv);
}

// As an operator's container or one of an older agent may have it: what no file tells, the engine is asked
// for.
TEST_P(WrittenLogs, WithoutTheFileTheEngineIsAsked) {
    write("/busybox seq 1000; echo WHY");
    wait_until(ContainerState::exited);
    const auto asked = run(rig().engine().ask_for_logs(name(), {.bytes_max = answer_bytes, .lines_max = 3}));
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_EQ(text(*asked), "999\n1000\nWHY\n");
    EXPECT_TRUE(asked->truncated);
    const auto all = run(rig().engine().ask_for_logs(name(), {.bytes_max = answer_bytes}));
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(text(*all), numbers(1'000) + "WHY\n");
}

}  // namespace
}  // namespace hostler::contract
