// Completion of the names of objects, and the scripts of shells.
#include "api/operations_instance.h"
#include "api/operations_spec.h"
#include "api/operations_zone.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    for (; !text.empty(); text.remove_prefix(text.find('\n') + 1))
        lines.emplace_back(text.substr(0, text.find('\n')));
    return lines;
}

class CompletionTest : public CliTest {
protected:
    CompletionTest() {
        api.handlers.on<api::ops::list_instances>(
            [](api::Call, api::ListInstances) -> Task<api::List<api::Instance>> {
                co_return api::List<api::Instance>{{{.instance_id = "nb-1"},
                                                    {.instance_id = "nb-2"},
                                                    {.instance_id = "a b$(x)"},
                                                    {.instance_id = "web"}}};
            });
        api.handlers.on<api::ops::list_zones>([](api::Call, api::Empty) -> Task<api::List<api::Zone>> {
            co_return api::List<api::Zone>{{{.name = "nj"}, {.name = "lon"}}};
        });
        api.handlers.on<api::ops::list_specs>([](api::Call, api::Empty) -> Task<api::List<api::Spec>> {
            co_return api::List<api::Spec>{{{.name = "h100-1"}}};
        });
    }
    std::vector<std::string> complete(std::vector<std::string> words) {
        words.insert(words.begin(), "__complete");
        EXPECT_EQ(run(words), 0);
        EXPECT_EQ(err, "");
        return lines_of(out);
    }
};

TEST_F(CompletionTest, OffersTheNamesThatAreThere) {
    EXPECT_THAT(complete({"instance", "get", ""}), ElementsAre("nb-1", "nb-2", "web"));
    EXPECT_THAT(complete({"instance", "delete", "nb"}), ElementsAre("nb-1", "nb-2"));
    EXPECT_THAT(complete({"logs", ""}), ElementsAre("nb-1", "nb-2", "web"));
    EXPECT_THAT(complete({"instances", "get", "--tenant", "acme", "w"}), ElementsAre("web"));
    EXPECT_THAT(complete({"zone", "get", ""}), ElementsAre("nj", "lon"));
    EXPECT_THAT(complete({"gpu", "list", "--zone", "n"}), ElementsAre("nj"));
    EXPECT_THAT(complete({"instance", "create", "x", "--spec", ""}), ElementsAre("h100-1"));
    EXPECT_THAT(complete({"stock", "delete", ""}), ElementsAre("h100-1"));
}

TEST_F(CompletionTest, OffersNoNameWhereNoneBelongs) {
    EXPECT_THAT(complete({"instance", "get", "nb-1", ""}), IsEmpty());
    EXPECT_THAT(complete({"instance", "create", ""}), IsEmpty());  // It is yet to be made.
    EXPECT_THAT(complete({"zone", "create", ""}), IsEmpty());
    EXPECT_THAT(complete({"instance", "get", "--"}), Not(Contains("nb-1")));
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(CompletionTest, SaysNothingWhenNobodyAnswers) {
    api.down = true;
    EXPECT_THAT(complete({"instance", "get", ""}), IsEmpty());
    api.down = false;
    env["HOSTLER_KEY"] = "wrong";
    EXPECT_THAT(complete({"instance", "get", ""}), IsEmpty());
    env.erase("HOSTLER_API");
    EXPECT_THAT(complete({"instance", "get", ""}), IsEmpty());
    EXPECT_THAT(complete({"--api", "http://other.test:1", "--key=operator-key", "instance", "get", "w"}),
                ElementsAre("web"));
    EXPECT_EQ(api.dialled.back(), "other.test:1");
}

TEST_F(CompletionTest, WaitsNoLongerThanASecond) {
    api.silent = true;
    start({"__complete", "instance", "get", ""});
    EXPECT_FALSE(code);
    timers.advance(999ms);
    EXPECT_FALSE(code);
    timers.advance(1ms);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out + err, "");
}

// What the script makes of the lines, in a real shell.
TEST_F(CompletionTest, BashShowsThem) {
    ASSERT_EQ(run({"completion", "bash"}), 0);
    const std::string script = file("hostler.bash", out);
    file("here.yaml", "");
    const std::string test = file("test.bash", "cd " + home + R"(
hostler() { [ "$1" = __complete ] && printf '%s\n' $ANSWER; printf '%s|' "${@:2}" >> asked; }
source hostler.bash
COMP_WORDS=(hostler instance get n) COMP_CWORD=3 ANSWER="nb-1 nb-*"
_hostler; printf '%s,' "${COMPREPLY[@]}"
ANSWER=:files; _hostler; printf '%s' "${#COMPREPLY[@]}"
complete -p hostler
)");
    const std::string result = home + "/result";
    ASSERT_EQ(std::system(("bash " + test + " > " + result + " 2>&1").c_str()), 0);
    std::stringstream got;
    got << std::ifstream{result}.rdbuf();
    EXPECT_EQ(got.str(), "nb-1,nb-*,0complete -F _hostler hostler\n");
    std::stringstream asked;
    asked << std::ifstream{home + "/asked"}.rdbuf();
    EXPECT_EQ(asked.str(), "instance|get|n|instance|get|n|");
}

}  // namespace
}  // namespace hostler::cli
