// Images that cannot be had or run, on real engines: whoever named one is told why.
#include <gmock/gmock.h>

#include "adapters/docker/image.h"
#include "containers.h"
#include "program.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// No engine takes plain HTTP or an unknown certificate from it, as Docker does from 127.0.0.0/8.
constexpr const char* address = "198.51.100.7";

class Images : public Containers {
protected:
    void SetUp() override {
        Containers::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        shell(fmt::format("ip address add {}/32 dev lo", address));
        std::ifstream demo{HOSTLER_DEMO, std::ios::binary};
        const std::string program{std::istreambuf_iterator<char>{demo}, {}};
        std::ofstream{root(), std::ios::binary} << docker::rootfs_of_program("/demo", program + "images");
    }
    void TearDown() override {
        if (rig_) shell(fmt::format("ip address delete {}/32 dev lo", address));
        Containers::TearDown();
    }
    std::string root() const { return folder_.path() + "/root.tar"; }
    // "REASON: MESSAGE" of a pull from a registry that runs with these arguments; "" where it succeeds. Then
    // its name is in `image`.
    std::string pull(const std::string& repository, std::vector<std::string> arguments) {
        std::vector<std::string> words{"python3", PRIVATE_REGISTRY, "puller", "opensesame", root()};
        words.insert(words.end(), arguments.begin(), arguments.end());
        registry_.emplace(words, folder_.path() + "/log");
        const std::string server = fmt::format("{}:{}", arguments.empty() ? "127.0.0.1" : address,
                                               registry_->number_after("listens at "));
        auto settings = rig().engine_settings();
        settings.registries.allowed = {server};
        const auto worker = make_worker(rig().loop(), "pulls");
        docker::DockerEngine engine{rig().net(), rig().timers(), *worker, settings};
        image = server + "/" + repository + ":1";
        ImageWanted wanted{image};
        wanted.login = RegistryLogin{server, "puller", "opensesame"};
        const auto answer = run(engine.pull(wanted, {}));
        return answer ? "" : answer.error().reason + ": " + answer.error().message;
    }
    std::string launched_with(std::vector<std::string> command = {}) {
        auto spec = rig_->server(name());
        spec.image = image;
        spec.command = std::move(command);
        const auto launched = launch(spec);
        if (launched) return "";
        EXPECT_THAT(launched.error().message, Not(HasSubstr("runc"))) << "the engine's own words";
        EXPECT_EQ(rig().process_of(spec.name), 0) << "nothing stays";
        return launched.error().reason + ": " + launched.error().message;
    }
    std::string image;

private:
    hostler::testing::TempFolder folder_;
    std::optional<Program> registry_;
};

INSTANTIATE_TEST_SUITE_P(Real, Images, engines, kind_name);

TEST_P(Images, ARegistryThatIsNotTrustedIsSaidToBe) {
    std::string said = pull("team/api", {address});
    EXPECT_THAT(said, AllOf(HasSubstr("registry_untrusted: image " + image), HasSubstr("speaks plain HTTP")));
    const std::string key = root() + ".pem";
    shell(
        fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {0} "
                    "-out {0}.cert -subj /CN=registry -addext subjectAltName=IP:{1} -days 2 2>&1 && "
                    "cat {0}.cert >>{0}",
                    key, address));
    said = pull("team/api", {address, key});
    EXPECT_THAT(said, AllOf(HasSubstr("registry_untrusted: image " + image),
                            HasSubstr("a certificate that this host does not trust")));
}

TEST_P(Images, OneForOtherMachinesIsRefused) {
    const std::string said = pull("team/other-machine", {});
    EXPECT_EQ(said, fmt::format("image_architecture: image {} is for arm64 machines, and its host is amd64",
                                image));
}

TEST_P(Images, AUserThatCannotBeIsSaidToBe) {
    ASSERT_EQ(pull("team/no-user", {}), "");
    EXPECT_THAT(launched_with(),
                AllOf(HasSubstr("image_user: image " + image), HasSubstr("is not in its /etc/passwd")));
    if (run(rig_->engine().describe())->user_namespaces == UserNamespaces::none) return;
    ASSERT_EQ(pull("team/large-user", {}), "");
    EXPECT_THAT(launched_with(),
                AllOf(HasSubstr("image_user: image " + image), HasSubstr("instances have users 0 to 65535")));
}

TEST_P(Images, ACommandThatCannotRunIsSaidToBe) {
    ASSERT_EQ(pull("team/api", {}), "");
    EXPECT_THAT(launched_with({"no-such-program"}),
                AllOf(HasSubstr("image_command"), HasSubstr("its command no-such-program is not in it")));
}

// Its files are removed next: a mount of the host's /dev or /sys must not be among them.
TEST_P(Images, OneThatIsNotMadeToItsEndLeavesNoMount) {
    const std::string recipe = root() + ".recipe", mounted = root() + ".mounted";
    auto settings = rig().engine_settings();
    for (const std::string& made : {recipe, settings.state_folder}) std::filesystem::create_directory(made);
    std::ofstream{recipe + "/rootfs.sh"} << fmt::format(
        "#!/bin/sh\nmkdir $TMPDIR/dev && mount -t tmpfs left-by-{} $TMPDIR/dev && touch {} && sleep 60\n",
        name(), mounted);
    std::filesystem::permissions(recipe + "/rootfs.sh", std::filesystem::perms::owner_all);
    settings.recipes = {
        {.image = "localhost/unfinished:1", .folder = recipe, .base = "", .root_file_system = true}};
    docker::DockerEngine engine{rig().net(), rig().timers(), rig().worker(), settings};
    TaskGroup pulls{rig().loop()};
    pulls.start("pull", engine.pull({"localhost/unfinished:1"}, {}));
    const auto end = rig().timers().now() + 30s;
    while (!std::filesystem::exists(mounted) && rig().timers().now() < end)
        EXPECT_TRUE(run(sleep(rig().timers(), 20ms)));
    EXPECT_TRUE(std::filesystem::exists(settings.state_folder + "/rootfs"));
    ASSERT_TRUE(run(pulls.close()));
    EXPECT_FALSE(std::filesystem::exists(settings.state_folder + "/rootfs"));
    EXPECT_THAT(shell("cat /proc/self/mounts"), Not(HasSubstr("left-by-" + name())));
}

// /dev/stdout and /dev/stderr are what many servers log to.
TEST_P(Images, OutputOpensByItsNameForEveryUser) {
    const auto network = make_network(1);
    EXPECT_EQ(rig().get(serve(network, 9, "a"), "/attack?what=open-output"), "done\n") << "root";
    ASSERT_EQ(pull("team/other-user", {}), "");
    const auto other = serve(network, 10, "b", [&](ContainerSpec& spec) { spec.image = image; });
    EXPECT_EQ(rig().get(other, "/attack?what=open-output"), "done\n") << "1000";
    EXPECT_EQ(rig().get(other, "/attack?what=ping-socket"), "done\n");
}

}  // namespace
}  // namespace hostler::contract
