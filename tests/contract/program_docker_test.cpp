// How the program of a container is run on real engines, podman and dockerd: its entry point, its init, and
// its /dev/shm.
#include <gmock/gmock.h>

#include <fstream>

#include "adapters/docker/image.h"
#include "adapters/sysfs/host.h"
#include "containers.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* box_image = "localhost/hostler-contract-entry:1";
using Words = std::vector<std::string>;

// Containers of an image with busybox, whose ENTRYPOINT is `echo entry` and whose CMD is `given`.
class Programs : public Containers {
protected:
    void SetUp() override {
        Containers::SetUp();
        if (!rig_ || run(rig().engine().has_image(box_image)).value_or(false)) return;
        std::ifstream program{"/bin/busybox", std::ios::binary};
        ASSERT_TRUE(program) << "busybox-static is needed";
        const std::string bytes{std::istreambuf_iterator<char>(program), {}};
        const auto made = run(
            rig().engine().import_image(docker::rootfs_of_program("/busybox", bytes), box_image,
                                        {.entrypoint = {"/busybox", "echo", "entry"}, .command = {"given"}}));
        ASSERT_TRUE(made) << made.error().message;
    }
    ContainerSpec box(std::string_view suffix = "a") {
        auto spec = rig_->server(name(suffix));
        spec.image = box_image;
        return spec;
    }
    ContainerSpec script(const std::string& text, std::string_view suffix = "a") {
        auto spec = box(suffix);
        spec.entrypoint = Words{"/busybox", "sh", "-c"};
        spec.command = {text};
        return spec;
    }
    std::string written(const std::string& container) {
        const auto log = run(rig_->engine().logs(container, {64 * 1024})).value_or(LogPart{});
        return text_of(log_pieces(log.pieces));
    }
    // What it wrote until it ended.
    std::string output(ContainerSpec spec, std::string_view suffix = "a") {
        const std::string container = spec.name;
        const auto launched = launch(std::move(spec));
        EXPECT_TRUE(launched) << launched.error().message;
        if (!launched) return {};
        wait_until(ContainerState::exited, suffix);
        return written(container);
    }
    // Until `container` has written it; within 20 s.
    bool writes(const std::string& container, const std::string& text) {
        const auto end = rig_->timers().now() + 20s;
        while (!written(container).contains(text)) {
            if (rig_->timers().now() > end || !run(sleep(rig_->timers(), 20ms))) return false;
        }
        return true;
    }
};

INSTANTIATE_TEST_SUITE_P(Real, Programs, engines, kind_name);

TEST_P(Programs, AnEntryPointIsReplacedOrLeftOut) {
    EXPECT_EQ(output(box("image"), "image"), "entry given\n");
    auto spec = box("cmd");
    spec.command = {"other", "words"};
    EXPECT_EQ(output(spec, "cmd"), "entry other words\n") << "a command replaces CMD alone";
    spec = box("entry");
    spec.entrypoint = Words{"/busybox", "echo", "mine"};
    EXPECT_EQ(output(spec, "entry"), "mine\n") << "CMD is for the image's entry point";
    spec = box("both");
    spec.entrypoint = Words{"/busybox", "echo", "mine"};
    spec.command = {"too"};
    EXPECT_EQ(output(spec, "both"), "mine too\n");
    spec = box("none");
    spec.entrypoint = Words{};
    spec.command = {"/busybox", "echo", "bare"};
    EXPECT_EQ(output(spec, "none"), "bare\n");
}

TEST_P(Programs, SharedMemoryIsAsLargeAsAsked) {
    auto spec = script(
        "/busybox df -k /dev/shm; "
        "/busybox dd if=/dev/zero of=/dev/shm/x bs=1M count=100 2>&1 && echo filled; "
        "/busybox dd if=/dev/zero of=/dev/shm/y bs=1M count=100 2>&1 || echo full");
    spec.memory_bytes = 512 << 20;
    spec.shm_bytes = 128 << 20;
    const std::string said = output(spec);
    EXPECT_THAT(said, HasSubstr(" 131072 "));
    EXPECT_THAT(said, HasSubstr("filled\n"));
    EXPECT_THAT(said, HasSubstr("full\n"));
}

// Children of children that have ended: nobody waits for them but process 1.
TEST_P(Programs, OrphansAreReaped) {
    const std::string leave_orphans =
        "/busybox sh -c 'i=0; while [ $i -lt 30 ]; do (/busybox sleep 0.2 &); i=$((i+1)); done'; "
        "echo left; exec /busybox sleep 1000";
    LinuxHost host{rig_->loop(), rig_->timers()};
    for (const bool no_init : {false, true}) {
        const std::string suffix = no_init ? "bare" : "init";
        auto spec = script(leave_orphans, suffix);
        spec.no_init = no_init;
        const auto launched = launch(spec);
        ASSERT_TRUE(launched) << launched.error().message;
        ASSERT_TRUE(writes(spec.name, "left"));
        // With an init all are gone soon; without one they stay, as many as they were.
        const auto wanted = no_init ? 31 : 2;
        ProcessUse use;
        for (const auto end = rig_->timers().now() + 20s; rig_->timers().now() < end;) {
            const auto uses = run(host.processes_of({launched->id}));
            ASSERT_TRUE(uses) << uses.error().message;
            ASSERT_TRUE(uses->contains(launched->id)) << "its control group was not found";
            use = uses->at(launched->id);
            if (!no_init && use.now == wanted) break;
            ASSERT_TRUE(run(sleep(rig_->timers(), no_init ? 1s : 50ms)));
            if (no_init) break;
        }
        EXPECT_EQ(use, (ProcessUse{wanted, 64}));
    }
}

// The kernel is asked, not the engine: one that keeps a CPU busy and has no network.
TEST_P(Programs, WhatAContainerUsesIsMeasured) {
    LinuxHost host{rig_->loop(), rig_->timers()};
    const auto spec = script("echo up; while :; do :; done");
    const auto launched = launch(spec);
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(writes(spec.name, "up"));
    InstanceSample sample;
    for (const auto end = rig_->timers().now() + 20s; rig_->timers().now() < end;) {
        const auto samples = run(host.samples_of({launched->id}));
        ASSERT_TRUE(samples) << samples.error().message;
        ASSERT_TRUE(samples->contains(launched->id)) << "its control group was not found";
        sample = samples->at(launched->id);
        if (sample.cpu_ms.value_or(0) > 1000) break;
        ASSERT_TRUE(run(sleep(rig_->timers(), 100ms)));
    }
    EXPECT_GT(sample.cpu_ms.value_or(0), 1000);
    EXPECT_GT(sample.memory_bytes.value_or(0), 0);
    EXPECT_EQ(sample.network_sent_bytes, std::nullopt);
    ASSERT_TRUE(run(rig_->engine().stop(spec.name, 5s)));
    EXPECT_THAT(run(host.samples_of({launched->id})).value(), ::testing::IsEmpty());
}

TEST_P(Programs, SignalsReachTheProgramAndItsExitCodeRemains) {
    const auto spec =
        script("trap 'echo caught; exit 5' TERM; echo up; while :; do /busybox sleep 0.1; done");
    ASSERT_TRUE(launch(spec));
    ASSERT_TRUE(writes(spec.name, "up"));
    EXPECT_EQ(run(rig_->engine().stop(spec.name, 15s)), StopEnd::ended);
    EXPECT_EQ(wait_until(ContainerState::exited).exit_code, 5);
    EXPECT_THAT(written(spec.name), HasSubstr("caught"));
}

// The kernel keeps from process 1 a signal that it has not asked for; below an init it ends the program.
TEST_P(Programs, OneThatKnowsNoSignalsEndsAtOnce) {
    auto spec = script("echo up; exec /busybox sleep 1000");
    ASSERT_TRUE(launch(spec));
    ASSERT_TRUE(writes(spec.name, "up"));
    const Instant asked = rig_->timers().now();
    EXPECT_EQ(run(rig_->engine().stop(spec.name, 15s)), StopEnd::ended);
    EXPECT_LT(rig_->timers().now() - asked, 10s);
    EXPECT_EQ(wait_until(ContainerState::exited).exit_code, 128 + SIGTERM);
}

TEST_P(Programs, OneWithAnInitOfItsOwnIsProcess1) {
    auto spec = script("echo $$", "bare");
    spec.no_init = true;
    EXPECT_EQ(output(spec, "bare"), "1\n");
    EXPECT_NE(output(script("echo $$", "init"), "init"), "1\n");
}

class ProgramsOnPodman : public Programs {};

INSTANTIATE_TEST_SUITE_P(Real, ProgramsOnPodman, ::testing::Values(podman), kind_name);

TEST_P(ProgramsOnPodman, AHostWithoutAnInitSaysSoAndLeavesNothing) {
    auto settings = rig().engine_settings();
    settings.inits = {"/nowhere/init"};
    docker::DockerEngine engine{rig().net(), rig_->timers(), rig().worker(), settings};
    const auto refused = run(engine.launch(script("echo up")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Engine::init_missing);
    EXPECT_THAT(refused.error().message, HasSubstr("install the package tini there"));
    EXPECT_TRUE(list().empty());
    auto bare = script("echo up");
    bare.no_init = true;
    EXPECT_EQ(output(bare), "up\n");
}

}  // namespace
}  // namespace hostler::contract
