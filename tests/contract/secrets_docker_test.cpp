// Secrets on real engines: a login that a registry wants, and files that only the container's user reads.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include "adapters/docker/image.h"
#include "containers.h"
#include "program.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class Secrets : public Containers {
protected:
    // Everything that the engine says of a container.
    std::string inspected(const std::string& container) {
        http::Client client{rig().net(), rig().timers()};
        http::Request request{.method = "GET", .target = "/containers/" + container + "/json"};
        request.headers.set("Host", "engine");
        const auto answer = run(client.fetch({"unix:" + rig().engine_settings().socket}, std::move(request)));
        return answer ? answer->body : answer.error().message;
    }
};

INSTANTIATE_TEST_SUITE_P(Real, Secrets, engines, kind_name);

TEST_P(Secrets, ARegistryIsShownTheLogin) {
    std::ifstream demo{HOSTLER_DEMO, std::ios::binary};
    const std::string program{std::istreambuf_iterator<char>{demo}, {}};
    const hostler::testing::TempFolder folder;
    const std::string root = folder.path() + "/root.tar";
    std::ofstream{root, std::ios::binary} << docker::rootfs_of_program("/demo", program + "private");
    const Program registry{{"python3", PRIVATE_REGISTRY, "puller", "opensesame", root},
                           folder.path() + "/log"};
    const std::string server = fmt::format("127.0.0.1:{}", registry.number_after("listens at "));
    auto settings = rig().engine_settings();
    settings.registries.allowed = {server};
    const auto worker = make_worker(rig().loop(), "pulls");
    docker::DockerEngine engine{rig().net(), rig().timers(), *worker, settings};
    ImageWanted wanted{server + "/team/api:1"};
    const auto pull = [&](const char* password) {
        wanted.login.reset();
        if (*password) wanted.login = RegistryLogin{server, "puller", password};
        const auto answer = run(engine.pull(wanted, {}));
        return answer ? std::string{"given"} : answer.error().reason + ": " + answer.error().message;
    };
    EXPECT_THAT(pull(""), HasSubstr("image_unauthorized"));
    EXPECT_THAT(pull("wrong"), HasSubstr("image_unauthorized"));
    EXPECT_EQ(pull("opensesame"), "given");
    EXPECT_EQ(pull(""), "given") << "it lies here";
    wanted.ask = true;
    EXPECT_THAT(pull(""), HasSubstr("image_unauthorized")) << "its registry is asked";
    EXPECT_THAT(pull("wrong"), HasSubstr("image_unauthorized"));
    EXPECT_EQ(pull("opensesame"), "given");
    EXPECT_THAT(registry.printed(), Not(HasSubstr("Error")));
}

TEST_P(Secrets, AFileIsForTheContainersUserAlone) {
    auto spec = rig_->server(name());
    spec.secret_files = {{"/run/secrets/token", "v3ry-s3cr3t"}};
    const auto launched = launch(spec);
    ASSERT_TRUE(launched) << launched.error().message;
    const pid_t pid = rig().process_of(spec.name);
    ASSERT_GT(pid, 0);
    const std::string path = fmt::format("/proc/{}/root/run/secrets/token", pid);
    std::ifstream file{path};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(text, "v3ry-s3cr3t");
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0400u);
    EXPECT_EQ(status.st_uid, spec.ids.first_user);
    EXPECT_THAT(inspected(spec.name), Not(HasSubstr("v3ry-s3cr3t")));
    const std::string kept = rig().engine_settings().secret_folder + "/" + spec.name;
    EXPECT_TRUE(std::filesystem::exists(kept));
    EXPECT_TRUE(run(rig_->engine().stop(spec.name, 1s)));
    EXPECT_TRUE(run(rig_->engine().remove(spec.name)));
    EXPECT_FALSE(std::filesystem::exists(kept)) << "gone with its container";
}

}  // namespace
}  // namespace hostler::contract
