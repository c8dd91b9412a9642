// The NodeSteps port on this host and in the simulation.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/node_steps/files.h"
#include "adapters/node_steps/perform.h"
#include "adapters/node_steps/steps.h"
#include "core/control_groups.h"
#include "core/spawn.h"
#include "core/testing/temp_folder.h"
#include "node_steps_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

namespace fs = std::filesystem;

using RealClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

int quiet_tool(std::vector<std::string> words) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const auto started = spawn(words, {.streams = {{nothing, 1}, {nothing, 2}}});
    ::close(nothing);
    return started ? wait_end(*started) : 127;
}

class HostStepsRig : public RealRig<NodeStepsRig> {
public:
    HostStepsRig() {
        if (::geteuid() != 0) return;
        settings_.folder = folder_.path() + "/clusters";
        settings_.keeper = {PROGRAM_HOLDER, node_steps::keep_command};
        settings_.group_parent = mark_;
        fs::create_directories(folder_.path() + "/bin");
        restart();
    }
    ~HostStepsRig() override {
        for (const char* node : {"kn-1", "kn-2"}) (void)node_steps::Programs{settings_}.end_all(node);
        for (const Hierarchy& in : find_hierarchies()) {
            const auto groups = groups_below(in.path + "/" + mark_);
            (void)kill_groups(groups, 100);
            remove_groups(groups);
        }
        for (const char* kind : {"process", "mount", "interface", "table", "cgroup"}) uproot(kind);
    }
    NodeSteps& steps() override { return *steps_; }
    const node_steps::StepSettings& settings() const { return settings_; }
    void drive(std::function<bool()> done) override {
        const auto until = RealClock::now() + seconds{60};
        while (!done() && RealClock::now() < until) {
            loop_.restart();
            loop_.run_one_for(milliseconds{10});
        }
        HOSTLER_ASSERT(done() && "the adapter never answers");
    }
    std::vector<std::string> command(std::string name, Play play) override {
        std::ofstream{path(name + ".says")} << play.says;
        std::ofstream{path(name + ".complains")} << play.complains;
        std::string script = "echo >> \"$1.runs\"; cat \"$1.says\"; cat \"$1.complains\" >&2; ";
        if (play.hangs) script += fmt::format("setsid {0} 600 & {0} 600; ", sleeper(name));
        if (play.marks) script += "touch \"$1.mark\"; ";
        return {"sh", "-c", script + fmt::format("exit {}", play.exit_code), "sh", path(name)};
    }
    std::vector<std::string> asks(std::string own_name, std::string name) override {
        return {"sh", "-c", "echo >> \"$1.runs\"; test -e \"$2.mark\"", "sh", path(own_name), path(name)};
    }
    std::vector<std::string> program(std::string name) override {
        return {"sh", "-c", "echo >> \"$1.runs\"; exec \"$2\" 600", "sh", path(name), sleeper(name)};
    }
    std::size_t runs(const std::string& name) override {
        const auto all = text(path(name + ".runs")).value_or("");
        return static_cast<std::size_t>(std::ranges::count(all, '\n'));
    }
    std::size_t alive(const std::string& name) override {
        const std::string begin = folder_.path() + "/bin/" + name + '\0';
        std::size_t found = 0;
        for (const std::string& pid : list_folder("/proc", 100'000))
            if (const auto words = read_bytes("/proc/" + pid + "/cmdline", 1 << 16))
                found += words->starts_with(begin) ? 1 : 0;
        return found;
    }
    std::string path(std::string name) override { return folder_.path() + "/" + name; }
    std::optional<std::string> text(const std::string& of) override { return read_bytes(of, 1 << 20); }
    void die_during(NodeStep step, std::string name) override {
        const pid_t agent = ::fork();
        if (agent == 0) {
            const node_steps::Stop stop{RealClock::now() + step.deadline};
            (void)node_steps::perform(settings_, step, stop);
            ::_exit(0);
        }
        const auto until = RealClock::now() + seconds{30};
        while (alive(name) == 0 && RealClock::now() < until) ::usleep(10'000);
        EXPECT_GT(alive(name), 0U);
        ::kill(agent, SIGKILL);
        (void)wait_end(agent);
        restart();
    }
    std::string plant(const std::string& kind, Leftovers& patterns) override {
        const std::string mount = folder_.path() + "/mounted";
        if (kind == "process") {
            const std::string file = folder_.path() + "/bin/" + mark_ + "-left";
            fs::copy_file("/bin/sleep", file);
            planted_ = spawn(std::vector<std::string>{file, "600"}, {.own_group = true}).value_or(0);
            patterns.processes = {mark_ + "-l*"};
            return planted_ > 0 ? mark_ + "-left (pid " : "";
        }
        if (kind == "mount") {
            fs::create_directories(mount);
            patterns.mounts = {folder_.path() + "/mou*"};
            return ::mount("none", mount.c_str(), "tmpfs", 0, "size=1M") == 0 ? mount : "";
        }
        if (kind == "interface") {
            patterns.interfaces = {interface_.substr(0, 6) + "*"};
            return quiet_tool({"ip", "link", "add", interface_, "type", "bridge"}) == 0 ? interface_ : "";
        }
        if (kind == "table") {
            patterns.tables = {"inet " + interface_ + "*"};
            return quiet_tool({"nft", "add", "table", "inet", interface_}) == 0 ? "inet " + interface_ : "";
        }
        if (kind == "file") {
            fs::create_directories(folder_.path() + "/left/a");
            std::ofstream{folder_.path() + "/left/a/config.json"} << "{}";
            patterns.files = {folder_.path() + "/left/*/config*"};
            return folder_.path() + "/left/a/config.json";
        }
        for (const Hierarchy& in : find_hierarchies())
            if (make_group_folder(in.path + "/" + mark_ + "-left")) group_ = in.path + "/" + mark_ + "-left";
        patterns.cgroups = {mark_ + "-l*"};
        return group_.empty() ? "" : mark_ + "-left";
    }
    void uproot(const std::string& kind) override {
        if (kind == "process" && planted_ > 0) {
            ::kill(planted_, SIGKILL);
            (void)wait_end(std::exchange(planted_, 0));
        }
        if (kind == "mount") (void)::umount2((folder_.path() + "/mounted").c_str(), MNT_DETACH);
        if (kind == "interface") (void)quiet_tool({"ip", "link", "del", interface_});
        if (kind == "table") (void)quiet_tool({"nft", "delete", "table", "inet", interface_});
        if (kind == "file") fs::remove_all(folder_.path() + "/left");
        if (kind == "cgroup")
            for (const Hierarchy& in : find_hierarchies())
                (void)::rmdir((in.path + "/" + mark_ + "-left").c_str());
    }
    std::string missing() override { return "no-such-program-here"; }
    void restart() {
        steps_ = std::make_unique<node_steps::HostSteps>(loop_, settings_);
        const auto resumed = run(steps_->resume());
        EXPECT_TRUE(resumed) << resumed.error().message;
    }

private:
    // A program whose processes are told apart by their first argument.
    std::string sleeper(const std::string& name) {
        const std::string link = folder_.path() + "/bin/" + name;
        std::error_code there;
        fs::create_symlink("/bin/sleep", link, there);
        return link;
    }

    testing::TempFolder folder_;
    const std::string mark_ = fmt::format("hostler-test-{}", ::getpid());
    const std::string interface_ = fmt::format("hlt{}", ::getpid());
    node_steps::StepSettings settings_;
    std::unique_ptr<node_steps::HostSteps> steps_;
    pid_t planted_ = 0;
    std::string group_;
};

class SimStepsRig : public WorldRig<NodeStepsRig> {
public:
    NodeSteps& steps() override { return life().node_steps; }
    std::vector<std::string> command(std::string name, Play play) override {
        sim::SimCommand made{.exit_code = play.exit_code,
                             .output = play.says,
                             .complaint = play.complains,
                             .marks = play.marks};
        if (play.hangs) made.time = std::chrono::hours{24};
        host().commands[name] = made;
        return {name};
    }
    std::vector<std::string> asks(std::string own_name, std::string name) override {
        host().commands[own_name] = {.asks = name};
        return {own_name};
    }
    std::vector<std::string> program(std::string name) override { return {name}; }
    std::size_t runs(const std::string& name) override { return host().runs[name]; }
    std::size_t alive(const std::string& name) override {
        return host().alive.count(name) +
               static_cast<std::size_t>(std::ranges::count_if(
                   host().programs, [&](const auto& program) { return program.second[0] == name; }));
    }
    std::string path(std::string name) override { return "/" + name; }
    std::optional<std::string> text(const std::string& of) override {
        const auto file = host().files.find(of);
        return file == host().files.end() ? std::nullopt : std::optional{file->second.text};
    }
    void die_during(NodeStep step, std::string name) override {
        life().tasks.start("step", [](NodeSteps& steps, NodeStep what) -> Task<> {
            (void)co_await steps.perform(std::move(what));
            co_return Result<>{};
        }(steps(), std::move(step)));
        drive([&] { return alive(name) > 0; });
        reboot();
    }
    std::string plant(const std::string& kind, Leftovers& patterns) override {
        auto& into = kind == "process"     ? patterns.processes
                     : kind == "mount"     ? patterns.mounts
                     : kind == "interface" ? patterns.interfaces
                     : kind == "table"     ? patterns.tables
                     : kind == "file"      ? patterns.files
                                           : patterns.cgroups;
        into = {"planted-*"};
        host().left.insert({kind, "planted-1"});
        return "planted-1";
    }
    void uproot(const std::string& kind) override { host().left.erase({kind, "planted-1"}); }
    std::string missing() override {
        host().missing.insert("no-such-program");
        return "no-such-program";
    }
    sim::NodeHost& host() { return machine_.node_host; }
};

using StepsKind = Kind<NodeStepsRig>;
const StepsKind steps_on_host{"host", [] { return std::make_unique<HostStepsRig>(); }};
const StepsKind steps_simulated{"sim", [] { return std::make_unique<SimStepsRig>(); }};

// On the host as root alone.
std::vector<StepsKind> step_kinds() {
    if (::geteuid() == 0) return {steps_on_host, steps_simulated};
    return {steps_simulated};
}

// What only a real host shows.
class HostStepsTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        rig = std::make_unique<HostStepsRig>();
    }
    NodeStep keeps(std::vector<std::string> words) {
        return {.node = "kn-1", .name = "serve", .start = std::move(words), .deadline = seconds{30}};
    }
    std::unique_ptr<HostStepsRig> rig;
};

TEST_F(HostStepsTest, AProgramThatEndsIsStartedAgain) {
    const auto words = keeps({"sh", "-c", "echo said; echo >> \"$1.runs\"", "sh", rig->path("server")});
    ASSERT_TRUE(rig->run(rig->steps().perform(words)));
    rig->drive([&] { return rig->runs("server") >= 2; });
    const auto log = rig->text(rig->path("clusters/programs/kn-1/serve/log")).value_or("");
    EXPECT_NE(log.find("said\n"), std::string::npos) << log;
}

// As after the machine was started again: nothing of it runs.
TEST_F(HostStepsTest, AProgramIsBegunAgainWithTheAgent) {
    ASSERT_TRUE(rig->run(rig->steps().perform(keeps(rig->program("server")))));
    rig->drive([&] { return rig->alive("server") == 1; });
    const auto keeper = read_number(rig->path("clusters/programs/kn-1/serve/keeper"));
    ASSERT_TRUE(keeper);
    ::kill(static_cast<pid_t>(*keeper), SIGKILL);
    rig->drive([&] { return rig->alive("server") == 0; });
    rig->restart();
    rig->drive([&] { return rig->alive("server") == 1; });
}

TEST_F(HostStepsTest, AProgramWithOtherFilesIsStartedAgain) {
    NodeStep step = keeps(rig->program("server"));
    step.files = {{rig->path("config"), "one"}};
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(rig->run(rig->steps().perform(step)));
    rig->drive([&] { return rig->runs("server") == 1; });
    step.files[0].text = "two";
    ASSERT_TRUE(rig->run(rig->steps().perform(step)));
    rig->drive([&] { return rig->runs("server") == 2; });
    rig->drive([&] { return rig->alive("server") == 1; });
}

// It is asked until it is, for a server takes its time.
TEST_F(HostStepsTest, AProgramThatDoesNotGetReadyEndsWithItsStep) {
    NodeStep step = keeps(rig->program("server"));
    step.done = {"false"};
    step.deadline = milliseconds{1500};
    const auto done = rig->run(rig->steps().perform(step));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, "step_late");
    EXPECT_EQ(rig->alive("server"), 0U);
}

TEST_F(HostStepsTest, TheApiIsThatOfTheHostsOwnCluster) {
    const auto reason = [&](const std::string& cluster) {
        const auto found = rig->run(rig->steps().api(cluster));
        return found                          ? ""
               : found.error().reason.empty() ? std::string{name(found.error().code)}
                                              : found.error().reason;
    };
    EXPECT_EQ(reason("kc-1"), "no_cluster_api");
    NodeStep step = keeps({});
    step.start = {};
    const std::string folder = rig->path("clusters/files/api/");
    step.files = {{folder + "cluster", "kc-1\n"},
                  {folder + "address", "127.0.0.1:6443\n"},
                  {folder + "server-name", "kc-1.internal\n"},
                  {folder + "ca.crt", "CA"},
                  {folder + "client.crt", "CERTIFICATE"}};
    ASSERT_TRUE(rig->run(rig->steps().perform(step)));
    EXPECT_EQ(reason("kc-1"), "unavailable") << "without a key";
    step.files.push_back({folder + "client.key", "KEY"});
    ASSERT_TRUE(rig->run(rig->steps().perform(step)));
    EXPECT_EQ(reason("kc-2"), "no_cluster_api");
    EXPECT_EQ(reason(""), "no_cluster_api");
    const auto found = rig->run(rig->steps().api("kc-1"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->address, "127.0.0.1:6443");
    EXPECT_EQ(found->server_name, "kc-1.internal");
    EXPECT_EQ(found->credentials.authority, "CA");
    EXPECT_EQ(found->credentials.certificate, "CERTIFICATE");
    EXPECT_EQ(found->credentials.key, "KEY");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(All, NodeStepsContract, ::testing::ValuesIn(step_kinds()), kind_name);

}  // namespace hostler::contract
