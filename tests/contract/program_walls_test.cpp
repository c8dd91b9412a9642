// What programs without containers can reach, and what is limited.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "adapters/program/device_filter.h"
#include "core/control_groups.h"
#include "core/kernel_files.h"
#include "program_rig.h"

namespace hostler::contract {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t mebibyte = 1 << 20;

class ProgramWalls : public ProgramTest {
protected:
    // A folder of the host that every user may enter.
    std::string shared_folder(const std::string& name) {
        const auto path = folder_.path() + "/" + name;
        fs::create_directory(path);
        ::chmod(folder_.path().c_str(), 0755);
        ::chmod(path.c_str(), 0777);
        return path;
    }
    // A device that is harmless to open: that of a network that no one has.
    static constexpr unsigned tun_major = 10, tun_minor = 200;
};

TEST_F(ProgramWalls, ItsEnvironmentIsItsOwn) {
    ::setenv("HOSTLER_AGENT_SECRET", "leaked", 1);
    auto spec = shell("a", "");
    spec.command = {"env"};
    spec.environment = {{"ONE", "1"}, {"BYTES", "a\tb\xff"}};
    EXPECT_EQ(output_of(spec),
              "BYTES=a\tb\xff\nHOME=/tmp\nONE=1\n"
              "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
    spec.name = "b";
    spec.labels[label] = "b";
    spec.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/data"}};
    EXPECT_EQ(output_of(spec), "HOME=/data\nPATH=/usr/bin:/bin\n");
    ::unsetenv("HOSTLER_AGENT_SECRET");
}

TEST_F(ProgramWalls, ItHasNoPrivilege) {
    const auto status = output_of(shell("a", "cat /proc/self/status; id -u; id -g; id -G; cat /proc/1/comm"));
    const auto user = fmt::format("{}", first_user);
    for (const auto* line : {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"})
        EXPECT_EQ(value_of_line(status, line), "0000000000000000") << line;
    EXPECT_EQ(value_of_line(status, "NoNewPrivs:"), "1");
    EXPECT_EQ(value_of_line(status, "Seccomp:"), "2");
    EXPECT_EQ(value_of_line(status, "Uid:"), fmt::format("{0}\t{0}\t{0}\t{0}", user));
    EXPECT_EQ(value_of_line(status, "Gid:"), fmt::format("{0}\t{0}\t{0}\t{0}", user));
    EXPECT_EQ(value_of_line(status, "Groups:").value_or(""), "");
    EXPECT_THAT(status, ::testing::EndsWith(fmt::format("{0}\n{0}\n{0}\nhostler-init\n", user)));
}

TEST_F(ProgramWalls, NothingOfTheAgentIsOpenInIt) {
    auto spec = shell("a", "");
    spec.command = {"/bin/ls", "-l", "/proc/self/fd"};
    const auto text = output_of(spec);
    EXPECT_THAT(text, HasSubstr(" 0 -> /dev/null\n"));
    EXPECT_THAT(text, HasSubstr(" 1 -> pipe:"));
    EXPECT_THAT(text, HasSubstr(" 2 -> pipe:"));
    EXPECT_EQ(std::ranges::count(text, '>'), 4) << text;  // The last is the folder that is listed.
    EXPECT_EQ(output_of(shell("b", "echo yes >/dev/stdout; ulimit -c; tty || true")), "yes\n0\nnot a tty\n");
}

TEST_F(ProgramWalls, ItsKernelIsItsOwn) {
    EXPECT_EQ(output_of(shell("a", "hostname; getent hosts program | grep -c 127.0.0.1")), "program\n1\n");
    auto spec = shell(
        "b", "hostname; ls -d /proc/[0-9]* | wc -l; ls /dev/shm | wc -l; cat /proc/sysvipc/shm | wc -l");
    spec.hostname = "job-7";
    const auto text = output_of(spec);
    EXPECT_THAT(text, ::testing::MatchesRegex("job-7\n[1-6]\n0\n1\n"));
    for (const std::string denied :
         {"unshare -U true", "unshare -m true", "unshare -n true", "mount -t tmpfs x /tmp", "hostname x",
          "mknod /tmp/null c 1 3", "chown 0 /tmp", "kill -9 1", "nsenter -t 1 -m true", "dmesg"})
        EXPECT_EQ(output_of(shell("denied-" + std::to_string(std::hash<std::string>{}(denied)),
                                  denied + " 2>/dev/null && echo done; exit 0")),
                  "")
            << denied;
}

TEST_F(ProgramWalls, TheHostIsReadOnlyAndPartlyHidden) {
    std::ofstream{state_ + "/secret"} << "x";
    const auto text =
        output_of(shell("a",
                        "for d in / /etc /usr /var /var/lib /dev /run /sys /proc /root /home /.hostler; do "
                        "  touch $d/hostler-test 2>/dev/null && echo wrote $d; done; "
                        "ls -A /root /home /run " +
                            state_ + " 2>&1; ls /usr | wc -l; exit 0"));
    EXPECT_THAT(text, Not(HasSubstr("wrote")));
    EXPECT_THAT(text, HasSubstr("/root:\n"));
    EXPECT_THAT(text, HasSubstr("/home:\n\n"));
    EXPECT_THAT(text, HasSubstr("No such file"));
    EXPECT_FALSE(fs::exists("/etc/hostler-test"));
}

TEST_F(ProgramWalls, ProgramsDoNotSeeEachOther) {
    ASSERT_TRUE(launch(shell("a", "echo mine >/tmp/mine; echo mine >/dev/shm/mine; sleep 1001; true")));
    ASSERT_TRUE(wait_for([&] { return find("a")->state == ContainerState::running; }));
    const auto pid = running("a").init.pid;
    const auto text = output_of(shell(
        "b",
        fmt::format("ls -A /tmp /var/tmp /dev/shm; cat /proc/*/cmdline | tr '\\0' ' ' | grep -c 'sleep 1001' "
                    "; kill -0 {} 2>&1; ls -A /sys/fs/cgroup/*/ | grep -c {}; exit 0",
                    pid, parent_)));
    EXPECT_THAT(text, Not(HasSubstr("mine")));
    EXPECT_THAT(text, HasSubstr("\n0\n"));
    EXPECT_THAT(text, ::testing::EndsWith("\n0\n"));
    EXPECT_THAT(text, HasSubstr("No such process"));
}

TEST_F(ProgramWalls, WhatItWritesEndsWithItAndIsBounded) {
    auto spec = shell("a",
                      "echo x >/tmp/x; echo y >/var/tmp/y; cat /tmp/x /var/tmp/y; "
                      "head -c 20000000 /dev/zero >/tmp/big 2>/dev/null || echo full; stat -c %s /tmp/big; "
                      "head -c 20000000 /dev/zero >/dev/shm/big 2>/dev/null || echo full");
    spec.disk_bytes = 8 * mebibyte;
    spec.shm_bytes = 4 * mebibyte;
    const auto text = output_of(spec);
    EXPECT_THAT(text, ::testing::StartsWith("x\ny\nfull\n8"));
    EXPECT_THAT(text, ::testing::EndsWith("full\n"));
    EXPECT_EQ(output_of(shell("b", "ls -A /tmp /var/tmp")), "/tmp:\n\n/var/tmp:\n");
    EXPECT_FALSE(fs::exists("/tmp/big"));
}

TEST_F(ProgramWalls, MountsAreWhereTheyAreWanted) {
    const auto data = shared_folder("data"), fresh = shared_folder("fresh"), bare = shared_folder("bare");
    ::chmod(fresh.c_str(), 0);
    std::ofstream{data + "/in"} << "input\n";
    std::ofstream{bare + "/file"} << "alone\n";
    ASSERT_EQ(::mknod((data + "/null").c_str(), S_IFCHR | 0666, ::makedev(1, 3)), 0);
    ::chmod((data + "/null").c_str(), 0666);
    auto spec =
        shell("a",
              "cat /data/in; echo out >/data/out; echo out >/usr/share/new/deep/out; ls /usr/share | wc -l; "
              "(echo no >/mnt/read-only/no) 2>/dev/null || echo read-only; cat /mnt/one-file; "
              "cat /data/null 2>/dev/null || echo no device");
    spec.mounts = {{data, "/data"},
                   {fresh, "/usr/share/new/deep"},
                   {data, "/mnt/read-only", true},
                   {bare + "/file", "/mnt/one-file", true}};
    const auto text = output_of(spec);
    EXPECT_THAT(text, ::testing::MatchesRegex("input\n[0-9]+\nread-only\nalone\nno device\n"));
    EXPECT_EQ(fs::file_size(data + "/out"), 4U);
    EXPECT_EQ(fs::file_size(fresh + "/out"), 4U);
    EXPECT_FALSE(fs::exists("/data"));
    EXPECT_FALSE(fs::exists("/usr/share/new"));
    spec.name = "b";
    spec.mounts = {{folder_.path() + "/not-there", "/data"}};
    EXPECT_EQ(launch(spec).error().code, Code::not_found);
    for (const auto* target : {"/", "/proc", "/dev/x", "/sys/fs", "data", "/a/../b", "/a//b"}) {
        spec.mounts = {{data, target}};
        EXPECT_EQ(launch(spec).error().code, Code::invalid) << target;
    }
}

TEST_F(ProgramWalls, FilesInMountsAreOfOneOwnerWhateverUserWroteThem) {
    constexpr std::uint32_t owner = first_user + 1000;
    const auto data = shared_folder("data"), fresh = shared_folder("fresh");
    ::chmod(fresh.c_str(), 0);
    auto spec = shell("a", "echo one >/data/x; chmod 600 /data/x; stat -c %u /data/x; echo y >/fresh/y");
    spec.mounts = {{data, "/data"}, {fresh, "/fresh"}};
    spec.ids = {.first_user = owner, .first_group = owner};
    const auto first = output_of(spec);
    struct stat status{};
    ASSERT_EQ(::stat((data + "/x").c_str(), &status), 0);
    if (status.st_uid != owner) GTEST_SKIP() << "this file system shows no other owners";
    EXPECT_EQ(first, fmt::format("{}\n", first_user));
    EXPECT_EQ(status.st_gid, owner);
    ASSERT_EQ(::stat(fresh.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, owner);
    spec.name = "b";
    spec.labels[label] = "b";
    spec.command.back() = "cat /data/x; echo two >>/data/x; stat -c %u /data/x; rm /fresh/y";
    EXPECT_EQ(output_of(spec), fmt::format("one\n{}\n", first_user + 1)) << "another user";
    EXPECT_FALSE(fs::exists(fresh + "/y"));
}

TEST_F(ProgramWalls, TheHostCanUnmountWhatIsHidden) {
    const auto hidden = shared_folder("hidden"), volume = shared_folder("hidden/volume");
    ASSERT_EQ(::mount("hostler-hidden-test", volume.c_str(), "tmpfs", 0, "size=1m"), 0);
    std::ofstream{volume + "/in"} << "input\n";
    auto with = settings();
    with.hidden.push_back(hidden);
    begin(with);
    ASSERT_TRUE(launch(shell("a", "sleep 1001")));
    auto spec = shell("b", "cat /data/in; sleep 1001");
    spec.mounts = {{volume, "/data"}};
    ASSERT_TRUE(launch(spec));
    const auto sees = [&](const std::string& name) {
        std::ifstream in{fmt::format("/proc/{}/mountinfo", running(name).init.pid)};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        EXPECT_THAT(text, HasSubstr("/dev/shm"));
        return text.find("hostler-hidden-test") != text.npos;
    };
    EXPECT_FALSE(sees("a"));
    EXPECT_TRUE(sees("b"));
    EXPECT_EQ(::umount2(volume.c_str(), MNT_DETACH), 0);
}

TEST_F(ProgramWalls, SecretsAreItsAloneAndOnNoDisk) {
    auto spec = shell("a",
                      "cat /run/secrets/key /etc/app.key; stat -c '%a %u' /run/secrets/key; "
                      "(echo x >/run/secrets/key) 2>/dev/null || echo read-only; sleep 1001");
    spec.secret_files = {{"/run/secrets/key", "k-1234567\n"}, {"/etc/app.key", "k-7654321\n"}};
    ASSERT_TRUE(launch(spec));
    const auto wanted = fmt::format("k-1234567\nk-7654321\n400 {}\nread-only\n", first_user);
    EXPECT_TRUE(wait_for([&] { return log_of("a") == wanted; })) << log_of("a");
    for (const auto& file : fs::recursive_directory_iterator{state_}) {
        if (!file.is_regular_file() || file.path().filename() == "log") continue;
        std::ifstream in{file.path()};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        EXPECT_THAT(text, Not(HasSubstr("k-1234567"))) << file.path();
    }
}

TEST_F(ProgramWalls, MemoryIsLimited) {
    auto spec = shell("a", "echo begun; exec tail /dev/zero");
    spec.memory_bytes = 48 * mebibyte;
    ASSERT_TRUE(launch(spec));
    const auto ended = wait_end("a");
    EXPECT_TRUE(ended.oom_killed);
    EXPECT_EQ(ended.exit_code, 137);
    EXPECT_EQ(log_of("a"), "begun\n");
    auto well = shell("b", "head -c 1000000 /dev/zero >/tmp/x; exit 137");
    well.memory_bytes = 48 * mebibyte;
    ASSERT_TRUE(launch(well));
    EXPECT_FALSE(wait_end("b").oom_killed) << "it only looks as if";
}

TEST_F(ProgramWalls, AForkBombIsLimitedAndEnds) {
    auto spec = shell("a", "echo begun; exec perl -e 'while (1) { fork }'");
    spec.pids_max = 32;
    spec.memory_bytes = 256 * mebibyte;
    spec.cpu_milli = 300;
    const auto launched = launch(spec);
    ASSERT_TRUE(launched) << launched.error().message;
    const auto counted = [&] { return read_number(group(*launched, "pids") + "/pids.current").value_or(0); };
    EXPECT_TRUE(wait_for([&] { return counted() >= 20; }));
    EXPECT_LE(counted(), 33);
    const Instant asked = timers_->now();
    (void)run(engine_->stop("a", 200ms));
    EXPECT_LT(timers_->now() - asked, 10s);
    EXPECT_EQ(find("a")->state, ContainerState::exited);
    EXPECT_TRUE(wait_for([&] { return left().processes.empty(); }));
}

TEST_F(ProgramWalls, ProcessorTimeIsLimited) {
    auto spec = shell("a", "while :; do :; done & while :; do :; done");
    spec.cpu_milli = 200;
    const auto launched = launch(spec);
    ASSERT_TRUE(launched);
    const auto used = [&] { return read_number(group(*launched, "cpuacct") + "/cpuacct.usage").value_or(0); };
    const auto begin = used();
    const Instant from = timers_->now();
    EXPECT_TRUE(run(sleep(*timers_, 2s)));
    const auto took = std::chrono::duration<double>(timers_->now() - from).count();
    EXPECT_LT(static_cast<double>(used() - begin) / 1e9, 0.3 * took);
}

TEST_F(ProgramWalls, ItsLaterProcessesEndWithIt) {
    const std::string leave =
        "(setsid sh -c 'setsid sleep 1002 & sleep 1003' >/dev/null 2>&1 &) ; "
        "nohup sleep 1004 >/dev/null 2>&1 & echo ready; ";
    ASSERT_TRUE(launch(shell("a", leave + "sleep 0.2; exit 6")));
    EXPECT_EQ(wait_end("a").exit_code, 6);
    EXPECT_TRUE(wait_for([&] { return left().processes.empty(); }));
    ASSERT_TRUE(launch(shell("b", "trap '' TERM; " + leave + "sleep 1005; sleep 1006")));
    ASSERT_TRUE(wait_for([&] { return log_of("b").starts_with("ready\n"); }));
    EXPECT_EQ(run(engine_->stop("b", 100ms)), StopEnd::killed);
    EXPECT_TRUE(wait_for([&] { return left().processes.empty(); }));
}

TEST_F(ProgramWalls, OnlyItsDevicesOpen) {
    const auto nodes = shared_folder("nodes");
    const auto gpu = nodes + "/gpu0";
    ASSERT_EQ(::mknod(gpu.c_str(), S_IFCHR | 0600, ::makedev(tun_major, tun_minor)), 0);
    auto with = settings();
    with.devices = [&] {
        return [gpu](std::span<const std::string> names) -> Result<program::DeviceEdits> {
            if (names.front() != "test/gpu=0") return fail(Code::not_found, "no device " + names.front());
            return program::DeviceEdits{.environment = {{"GPUS", "0"}}, .nodes = {{"/dev/gpus/gpu0", gpu}}};
        };
    };
    begin(with);
    const std::string look =
        "for d in /dev/null /dev/zero /dev/urandom /dev/gpus/gpu0 /host/gpu0; do "
        "(: <$d) 2>/dev/null && echo $d; done; echo x >/dev/null; ls -A /dev | wc -l; echo $GPUS";
    auto spec = shell("a", look);
    spec.mounts = {{nodes, "/host"}};
    EXPECT_EQ(output_of(spec), "/dev/null\n/dev/zero\n/dev/urandom\n13\n\n");
    spec = shell("b", look);
    spec.mounts = {{nodes, "/host"}};
    spec.cdi_devices = {"test/gpu=0"};
    if (!std::ifstream{"/dev/net/tun"}) {
        const auto launched = launch(spec);
        ASSERT_FALSE(launched) << "the kernel has no such device";
        EXPECT_EQ(launched.error().reason, Engine::gpu_unreachable);
        EXPECT_EQ(find("b"), std::nullopt);
        return;
    }
    EXPECT_EQ(output_of(spec), "/dev/null\n/dev/zero\n/dev/urandom\n/dev/gpus/gpu0\n14\n0\n");
}

TEST_F(ProgramWalls, ControlGroupsRefuseEveryOtherDevice) {
    const auto launched = launch(shell("a", "sleep 1001"));
    ASSERT_TRUE(launched);
    const auto allowed = read_text(group(*launched, "devices") + "/devices.list");
    if (!allowed) GTEST_SKIP() << "no control groups of version 1";
    EXPECT_EQ(*allowed,
              "c 1:3 rwm\nc 1:5 rwm\nc 1:7 rwm\nc 1:8 rwm\nc 1:9 rwm\nc 5:0 rwm\nc 5:2 rwm\nc 136:* rwm");
}

TEST_F(ProgramWalls, VersionTwoFiltersDevices) {
    const std::string folder = fmt::format("/sys/fs/cgroup/unified/hostler-filter-{}", ::getpid());
    if (::mkdir(folder.c_str(), 0755) != 0) GTEST_SKIP() << "no control groups of version 2";
    const program::GroupDevice allowed[] = {{.major = 1, .minor = 3}, {.major = 1, .minor = 8}};
    const auto filtered = program::filter_devices(folder, allowed);
    EXPECT_TRUE(filtered) << filtered.error().message;
    const auto opens = [&](const char* path) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::ofstream{folder + "/cgroup.procs"} << ::getpid() << std::flush;
            ::_exit(std::ifstream{path} ? 0 : 1);
        }
        int status = 1;
        ::waitpid(child, &status, 0);
        return status == 0;
    };
    EXPECT_TRUE(opens("/dev/null"));
    EXPECT_TRUE(opens("/dev/random"));
    EXPECT_FALSE(opens("/dev/zero"));
    EXPECT_FALSE(opens("/dev/full"));
    EXPECT_EQ(::rmdir(folder.c_str()), 0);
}

TEST_F(ProgramWalls, ItsNetworkIsTheHostsOnlyWhereTheOperatorSaysSo) {
    const std::string links = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n'";
    EXPECT_EQ(output_of(shell("a", links + "; ls /sys/class/net")), "lolo\n");
    auto shared = settings();
    shared.share_network = true;
    begin(shared);
    EXPECT_EQ(output_of(shell("b", "readlink /proc/self/ns/net")),
              fs::read_symlink("/proc/self/ns/net").string() + "\n");
    auto spec = shell("c", "exit 0");
    spec.network = "n-1";
    EXPECT_EQ(launch(spec).error().code, Code::invalid);
}

TEST_F(ProgramWalls, ALogDoesNotGrowBeyondItsBound) {
    auto small = settings();
    small.log_bytes_max = 1 * mebibyte;
    begin(small);
    ASSERT_TRUE(
        launch(shell("a", "echo first; head -c 30000000 /dev/zero | tr '\\0' x; seq 1 300000; echo last")));
    std::uintmax_t most = 0;
    ASSERT_TRUE(wait_for([&] {
        std::error_code wrong;
        std::uintmax_t size = 0;
        for (const auto* name : {"/log", "/log.old"}) {
            const auto one = fs::file_size(folder_of("a") + name, wrong);
            if (!wrong) size += one;
        }
        most = std::max(most, size);
        return find("a")->state == ContainerState::exited;
    }));
    EXPECT_LT(most, 6 * mebibyte);
    const auto log = run(engine_->logs("a", {.bytes_max = 8 * mebibyte}));
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->truncated);
    EXPECT_GE(log->pieces.size(), std::size_t{mebibyte});
    const auto text = text_of(log_pieces(log->pieces));
    EXPECT_THAT(text, ::testing::EndsWith("299999\n300000\nlast\n"));
    EXPECT_THAT(text, Not(HasSubstr("first")));
}

TEST_F(ProgramWalls, AFastLogIsHeldBack) {
    auto slow = settings();
    slow.log_bytes_per_s = 1 * mebibyte;
    begin(slow);
    const Instant from = timers_->now();
    ASSERT_TRUE(launch(shell("a", "head -c 3500000 /dev/zero | tr '\\0' x")));
    wait_end("a");
    EXPECT_GE(timers_->now() - from, 2s);
    EXPECT_EQ(log_of("a").size(), 3500000U);
}

// As on a host whose kernel has no cgroup.kill.
TEST_F(ProgramWalls, VersionOneKillsWhatIsFrozen) {
    auto spec = shell("a", "trap '' TERM; sleep 1001 & sleep 1002 & echo ready; while :; do sleep 1; done");
    spec.pids_max = 16;
    const auto launched = launch(spec);
    ASSERT_TRUE(launched);
    ASSERT_TRUE(wait_for([&] { return log_of("a") == "ready\n"; }));
    const std::string groups[] = {group(*launched, "freezer")};
    if (!fs::exists(groups[0])) GTEST_SKIP() << "no control groups of version 1";
    EXPECT_TRUE(kill_groups(groups, 100));
    EXPECT_EQ(wait_end("a").exit_code, 137);
}

}  // namespace
}  // namespace hostler::contract
