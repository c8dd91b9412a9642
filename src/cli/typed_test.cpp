// What people type who know other programs.
#include "cli/typed.h"

#include "api/operations_instance.h"
#include "api/operations_key.h"
#include "api/operations_volume.h"
#include "api/operations_zone.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TypedTest : public CliTest {
protected:
    // What it says when it is refused; empty: it is not.
    std::string refusal(std::vector<std::string> args) { return run(std::move(args)) == 2 ? err : ""; }
};

TEST_F(TypedTest, CommandsOfOtherProgramsWorkWhereTheyMeanTheSame) {
    std::vector<std::string> asked;
    api.handlers.on<api::ops::list_instances>(
        [&](api::Call, api::ListInstances) -> Task<api::List<api::Instance>> {
            asked.emplace_back("instances");
            co_return api::List<api::Instance>{};
        });
    api.handlers.on<api::ops::get_instance>([&](api::Call, api::GetInstance named) -> Task<api::Instance> {
        asked.push_back("instance " + named.instance);
        co_return api::Instance{.instance_id = named.instance};
    });
    api.handlers.on<api::ops::list_host_tokens>(
        [&](api::Call, api::Empty) -> Task<api::List<api::HostToken>> {
            asked.emplace_back("tokens");
            co_return api::List<api::HostToken>{};
        });
    EXPECT_EQ(run({"ps"}), 0) << err;
    EXPECT_EQ(run({"get", "instances"}), 0) << err;
    EXPECT_EQ(run({"list", "instances"}), 0) << err;
    EXPECT_EQ(run({"--key", "acme-key", "get", "instance", "nb", "-o", "json"}), 0) << err;
    EXPECT_EQ(run({"get", "instances", "nb"}), 0) << err;
    EXPECT_EQ(run({"list", "host", "tokens"}), 0) << err;
    EXPECT_THAT(asked,
                ElementsAre("instances", "instances", "instances", "instance nb", "instance nb", "tokens"));
    EXPECT_EQ(run({"version"}), 0);
    EXPECT_EQ(out, "hostler " + world.version + "\n");
    EXPECT_EQ(run({"help"}), 0);
    EXPECT_THAT(out, HasSubstr("Short forms: "));
    EXPECT_EQ(run({"help", "instance", "create"}), 0);
    EXPECT_THAT(out, HasSubstr("--spec"));
}

TEST_F(TypedTest, ANameMayBeAWordOfTheCommandLine) {
    std::vector<std::string> asked;
    api.handlers.on<api::ops::get_instance>([&](api::Call, api::GetInstance named) -> Task<api::Instance> {
        asked.push_back(named.instance);
        co_return api::Instance{.instance_id = named.instance};
    });
    for (const std::string name : {"stock", "list", "get", "apply", "instance", "host"})
        EXPECT_EQ(run({"instance", "get", name, "-o", "json"}), 0) << name << ": " << err;
    EXPECT_EQ(run({"instance", "-o", "json", "get", "gpu"}), 0) << err;
    EXPECT_THAT(asked, ElementsAre("stock", "list", "get", "apply", "instance", "host", "gpu"));
}

TEST_F(TypedTest, OtherWordsPointToTheRightCommand) {
    world.other_commands = {{"up", "Run a whole cloud on this machine."}};
    EXPECT_THAT(refusal({"run", "nginx"}), HasSubstr("a command stands behind --, as: hostler run"));
    EXPECT_THAT(refusal({"stop", "nb"}),
                HasSubstr("the noun comes first, as in: hostler instance stop nb\n"));
    EXPECT_THAT(refusal({"rm", "instance", "nb"}), HasSubstr("did you mean: hostler instance delete\n"));
    EXPECT_THAT(refusal({"drain", "h-1"}), HasSubstr("as in: hostler access drain, hostler host drain\n"));
    EXPECT_THAT(refusal({"tenant", "rm", "acme"}), HasSubstr("did you mean 'delete'?"));
    EXPECT_THAT(refusal({"nodes"}), HasSubstr("here it is 'host': hostler host list\n"));
    EXPECT_THAT(refusal({"instance", "rm", "nb"}),
                HasSubstr("there is no command 'rm' here; did you mean 'delete'?\n"));
    EXPECT_THAT(refusal({"--key", "k", "up"}),
                HasSubstr("'up' is a separate program: hostler up comes first"));
    EXPECT_THAT(refusal({"instnace", "list"}), HasSubstr("did you mean 'instance'?"));
    EXPECT_THAT(refusal({"logz", "nb"}), HasSubstr("did you mean 'logs'?"));
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(TypedTest, AMistypedTenantOfAnEmptyListIsNoticed) {
    api.handlers.on<api::ops::list_volumes>([](api::Call, api::ListVolumes) -> Task<api::List<api::Volume>> {
        co_return api::List<api::Volume>{};
    });
    api.handlers.on<api::ops::list_api_keys>([](api::Call, api::ListApiKeys) -> Task<api::List<api::ApiKey>> {
        co_return api::List<api::ApiKey>{
            .items = {{.name = "ops", .is_operator = true}, {.name = "ci", .tenant_id = "acme"}}};
    });
    EXPECT_EQ(run({"volume", "list", "--tenant", "amce"}), 0) << err;
    EXPECT_EQ(err, "no volumes; no key is of tenant amce; did you mean acme?\n");
    EXPECT_EQ(run({"volume", "list", "--tenant", "acme"}), 0) << err;
    EXPECT_EQ(err, "no volumes\n");
    EXPECT_EQ(run({"volume", "list", "--tenant", "globex"}), 0) << err;
    EXPECT_EQ(err, "no volumes\n");
}

TEST_F(TypedTest, FlagsThatBeginAlikeAreNamed) {
    EXPECT_THAT(refusal({"stock", "create", "s", "--gpus", "2"}),
                HasSubstr("there is no flag --gpus here; did you mean '--gpu-type' or '--gpu-num'?\n"));
    EXPECT_THAT(refusal({"instance", "create", "nb", "--imgae", "x"}),
                HasSubstr("did you mean '--image'?\n"));
    EXPECT_THAT(refusal({"instance", "create", "nb", "--wherever", "x"}),
                HasSubstr("there is no flag --wherever here; --help shows all\n"));
}

TEST_F(TypedTest, ACommandWithoutDashesIsToldWhereTheyGo) {
    EXPECT_THAT(refusal({"exec", "nb", "nvidia-smi", "-L"}),
                HasSubstr("the command stands behind --, as: hostler exec nb -- nvidia-smi -L\n"));
    EXPECT_THAT(refusal({"ssh", "nb", "ls"}), HasSubstr("as: hostler ssh nb -- ls\n"));
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(TypedTest, LettersOfOtherProgramsAreTaken) {
    api::CreateInstance created;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            created = std::move(request);
            co_return api::CreatedInstance{};
        });
    int lines = 0;
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs request) -> Task<api::Logs> {
        lines = request.tail;
        co_return api::Logs{};
    });
    EXPECT_EQ(run({"instance", "create", "nb", "--tenant", "acme", "--spec", "s", "--image", "i", "-p",
                   "8080,public", "-p", "9000", "-e", "A=1", "-v", "models:/data"}),
              0)
        << err;
    EXPECT_EQ(created.template_,
              (api::Template{.ports = {{8080, api::Protocol::TCP, true, false, ""}, {9000}},
                             .envs = {{"A", "1"}},
                             .volumes = {{"models", "/data", false}}}));
    EXPECT_EQ(run({"logs", "nb", "-n", "7"}), 0) << err;
    EXPECT_EQ(lines, 7);
    EXPECT_EQ(run({"logs", "nb", "--lines", "8"}), 0) << err;
    EXPECT_EQ(lines, 8);
}

}  // namespace
}  // namespace hostler::cli
