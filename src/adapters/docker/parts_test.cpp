// The adapter's smaller parts: log frames, image archives, firewall text, short programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "adapters/docker/firewall.h"
#include "adapters/docker/frames.h"
#include "adapters/docker/image.h"
#include "adapters/docker/inside.h"
#include "adapters/docker/namespaces.h"
#include "adapters/docker/opens.h"
#include "adapters/docker/podman.h"
#include "adapters/docker/process.h"
#include "adapters/docker/pull.h"
#include "adapters/docker/wall.h"
#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string frame(char stream, std::string_view text) {
    std::string out{stream, 0, 0, 0};
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(text.size() >> shift);
    return out.append(text);
}

constexpr std::string_view written_at = "2026-11-21T12:40:29.5+01:00 ";

TEST(LogFrames, JoinsBothStreamsHoweverTheyAreCut) {
    const auto line = [](std::string_view text) { return std::string{written_at}.append(text); };
    const auto stream = frame(1, line("hello\n")) + frame(2, "") + frame(2, line("oops\n")) +
                        frame(1, line("a part\r")) + frame(1, line("\xff the rest\n"));
    for (std::size_t piece = 1; piece < stream.size(); ++piece) {
        LogFrames frames{1000};
        for (std::size_t from = 0; from < stream.size(); from += piece)
            frames.feed(std::string_view(stream).substr(from, piece));
        EXPECT_EQ(frames.take(),
                  "1795261229500000 F hello\n1795261229500000 E oops\n1795261229500000 P a part\r\n"
                  "1795261229500000 F \xff the rest\n")
            << piece;
        EXPECT_FALSE(frames.cut());
    }
}

TEST(LogFrames, KeepsTheLastBytes) {
    LogFrames frames{100};
    for (int i = 0; i < 50; ++i) frames.feed(frame(1, fmt::format("{}{}\n", written_at, i)));
    EXPECT_TRUE(frames.cut());
    const std::string log = frames.take();
    EXPECT_LE(log.size(), 200U);
    EXPECT_TRUE(log.starts_with("1795261229500000 F ")) << log;
    EXPECT_TRUE(log.ends_with("1795261229500000 F 48\n1795261229500000 F 49\n")) << log;
}

TEST(Image, TarReadsTheArchive) {
    const auto archive = rootfs_of_program("/demo", std::string(1000, 'p'));
    EXPECT_EQ(archive.size() % 512, 0U);
    const auto listed = run_process({"tar", "-tvf", "-"}, archive, 10s);
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->exit_code, 0) << listed->output;
    EXPECT_THAT(listed->output, HasSubstr("drwxrwxrwt 0/0"));
    EXPECT_THAT(listed->output, ::testing::ContainsRegex("-rwxr-xr-x 0/0 +1000 .* demo"));
    EXPECT_EQ(archive, rootfs_of_program("/demo", std::string(1000, 'p')));
}

TEST(Process, GivesInputAndTakesOutput) {
    const auto big = std::string(60'000, 'x');
    const auto outcome = run_process({"sh", "-c", "cat; echo err >&2; exit 3"}, big, 10s);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->exit_code, 3);
    EXPECT_EQ(outcome->output, big + "err\n");
}

TEST(Process, AProgramThatDoesNotReadOrEndIsKilled) {
    const auto outcome = run_process({"sleep", "100"}, std::string(8 << 20, 'x'), 100ms);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::timeout);
    EXPECT_EQ(run_process({"no-such-program-of-ours"}, "", 1s).error().code, Code::not_found);
}

TEST(Inside, ADeviceMustBeThereAndTheSame) {
    if (::geteuid() != 0) GTEST_SKIP() << "looking into /proc/PID/root needs root";
    const auto look = [](std::string path, std::string host_path) {
        const std::vector<CdiNode> nodes{{std::move(path), std::move(host_path), "rw"}};
        return check_devices(::getpid(), nodes);
    };
    EXPECT_TRUE(look("/dev/null", "/dev/null"));
    const auto other = look("/dev/zero", "/dev/null");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::unavailable);
    EXPECT_THAT(look("/dev/nvidia-not-there", "/dev/null").error().message,
                HasSubstr("/dev/nvidia-not-there"));
    EXPECT_FALSE(look("/etc/passwd", "/dev/null"));
    const std::vector<CdiNode> one{{"/dev/null", "/dev/null", "rw"}};
    EXPECT_EQ(check_devices(0x7ffffff0, one).error().code, Code::not_found);
}

// In the control group and with the users that this test has itself.
TEST(Inside, ADeviceMustOpen) {
    if (::geteuid() != 0) GTEST_SKIP() << "entering another's control group needs root";
    const hostler::testing::TempFolder folder;
    const auto look = [](const std::string& path, std::string permissions = "rw") {
        const std::vector<CdiNode> nodes{{"/dev/null", "/dev/null", "rw"},
                                         {path, path, std::move(permissions)}};
        return check_opens(::getpid(), nodes);
    };
    EXPECT_TRUE(look("/dev/full")) << look("/dev/full").error().message;
    EXPECT_TRUE(check_opens(0x7ffffff0, {}));
    // Of a driver that is not there.
    const std::string dead = folder.path() + "/nvidia0";
    ASSERT_EQ(::mknod(dead.c_str(), S_IFCHR | 0666, makedev(60, 7)), 0);
    const auto refused = look(dead);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr(dead + " does not open: "));
    EXPECT_THAT(refused.error().message, ::testing::AnyOf(HasSubstr("ENXIO"), HasSubstr("EACCES")));
    EXPECT_TRUE(look(dead, "m")) << "nobody asked to open it";
    const std::vector<CdiNode> one{{"/dev/null", "/dev/null", "rw"}};
    EXPECT_EQ(check_opens(0x7ffffff0, one).error().code, Code::not_found);
    // What waits for somebody else ends in time, and leaves no process of ours to wait for.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Inside, TheControlGroupOfDevicesIsFound) {
    const std::string first =
        "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 24 0:28 / /sys/fs/cgroup/devices rw shared:9 - cgroup cgroup rw,devices\n"
        "33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const std::string second = "33 24 0:29 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
    EXPECT_EQ(device_group("5:memory:/a\n4:pids,devices:/libpod_parent/libpod-1\n0::/b\n", first),
              (DeviceGroup{"/sys/fs/cgroup/devices/libpod_parent/libpod-1", true}));
    EXPECT_EQ(device_group("0::/machine.slice/libpod-1.scope/container\n", second),
              (DeviceGroup{"/sys/fs/cgroup/machine.slice/libpod-1.scope/container", false}));
    EXPECT_EQ(device_group("0::/\n", second)->file(), "/sys/fs/cgroup/cgroup.procs");
    EXPECT_EQ((DeviceGroup{"/a", true}.file()), "/a/tasks");
    EXPECT_EQ(device_group("4:devices:/x\n", second), std::nullopt);
    EXPECT_EQ(device_group("", first), std::nullopt);
    // Of a container in a container: this one's view of the hierarchy begins lower.
    EXPECT_EQ(device_group("0::/outer/inner\n", "33 24 0:29 /outer /cg rw - cgroup2 cgroup2 rw\n"),
              (DeviceGroup{"/cg/inner", false}));
    EXPECT_EQ(device_group("0::/../inner\n", second), std::nullopt);
}

TEST(Inside, FilesOfTheNetworkTellOfTheContainerAlone) {
    const hostler::testing::TempFolder folder;
    const ContainerSpec spec{
        .name = "c", .mounts = {{"/v", "/etc/hostname", false}}, .address = "10.1.2.9", .hostname = "i-1"};
    const auto mounts = lay_files(folder.path(), spec, "nameserver 10.1.2.1\n");
    ASSERT_TRUE(mounts) << mounts.error().message;
    std::map<std::string, std::string> texts;
    for (const auto& mount : *mounts) {
        EXPECT_EQ(mount.options.front(), "ro");
        std::ifstream file{mount.host_path};
        texts[mount.path] = {std::istreambuf_iterator<char>{file}, {}};
        EXPECT_EQ(std::filesystem::status(mount.host_path).permissions(), std::filesystem::perms{0444});
    }
    EXPECT_EQ(texts, (std::map<std::string, std::string>{
                         {"/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost\n10.1.2.9\ti-1\n"},
                         {"/etc/resolv.conf", "nameserver 10.1.2.1\n"},
                         {"/run/.containerenv", ""}}))
        << "what a volume is mounted on is left to it";
    EXPECT_TRUE(lay_files(folder.path(), spec, "")) << "again";
    remove_files(folder.path(), "c");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/containers"));
}

TEST(Inside, ADiskThatDoesNotEndIsSeen) {
    if (::geteuid() != 0) GTEST_SKIP() << "looking into /proc/PID/root needs root";
    const auto capacity = std::filesystem::space("/").capacity;
    EXPECT_TRUE(check_disk(::getpid(), capacity));
    const auto other = check_disk(::getpid(), capacity - 1);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().reason, "disk_unlimited");
    EXPECT_EQ(check_disk(0x7ffffff0, capacity).error().code, Code::not_found);
}

TEST(Namespaces, WhetherMountsArePassedOn) {
    const std::string bare =
        "20 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "21 20 0:5 / /proc rw - proc proc rw\n";
    EXPECT_EQ(sharing_of(bare, "/run/netns"), Sharing::plain);
    EXPECT_EQ(sharing_of("20 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n", "/run/netns"), Sharing::shared);
    const std::string at = "22 20 254:0 /run/netns /run/netns rw";
    EXPECT_EQ(sharing_of(bare + at + " - ext4 /dev/vda rw\n", "/run/netns"), Sharing::mounted);
    EXPECT_EQ(sharing_of(bare + at + " master:3 - ext4 /dev/vda rw\n", "/run/netns"), Sharing::mounted);
    EXPECT_EQ(sharing_of(bare + at + " master:3 shared:4 - ext4 /dev/vda rw\n", "/run/netns"),
              Sharing::shared);
    EXPECT_EQ(sharing_of(bare + "22 20 254:0 /x /run/net rw shared:4 - ext4 /dev/vda rw\n", "/run/netns"),
              Sharing::plain)
        << "another's";
    EXPECT_EQ(sharing_of(bare + "22 20 0:9 / /run/a\\040b rw shared:4 - tmpfs t rw\n", "/run/a b/c"),
              Sharing::shared);
    // The last one hides the others.
    EXPECT_EQ(
        sharing_of(bare + at + " shared:4 - ext4 /dev/vda rw\n" + at + " - ext4 /dev/vda rw\n", "/run/netns"),
        Sharing::mounted);
}

TEST(Namespaces, OnlyWhatPodmanNamesSoIsRemoved) {
    const hostler::testing::TempFolder folder;
    const std::string file = folder.path() + "/netns-1";
    std::ofstream{file} << "";
    for (const auto& path : {file, std::string{}, std::string{"/run/netns/../../etc/passwd"},
                             std::string{"/run/netns/mine"}, std::string{"/run/netns/netns-not-there"}}) {
        const auto removed = remove_namespace(path);
        ASSERT_TRUE(removed) << path;
        EXPECT_FALSE(*removed) << path;
    }
    EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(Podman, AFolderOfItsOwn) {
    char folder[] = "/tmp/hostler-podman-XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder));
    const std::filesystem::path root{folder};
    const DeviceHook hook{.agent = "/opt/hostler-agent"};
    const PodmanHelpers helpers{.hook = hook, .iptables = "/opt/hostler-iptables"};
    const auto service = prepare_podman(root / "engine", helpers);
    if (!service && service.error().code == Code::not_found) GTEST_SKIP() << "podman is not installed";
    ASSERT_TRUE(service) << service.error().message;
    EXPECT_EQ(service->socket, root / "engine/podman.sock");
    std::ofstream{service->scratch / "api_load.tar1"} << "left by an import";
    std::filesystem::create_directories(service->scratch / "storage1/2");
    clear_scratch(service->scratch);
    EXPECT_TRUE(std::filesystem::is_empty(service->scratch));
    EXPECT_EQ(service->environment.back(), (std::pair{std::string{"TMPDIR"}, service->scratch.string()}));
    EXPECT_EQ(service->command.back(), "unix://" + service->socket);
    std::ifstream file{service->environment.at(0).second};
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(text, HasSubstr("lock_type = \"file\""));
    EXPECT_THAT(text, HasSubstr("\nexit_command_delay = 20\n"));
    EXPECT_THAT(text, HasSubstr((root / "engine/networks").string()));
    EXPECT_THAT(text, HasSubstr(fmt::format("hooks_dir = [\"{}\"]", (root / "engine/hooks").string())));
    std::ifstream hooks{root / "engine/hooks/devices.json"};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{hooks}, {}}), hook_file(hook));
    ASSERT_TRUE(prepare_podman(root / "engine", helpers)) << "again";
    EXPECT_EQ(std::filesystem::read_symlink(root / "engine/firewall/ip6tables"), helpers.iptables);
    EXPECT_EQ(prepare_podman(root / std::string(100, 'x'), helpers).error().code, Code::invalid);
    std::filesystem::remove_all(root);
}

TEST(Firewall, TextIsOneTransactionThatNftAccepts) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "nft looks at the host's tables even to check a text, and needs root";
    const WallPlan plan{.table = "hostler_test",
                        .reach = {{0x0a140000, 16}, {0x0a140100, 24}},
                        .connected = {{0x0b000000, 8}}};
    for (const auto& text : {wall_up({}, "hstaaaa"), wall_down("hostler", "hstaaaa"),
                             wall_up(plan, "hstaaaa"), wall_down(plan.table, "hstaaaa")}) {
        const auto checked = run_process({"nft", "--check", "-f", "-"}, text, 10s);
        if (!checked && checked.error().code == Code::not_found) GTEST_SKIP() << "nft is not installed";
        ASSERT_TRUE(checked) << checked.error().message;
        EXPECT_EQ(checked->exit_code, 0) << checked->output << text;
    }
}

TEST(Firewall, ASetWithoutElementsHasNoBridges) {
    EXPECT_TRUE(no_bridges("table inet hostler {\n set bridges {\n type ifname\n }\n}"));
    EXPECT_FALSE(no_bridges("set bridges {\n elements = { \"hstaaaa\" }\n}"));
}

// In a network namespace of its own, so that nobody else's firewall is touched.
void in_another_network(const std::function<void()>& body) {
    bool done = false;
    std::thread{[&] {
        if (::unshare(CLONE_NEWNET) != 0) return;
        body();
        done = true;
    }}.join();
    if (!done) GTEST_SKIP() << "a network namespace needs root";
}

std::string nft_list(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "nft");
    const auto listed = run_process(std::move(arguments), "", 10s);
    return listed ? listed->output : listed.error().message;
}

TEST(Wall, IsPutUpOnceAndAnewAfterAnyChange) {
    const std::string lock = fmt::format("/tmp/hostler-wall-{}.lock", ::getpid());
    in_another_network([&] {
        const auto there = run_process({"nft", "--version"}, "", 10s);
        if (!there && there.error().code == Code::not_found) GTEST_SKIP() << "nft is not installed";
        ASSERT_TRUE(there) << there.error().message;
        Wall wall{{.lock = lock}};
        const auto first = wall.put_up("hstaaaa");
        ASSERT_TRUE(first) << first.error().message;
        const auto rules = nft_list({"list", "ruleset"});
        EXPECT_THAT(rules, HasSubstr("hstaaaa"));
        const auto numbered = [] { return nft_list({"--handle", "list", "ruleset"}); };
        const auto before = numbered();
        ASSERT_TRUE(wall.put_up("hstaaaa"));
        EXPECT_EQ(numbered(), before) << "its rules were made anew";
        for (const std::string change : {
                 "flush ruleset",
                 "delete element inet hostler bridges { \"hstaaaa\" }",
                 "delete element inet hostler inside { \"hstaaaa\" . \"hstaaaa\" }",
                 "flush chain inet hostler tenant_to_host",
                 "insert rule inet hostler forward accept",
                 "add rule inet hostler tenant_in accept",
                 "add chain inet hostler input { policy drop; }",
                 "add table inet hostler { flags dormant; }",
                 "delete element inet hostler private { 10.0.0.0/8 }",
                 "add element inet hostler reach { 10.7.0.0/16 }",
                 "add element inet hostler connected { 8.8.8.8 }",
             }) {
            const auto changed = run_process({"nft", "-f", "-"}, change + "\n", 10s);
            ASSERT_TRUE(changed && changed->exit_code == 0) << change << changed->output;
            ASSERT_NE(nft_list({"list", "ruleset"}), rules) << change;
            ASSERT_TRUE(wall.put_up("hstaaaa")) << change;
            EXPECT_EQ(nft_list({"list", "ruleset"}), rules) << change;
        }
        ASSERT_TRUE(wall.put_up("hstbbbb"));
        const auto both = numbered();
        EXPECT_THAT(both, HasSubstr("hstbbbb"));
        ASSERT_TRUE(wall.put_up("hstaaaa"));
        EXPECT_EQ(numbered(), both);
        ASSERT_TRUE(wall.take_down("hstbbbb"));
        EXPECT_EQ(nft_list({"list", "ruleset"}), rules);
        ASSERT_TRUE(wall.take_down("hstaaaa"));
        EXPECT_EQ(nft_list({"list", "ruleset"}), "");
        ASSERT_TRUE(wall.put_up("hstaaaa"));
        EXPECT_EQ(nft_list({"list", "ruleset"}), rules);
    });
    ::unlink(lock.c_str());
}

TEST(Wall, FollowsTheNetworksOfTheHost) {
    const std::string lock = fmt::format("/tmp/hostler-wall-routes-{}.lock", ::getpid());
    in_another_network([&] {
        const auto run = [](std::vector<std::string> words) {
            const auto done = run_process(std::move(words), "", 10s);
            ASSERT_TRUE(done) << done.error().message;
            ASSERT_EQ(done->exit_code, 0) << done->output;
        };
        const auto there = run_process({"nft", "--version"}, "", 10s);
        if (!there && there.error().code == Code::not_found) GTEST_SKIP() << "nft is not installed";
        Wall wall{{.lock = lock, .table = "hostler_a", .reach = {{0x0a140000, 16}}}};
        ASSERT_TRUE(wall.put_up("hstaaaa"));
        const auto connected = [] { return nft_list({"list", "set", "inet", "hostler_a", "connected"}); };
        EXPECT_FALSE(connected().contains("elements")) << connected();
        EXPECT_THAT(nft_list({"list", "set", "inet", "hostler_a", "reach"}), HasSubstr("10.20.0.0/16"));
        run({"ip", "link", "add", "lan", "type", "veth", "peer", "name", "far"});
        for (const std::string end : {"lan", "far"}) run({"ip", "link", "set", end, "up"});
        run({"ip", "address", "add", "11.22.33.1/24", "dev", "lan"});
        run({"ip", "address", "add", "10.9.0.1/24", "dev", "lan"});  // Private, and so refused already.
        run({"ip", "route", "add", "44.0.0.0/16", "dev", "lan"});
        run({"ip", "route", "add", "0.0.0.0/1", "dev", "lan"});  // A tunnel's, to half the Internet.
        run({"ip", "route", "add", "55.0.0.0/16", "via", "11.22.33.2"});
        ASSERT_TRUE(wall.refresh());
        EXPECT_THAT(connected(), HasSubstr("elements = { 11.22.33.0/24, 44.0.0.0/16 }"));
        run({"ip", "link", "delete", "lan"});
        ASSERT_TRUE(wall.refresh());
        EXPECT_FALSE(connected().contains("elements")) << connected();
        run({"nft", "flush", "ruleset"});
        ASSERT_TRUE(wall.refresh());
        EXPECT_THAT(nft_list({"list", "ruleset"}), HasSubstr("hstaaaa"));
    });
    ::unlink(lock.c_str());
}

TEST(Wall, EachCloudHasATable) {
    const std::string lock = fmt::format("/tmp/hostler-wall-tables-{}.lock", ::getpid());
    in_another_network([&] {
        const auto there = run_process({"nft", "--version"}, "", 10s);
        if (!there && there.error().code == Code::not_found) GTEST_SKIP() << "nft is not installed";
        Wall former{{.lock = lock}};
        ASSERT_TRUE(former.put_up("hstaaaa"));
        ASSERT_TRUE(former.put_up("hstbbbb"));
        Wall one{{.lock = lock, .table = "hostler_1"}};
        Wall two{{.lock = lock, .table = "hostler_2"}};
        ASSERT_TRUE(one.put_up("hstaaaa"));
        ASSERT_TRUE(one.leave_former_table("hstaaaa"));
        EXPECT_FALSE(nft_list({"list", "table", "inet", "hostler"}).contains("hstaaaa"));
        ASSERT_TRUE(two.put_up("hstbbbb"));
        ASSERT_TRUE(two.leave_former_table("hstbbbb"));
        EXPECT_THAT(nft_list({"list", "tables"}), "table inet hostler_1\ntable inet hostler_2\n");
        ASSERT_TRUE(one.take_down("hstaaaa"));
        EXPECT_THAT(nft_list({"list", "tables"}), "table inet hostler_2\n");
        ASSERT_TRUE(one.refresh());
        EXPECT_THAT(nft_list({"list", "tables"}), "table inet hostler_2\n");
    });
    ::unlink(lock.c_str());
    EXPECT_TRUE(check_table_name("hostler_1f"));
    for (const std::string name : {"", "1", "a b", "a;flush ruleset", "ä"})
        EXPECT_EQ(check_table_name(name).error().code, Code::invalid) << name;
    EXPECT_FALSE(check_table_name(std::string(33, 'a')));
}

TEST(RegistryAuth, IsJsonInBase64ForUrls) {
    EXPECT_EQ(registry_auth({"r.lan:5000", "u", "p"}),
              "eyJ1c2VybmFtZSI6InUiLCJwYXNzd29yZCI6InAiLCJzZXJ2ZXJhZGRyZXNzIjoici5sYW46NTAwMCJ9");
    EXPECT_EQ(registry_auth({"r", "uu", "p?>~"}),
              "eyJ1c2VybmFtZSI6InV1IiwicGFzc3dvcmQiOiJwPz5-Iiwic2VydmVyYWRkcmVzcyI6InIifQ==");
}

TEST(Secrets, LieInMemoryForOneUserAlone) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    const std::string folder = fmt::format("/dev/shm/hostler-secrets-test-{}", ::getpid());
    ContainerSpec spec{.name = "c", .image = "i", .secret_files = {{"/run/token", "s3cr3t"}, {"/run/b", ""}}};
    spec.ids = {100'000, 200'000};
    const auto laid = lay_secrets(folder, spec, "1000:5");
    ASSERT_TRUE(laid) << laid.error().message;
    ASSERT_EQ(laid->size(), 2u);
    EXPECT_EQ(laid->at(0).path, "/run/token");
    EXPECT_THAT(laid->at(0).options, ::testing::Contains("ro"));
    struct stat status{};
    ASSERT_EQ(::stat(laid->at(0).host_path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0400u);
    EXPECT_EQ(status.st_uid, 101'000u);
    EXPECT_EQ(status.st_gid, 200'005u);
    EXPECT_EQ(status.st_size, 6);
    EXPECT_TRUE(lay_secrets(folder, spec, "")) << "once more";
    ASSERT_EQ(::stat(laid->at(0).host_path.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 100'000u);
    EXPECT_EQ(lay_secrets(folder, spec, "node").error().reason, "secret_user_unknown");
    remove_secrets(folder, "c");
    EXPECT_NE(::stat(laid->at(0).host_path.c_str(), &status), 0);
    ::chmod(folder.c_str(), 0755);
    EXPECT_FALSE(lay_secrets(folder, spec, "")) << "others may look";
    std::filesystem::remove_all(folder);
    struct statfs disk{};
    if (::statfs("/var/tmp", &disk) == 0 && disk.f_type != TMPFS_MAGIC) {
        const std::string on_disk = fmt::format("/var/tmp/hostler-secrets-test-{}", ::getpid());
        EXPECT_FALSE(lay_secrets(on_disk, spec, "")) << "it is not in memory";
        std::filesystem::remove_all(on_disk);
    }
}

// As podman 4.3 streams it.
TEST(PullStream, AddsUpTheLayersThatWereBegun) {
    const std::string stream =
        "{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"a\"}\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":10,\"total\":40},\"id\":\"a\"}\r\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":5,\"total\":60},\"id\":\"b\"}\n"
        "{\"status\":\"Extracting\",\"progressDetail\":{\"current\":1,\"total\":999},\"id\":\"b\"}\n"
        "not json\n[]\n{\"status\":\"Downloading\",\"id\":\"c\"}\n"
        "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":-3,\"total\":-3},\"id\":\"d\"}\n";
    for (const std::size_t step : {1UL, 7UL, stream.size()}) {
        PullStream pull;
        for (std::size_t at = 0; at < stream.size(); at += step)
            pull.feed(std::string_view{stream}.substr(at, step));
        EXPECT_EQ(pull.progress().bytes, 15U) << step;
        EXPECT_EQ(pull.progress().bytes_known, 100U) << step;
        EXPECT_EQ(pull.error(), std::nullopt);
        pull.feed("{\"status\":\"Download complete\",\"id\":\"b\"}\n");
        EXPECT_EQ(pull.progress().bytes, 70U);
        EXPECT_EQ(pull.progress().layers, 1U);
        EXPECT_EQ(pull.progress().layers_known, 3U);
        pull.feed("{\"status\":\"Already exists\",\"id\":\"e\"}\n");
        EXPECT_EQ(pull.progress().layers, 2U);
        EXPECT_EQ(pull.progress().layers_known, 4U);
        pull.feed("{\"error\":\"manifest unknown\"}");
        EXPECT_EQ(pull.error(), std::nullopt) << "the line is not whole";
        pull.finish();
        EXPECT_EQ(pull.error(), "manifest unknown");
    }
}

}  // namespace
}  // namespace hostler::docker
