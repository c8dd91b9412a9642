// The Exec port (ports/exec.h) on real engines, podman and dockerd: what sessions stand on.
#include <gmock/gmock.h>

#include "adapters/docker/exec.h"
#include "host_rig.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Said {
    std::string out, err;
    int code = -1;
};

class Commands : public EngineContract {
protected:
    void SetUp() override {
        EngineContract::SetUp();
        if (!rig_) return;
        auto spec = rig_->server(name());
        spec.image = rig().busybox_image();
        spec.command.clear();
        const auto launched = launch(spec);
        ASSERT_TRUE(launched) << launched.error().message;
        exec_ = std::make_unique<docker::DockerExec>(rig_->loop(), rig().net(), rig_->timers(),
                                                     rig().engine_settings().socket);
    }
    void TearDown() override {
        exec_.reset();
        EngineContract::TearDown();
    }
    HostRig& rig() { return static_cast<HostRig&>(*rig_); }
    ExecSpec spec(std::vector<std::string> words) {
        words.insert(words.begin(), "/busybox");
        return {.container = name(), .command = std::move(words)};
    }
    ProcessPtr start(ExecSpec what) {
        auto process = run(exec_->start(std::move(what)));
        EXPECT_TRUE(process) << process.error().message;
        return process ? std::move(*process) : nullptr;
    }
    // Reads until `text` was said, or the end when it is empty; for a minute at most.
    bool read_until(Process& process, Said& said, const std::string& text = "") {
        std::array<char, 64 * 1024> into{};
        const Deadline patience{rig_->timers(), 60s, [&] { process.close(); }};
        while (text.empty() || (said.out + said.err).find(text) == std::string::npos) {
            const auto output = run(process.read(into));
            EXPECT_TRUE(output) << output.error().message;
            if (!output || output->size == 0) return text.empty();
            (output->error ? said.err : said.out).append(into.data(), output->size);
        }
        return true;
    }
    Said finish(Process& process, Said said = {}) {
        read_until(process, said);
        said.code = run(process.exit_code()).value_or(-1);
        return said;
    }
    std::unique_ptr<docker::DockerExec> exec_;
};

INSTANTIATE_TEST_SUITE_P(Real, Commands,
                         ::testing::Values(EngineKind{"podman", [] { return PodmanRig::shared(); }},
                                           EngineKind{"docker", [] { return DockerRig::shared(); }}),
                         kind_name);

TEST_P(Commands, OutputErrorsAndExitCodeComeApart) {
    const auto process = start(spec({"sh", "-c", "echo out; echo err >&2; exit 7"}));
    ASSERT_TRUE(process);
    const Said said = finish(*process);
    EXPECT_EQ(said.out, "out\n");
    EXPECT_EQ(said.err, "err\n");
    EXPECT_EQ(said.code, 7);
}

TEST_P(Commands, EnvironmentAndFolderAreAsAsked) {
    auto asked = spec({"sh", "-c", "echo $A $PWD"});
    asked.environment["A"] = "b";
    asked.folder = "/tmp";
    const auto process = start(asked);
    ASSERT_TRUE(process);
    EXPECT_EQ(finish(*process).out, "b /tmp\n");
}

TEST_P(Commands, OneThatIsNotThereEndsAndSaysSo) {
    auto asked = spec({});
    asked.command = {"/no/such/program"};
    const auto process = start(asked);
    ASSERT_TRUE(process);
    const Said said = finish(*process);
    EXPECT_THAT(said.code, ::testing::AnyOf(126, 127));
    EXPECT_THAT(said.out + said.err, HasSubstr("/no/such/program"));
}

TEST_P(Commands, FourMebibytesGoInAndComeBack) {
    auto asked = spec({"cat"});
    asked.input = true;
    const auto process = start(asked);
    ASSERT_TRUE(process);
    std::string sent(4 << 20, '\0');
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761U >> 13);
    TaskGroup writing{rig_->loop()};
    writing.start("input", [](Process& to, const std::string& bytes) -> Task<> {
        constexpr std::size_t piece = 32 * 1024;
        for (std::size_t at = 0; at < bytes.size(); at += piece)
            CO_TRY(co_await to.write(std::string_view{bytes}.substr(at, piece)));
        co_return co_await to.finish();
    }(*process, sent));
    const Said said = finish(*process);
    EXPECT_TRUE(said.out == sent) << said.out.size() << " bytes came back";
    EXPECT_EQ(said.code, 0);
    EXPECT_TRUE(run(writing.close()));
}

TEST_P(Commands, ATerminalHasASizeThatChangesAndEndsInput) {
    auto asked = spec({"sh"});
    asked.terminal = asked.input = true;
    asked.size = {.rows = 33, .columns = 101};
    const auto process = start(asked);
    ASSERT_TRUE(process);
    Said said;
    const auto type = [&](std::string_view keys) { ASSERT_TRUE(run(process->write(keys))); };
    type("/busybox stty size\n");
    ASSERT_TRUE(read_until(*process, said, "33 101")) << said.out;
    ASSERT_TRUE(run(process->resize({.rows = 40, .columns = 132})));
    type("/busybox stty size\n");
    ASSERT_TRUE(read_until(*process, said, "40 132")) << said.out;
    // Ctrl-C is the terminal's own.
    // What is in the foreground says so itself: before, the shell would get the interrupt.
    type("/busybox sh -c \"echo sta''rted; exec /busybox sleep 1000\"\n");
    ASSERT_TRUE(read_until(*process, said, "started")) << said.out;
    type("\x03");
    type("echo code $?\n");
    ASSERT_TRUE(read_until(*process, said, "code 130")) << said.out;
    type("exit 5\n");
    said = finish(*process, said);
    EXPECT_EQ(said.code, 5);
    EXPECT_EQ(said.err, "") << "a terminal has one stream";
}

TEST_P(Commands, SignalsReachTheCommand) {
    const auto process = start(spec(
        {"sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; while :; do /busybox sleep 0.1; done"}));
    ASSERT_TRUE(process);
    Said said;
    ASSERT_TRUE(read_until(*process, said, "ready"));
    EXPECT_EQ(run(process->signal("NONSENSE")).error().code, Code::invalid);
    ASSERT_TRUE(run(process->signal("INT")));
    said = finish(*process, said);
    EXPECT_THAT(said.out, HasSubstr("caught"));
    EXPECT_EQ(said.code, 9);
}

TEST_P(Commands, NothingIsStartedWhereNothingRuns) {
    auto asked = spec({"true"});
    asked.container = "nothing-of-that-name";
    EXPECT_EQ(run(exec_->start(asked)).error().code, Code::not_found);
    ASSERT_TRUE(run(rig_->engine().stop(name(), 0s)));
    EXPECT_EQ(run(exec_->start(spec({"true"}))).error().code, Code::conflict);
}

}  // namespace
}  // namespace hostler::contract
