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
constexpr std::uintmax_t slack = 64 << 20;  // For what the engine keeps of a container beside that.

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
    // What the engine and its layers take of the host's disk. Others write there at the same time, so what is
    // free says nothing. Files that were deleted and are still in use are not among it: see devices().
    std::uintmax_t used_bytes() {
        return std::stoull(
            "0" + shell(fmt::format("du -sx -B1 {} 2>/dev/null | cut -f1 | tr -d '\n'", rig().folder())));
    }
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

// Dockerd copies what an image has in a volume; podman shows it without a copy.
class DisksOnDocker : public Disks {};
INSTANTIATE_TEST_SUITE_P(Real, DisksOnDocker, ::testing::Values(dockerd), kind_name);

TEST_P(Disks, BytesEndAtTheLimitAndGoWithTheContainer) {
    const auto before = used_bytes();
    const auto writer = serve_limited(9, "a"), neighbour = serve_limited(10, "b");
    EXPECT_EQ(attack(writer, "fill-disk"), "ENOSPC\n");
    EXPECT_LT(used_bytes(), before + disk_bytes + slack);
    EXPECT_GT(used_bytes(), before + disk_bytes / 2) << "what it wrote is not where it is counted";
    EXPECT_EQ(rig().get(neighbour, "/healthz"), "ok\n");
    EXPECT_EQ(attack(neighbour, "setuid"), "1234 1234\n") << "its disk takes a file";
    // One after the other, while monitors of the others run, which have copies of the mounts of their time.
    ASSERT_TRUE(run(rig().engine().remove(name("a"))));
    EXPECT_THAT(devices(), Not(HasSubstr(name("a")))) << "the host's disk keeps what nobody can reach";
    EXPECT_EQ(rig().get(neighbour, "/healthz"), "ok\n");
    ASSERT_TRUE(run(rig().engine().remove(name("b"))));
    EXPECT_EQ(devices(), "");
    EXPECT_TRUE(fs::is_empty(rig().folder() + "/layers"));
    EXPECT_LT(used_bytes(), before + slack);
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

// What an image declares as a volume is no folder of the host's own disk.
TEST_P(Disks, AVolumeOfTheImageLiesWithinTheLimitAndIsKeptWithTheLayer) {
    const std::string folder = rig().folder() + "/declares", image = "localhost/hostler-contract-declares:1";
    ASSERT_EQ(shell(fmt::format("mkdir -p {0}/data/inner {0}/tmp {0}/etc && cp {1} {0}/demo && "
                                "echo -n seed > {0}/data/inner/seed && chown -R 33:44 {0}/data/inner && "
                                "chmod 2750 {0}/data/inner && chmod 0751 {0}/data && echo made",
                                folder, HOSTLER_DEMO)),
              "made\n");
    rig().import_folder(folder, image, {"VOLUME /data", "VOLUME /not/there", "CMD [\"/demo\"]"});
    const auto launched = [&](std::string_view generation, LayerStart start) {
        auto spec = rig_->server(name());
        spec.image = image;
        spec.disk_bytes = disk_bytes;
        spec.memory_bytes = std::int64_t{1} << 30;
        spec.layer = start;
        spec.labels["hostler.generation"] = generation;
        return launch(spec);
    };
    const auto inside = [&](std::string_view path) {
        return fmt::format("/proc/{}/root{}", rig().process_of(name()), path);
    };
    const auto taken_away = [&](LayerEnd end) {
        return run(rig().engine().stop(name(), 0s)) && run(rig().engine().remove(name(), end));
    };
    const auto volumes = [&] {
        docker::Api api{rig().net(), rig().timers(), rig().engine_settings().socket};
        const auto answer = run(api.call("GET", "/volumes", 10s));
        return answer ? boost::json::parse(answer->body).at("Volumes") : boost::json::value{};
    };
    const auto before = used_bytes();
    auto made = launched("1", LayerStart::empty);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(shell("cat " + inside("/data/inner/seed")), "seed");
    EXPECT_EQ(shell("stat -c '%a %u %g' " + inside("/data/inner")),
              fmt::format("2750 {} {}\n", rig().ids().first_user + 33, rig().ids().first_group + 44));
    EXPECT_EQ(shell("stat -c %a " + inside("/data")), "751\n");
    EXPECT_LE(fs::space(inside("/data")).capacity, static_cast<std::uintmax_t>(disk_bytes));
    EXPECT_THAT(shell("dd if=/dev/zero bs=1M count=400 of=" + inside("/data/full") + " 2>&1; true"),
                HasSubstr("No space left"));
    EXPECT_LT(used_bytes(), before + disk_bytes + slack);
    EXPECT_GT(used_bytes(), before + disk_bytes / 2) << "what it wrote is not where it is counted";
    ASSERT_EQ(shell(fmt::format("rm {0}/full && echo -n mine > {0}/mine && echo -n x > {1}/y; echo done",
                                inside("/data"), inside("/not/there"))),
              "done\n");
    EXPECT_EQ(shell("stat -c '%a %u' " + inside("/not/there")),
              fmt::format("755 {}\n", rig().ids().first_user));
    ASSERT_EQ(shell("chmod 1770 " + inside("/not/there") + " && echo done"), "done\n");
    ASSERT_TRUE(taken_away(LayerEnd::kept));
    EXPECT_EQ(volumes(), boost::json::array{});
    made = launched("2", LayerStart::kept);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(shell("cat " + inside("/data/mine") + " " + inside("/data/inner/seed")), "mineseed");
    EXPECT_LE(fs::space(inside("/data")).capacity, static_cast<std::uintmax_t>(disk_bytes));
    EXPECT_EQ(shell("cat " + inside("/not/there/y")), "x");
    EXPECT_EQ(shell("stat -c %a " + inside("/not/there")), "1770\n");
    // As `hostler up` does, which stops containers and starts them again by the engine alone.
    ASSERT_TRUE(run(rig().engine().stop(name(), 0s)));
    post("/containers/" + name() + "/start", "", 204);
    EXPECT_EQ(shell("cat " + inside("/data/mine")), "mine");
    ASSERT_TRUE(taken_away(LayerEnd::lost));
    made = launched("3", LayerStart::empty);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(shell("ls " + inside("/data")), "inner\n");
    ASSERT_TRUE(taken_away(LayerEnd::lost));
    EXPECT_EQ(volumes(), boost::json::array{});
    EXPECT_EQ(devices(), "");
    EXPECT_TRUE(fs::is_empty(rig().folder() + "/layers"));
}

TEST_P(DisksOnDocker, AnImageWithMoreInItsVolumeThanTheLimitDoesNotStart) {
    const std::string folder = rig().folder() + "/large", image = "localhost/hostler-contract-large:1";
    ASSERT_EQ(shell(fmt::format("mkdir -p {0}/data && cp {1} {0}/demo && "
                                "dd if=/dev/zero bs=1M count=400 of={0}/data/zeros 2>/dev/null && echo made",
                                folder, HOSTLER_DEMO)),
              "made\n");
    rig().import_folder(folder, image, {"VOLUME /data", "CMD [\"/demo\"]"});
    auto spec = rig_->server(name());
    spec.image = image;
    spec.disk_bytes = disk_bytes;
    const auto refused = launch(spec);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "disk_full");
    EXPECT_THAT(refused.error().message, HasSubstr("/data"));
    EXPECT_TRUE(list().empty());
    EXPECT_EQ(devices(), "");
}

// So that a program that looks at its folder, as OpenSSH at /root, finds what its image has there.
TEST_P(Containers, ANewVolumeTakesOwnerAndModeOfWhatItCovers) {
    const std::string folder = rig().folder() + "/covered", image = "localhost/hostler-contract-covered:1";
    ASSERT_EQ(
        shell(fmt::format("mkdir -p {0}/root {0}/srv/u {0}/shared {0}/etc {0}/tmp && cp {1} {0}/demo && "
                          "ln -s srv/u {0}/linked && chmod 700 {0}/root && chown 1000:1001 {0}/srv/u && "
                          "chmod 750 {0}/srv/u && chmod 3777 {0}/shared && echo made",
                          folder, HOSTLER_DEMO)),
        "made\n");
    rig().import_folder(folder, image, {"CMD [\"/demo\"]"});
    struct {
        const char *name, *target;
        std::uint32_t user, group;
        const char* mode;
    } const cases[] = {{"r", "/root", 0, 0, "700"},
                       {"u", "/linked", 1000, 1001, "750"},
                       {"s", "/shared", 0, 0, "3777"},
                       {"n", "/none/such", 0, 0, "777"}};
    const auto facts = [&](std::string_view of) {
        return shell(fmt::format("stat -c '%a %u %g' {}/volumes-{}", rig().folder(), of));
    };
    auto spec = rig_->server(name());
    spec.image = image;
    for (const auto& one : cases) {  // As volumes that nobody has had yet.
        const std::string source = fmt::format("{}/volumes-{}", rig().folder(), one.name);
        ASSERT_EQ(::mkdir(source.c_str(), 0), 0);
        ASSERT_EQ(::chown(source.c_str(), rig().ids().first_user, rig().ids().first_group), 0);
        spec.mounts.push_back({source, one.target, false});
    }
    const auto first = launch(spec);
    ASSERT_TRUE(first) << first.error().message;
    for (const auto& one : cases)
        EXPECT_EQ(facts(one.name), fmt::format("{} {} {}\n", one.mode, rig().ids().first_user + one.user,
                                               rig().ids().first_group + one.group))
            << one.target;
    EXPECT_EQ(shell(fmt::format("stat -c %a /proc/{}/root/root", rig().process_of(name()))), "700\n");
    // One that is not new keeps what it has.
    ASSERT_EQ(::chmod((rig().folder() + "/volumes-r").c_str(), 0755), 0);
    ASSERT_TRUE(run(rig_->engine().remove(name())));
    ASSERT_TRUE(launch(spec));
    EXPECT_THAT(facts("r"), HasSubstr("755 "));
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
    const int asked = rig().dialect() == docker::Dialect::podman ? 5 : 4;
    EXPECT_EQ(net.dials, asked)
        << "create, look where it writes, start, look whether it runs; what volumes a "
           "new image declares";
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
