// What containers write beside their volumes, on real engines: it ends where it was asked to, in bytes and in
// inodes, and nothing of it is left on the host's disk.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "containers.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t disk_bytes = std::int64_t{320} << 20;
constexpr std::uintmax_t slack = 256 << 20;  // Of the host's disk, for all others that write there.

class Disks : public Containers {
protected:
    void SetUp() override {
        Containers::SetUp();
        if (IsSkipped() || HasFailure()) return;
        network_ = make_network(1);
        const auto facts = run(rig().engine().describe());
        ASSERT_TRUE(facts);
        if (!facts->disk_unlimited.empty()) GTEST_SKIP() << facts->disk_unlimited;
    }
    std::string serve_limited(int number, std::string_view suffix) {
        return serve(network_, number, suffix, [](auto& spec) {
            spec.disk_bytes = disk_bytes;
            spec.memory_bytes = std::int64_t{1}
                                << 30;  // The kernel counts inodes that it holds as its memory.
        });
    }
    std::uintmax_t free_bytes() { return fs::space(rig().folder()).available; }
    std::string attack(const std::string& at, std::string_view what) {
        return rig().get(at, fmt::format("/attack?what={}", what), 120s);
    }
    std::string devices() {
        return shell(fmt::format("cat /sys/block/loop*/loop/backing_file 2>/dev/null | grep {}/layers; true",
                                 rig().folder()));
    }
    NetworkSpec network_;
};
INSTANTIATE_TEST_SUITE_P(Real, Disks, engines, kind_name);

TEST_P(Disks, BytesEndAtTheLimitAndGoWithTheContainer) {
    const auto before = free_bytes();
    const auto writer = serve_limited(9, "a"), neighbour = serve_limited(10, "b");
    EXPECT_EQ(attack(writer, "fill-disk"), "ENOSPC\n");
    EXPECT_GT(free_bytes() + disk_bytes + slack, before);
    EXPECT_EQ(rig().get(neighbour, "/healthz"), "ok\n");
    EXPECT_EQ(attack(neighbour, "setuid"), "1234 1234\n") << "its disk takes a file";
    // One after the other, while monitors of the others run, which have copies of the mounts of their time.
    ASSERT_TRUE(run(rig().engine().remove(name("a"))));
    EXPECT_THAT(devices(), Not(HasSubstr(name("a")))) << "the host's disk keeps what nobody can reach";
    EXPECT_EQ(rig().get(neighbour, "/healthz"), "ok\n");
    ASSERT_TRUE(run(rig().engine().remove(name("b"))));
    EXPECT_EQ(devices(), "");
    EXPECT_TRUE(fs::is_empty(rig().folder() + "/layers"));
    EXPECT_GT(free_bytes() + slack, before);
}

TEST_P(Disks, InodesEndAtTheLimit) {
    const auto inodes = [&] {
        return std::stoull("0" + shell("df --output=iavail " + rig().folder() + " | tail -1 | tr -d ' \n'"));
    };
    const auto before = inodes();
    const auto writer = serve_limited(9, "a"), neighbour = serve_limited(10, "b");
    EXPECT_EQ(attack(writer, "fill-inodes"), "ENOSPC\n");
    constexpr unsigned long long others = 50'000;
    EXPECT_GT(inodes() + others, before);
    EXPECT_EQ(attack(neighbour, "setuid"), "1234 1234\n");
}

TEST_P(Disks, WhatAContainerWroteIsThereInTheNextOneOfItsNameIfItWasKept) {
    constexpr auto file = "/mine";
    const auto launched = [&](std::string_view generation, LayerStart start) {
        auto spec = rig_->server(name());
        spec.disk_bytes = disk_bytes;
        spec.layer = start;
        spec.labels["hostler.generation"] = generation;
        return launch(spec);
    };
    const auto root = [&] { return fmt::format("/proc/{}/root", rig().process_of(name())); };
    const auto taken_away = [&](LayerEnd end) {
        return run(rig().engine().stop(name(), 0s)) && run(rig().engine().remove(name(), end));
    };
    auto made = launched("1", LayerStart::kept);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, Engine::layer_missing);
    ASSERT_TRUE(launched("1", LayerStart::empty));
    std::ofstream{root() + file} << "written";
    ASSERT_TRUE(taken_away(LayerEnd::kept));
    EXPECT_EQ(run(rig().layers().kept())->size(), 1U);
    made = launched("2", LayerStart::kept);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(shell("cat " + root() + file), "written");
    EXPECT_EQ(run(rig().layers().kept())->size(), 0U);
    // Once more, over two runs, and then without.
    ASSERT_TRUE(taken_away(LayerEnd::kept));
    ASSERT_TRUE(launched("3", LayerStart::kept));
    EXPECT_EQ(shell("cat " + root() + file), "written");
    ASSERT_TRUE(taken_away(LayerEnd::lost));
    ASSERT_TRUE(launched("4", LayerStart::empty));
    EXPECT_EQ(shell("cat " + root() + file + " 2>/dev/null; true"), "");
    ASSERT_TRUE(taken_away(LayerEnd::kept));
    ASSERT_TRUE(run(rig().engine().remove(name(), LayerEnd::lost))) << "what was kept is lost, too";
    EXPECT_EQ(devices(), "");
    EXPECT_TRUE(fs::is_empty(rig().folder() + "/layers"));
}

// Counts what is dialled: the engine's adapter dials for each call.
class CountedNet final : public Net {
public:
    explicit CountedNet(Net& below) : below_(below) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        ++dials;
        return below_.dial(std::move(address), deadline);
    }
    Task<ListenerPtr> listen(std::string address) override { return below_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return below_.secure(std::move(raw), std::move(how), side, deadline);
    }
    int dials = 0;

private:
    Net& below_;
};

TEST_P(Disks, AStartTakesALayerThatWasMadeAheadAndAsksTheEngineFourTimes) {
    CountedNet net{rig().net()};
    docker::DockerEngine engine{net, rig().timers(), rig().worker(), rig().engine_settings()};
    ASSERT_TRUE(run(engine.describe()));
    const auto made = run(rig().layers().make_ahead(1, disk_bytes));
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(*made, 1U);
    const std::string device = devices();
    auto spec = rig_->server(name());
    spec.disk_bytes = disk_bytes;
    spec.network = network_.id;
    spec.gateway = network_.gateway;
    spec.address = network_.gateway.substr(0, network_.gateway.rfind('.') + 1) + "9";
    net.dials = 0;
    const auto launched = run(engine.launch(spec));
    ASSERT_TRUE(launched) << launched.error().message;
    EXPECT_EQ(net.dials, 4) << "create, look where it writes, start, look whether it runs";
    EXPECT_EQ(rig().get(spec.address, "/healthz"), "ok\n");
    EXPECT_NE(device, "");
    EXPECT_EQ(std::ranges::count(devices(), '\n'), 1) << "the one that was there is the container's";
    EXPECT_EQ(attack(spec.address, "fill-disk"), "ENOSPC\n");
    EXPECT_THAT(shell(fmt::format("cat /proc/{}/root/etc/resolv.conf", rig().process_of(name()))),
                HasSubstr("nameserver"));
    ASSERT_TRUE(run(rig().engine().remove(name())));
    EXPECT_EQ(devices(), "");
    EXPECT_TRUE(fs::is_empty(rig().folder() + "/layers"));
}

TEST_P(Disks, WhatWasMadeAndNotStartedIsLimitedByTheNextLaunch) {
    auto spec = rig_->server(name());
    spec.disk_bytes = disk_bytes;
    ASSERT_TRUE(launch(spec));
    const auto again = launch(spec);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->state, ContainerState::running);
    ASSERT_TRUE(run(rig().engine().stop(name(), 0s)));
    ASSERT_TRUE(run(rig().engine().remove(name())));
    EXPECT_EQ(devices(), "");
}

TEST_P(Disks, OneThatMustHaveALimitDoesNotStartWithout) {
    auto settings = rig().engine_settings();
    settings.layers = nullptr;
    docker::DockerEngine unlimited{rig().net(), rig().timers(), rig().worker(), settings};
    auto spec = rig_->server(name());
    spec.disk_bytes = disk_bytes;
    spec.disk_limit_required = true;
    const auto refused = run(unlimited.launch(spec));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "disk_unlimited");
    EXPECT_EQ(rig().process_of(name()), 0);
    EXPECT_NE(run(unlimited.describe())->disk_unlimited, "");
}

TEST_P(Disks, FilesOfTheHostAreNeitherSeenNorWritten) {
    const auto at = serve(network_, 9, "a", [](auto&) {});
    EXPECT_THAT(attack(at, "hosts-files"), AnyOf("EROFS\n", "EACCES\n"));
    const auto seen = attack(at, "hosts-seen");
    const auto address = network_.gateway.substr(0, network_.gateway.rfind('.') + 1) + "9";
    EXPECT_THAT(seen, HasSubstr("127.0.0.1\tlocalhost\n::1\tlocalhost\n" + address + "\th9\n"));
    EXPECT_THAT(seen, AnyOf(HasSubstr("nameserver " + network_.gateway + "\n"),
                            HasSubstr("nameserver 127.0.0.11\n")));
    const auto lines = std::ranges::count(seen, '\n');
    EXPECT_EQ(lines, 5) << seen;
}

}  // namespace
}  // namespace hostler::contract
