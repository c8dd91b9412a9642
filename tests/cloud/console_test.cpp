// The console in a real browser: flows of people (tests/console/flows), driven by Playwright.
#include "cloud.h"

namespace hostler::cloud {
namespace {

class Console : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>(std::vector<std::string>{"--demo", "--prepare", "shell"});
    }
    static void TearDownTestSuite() { one.reset(); }
    // The program says what was wrong, and what each page showed then. `hands`: "mouse" or "keyboard".
    void flow(const std::string& name, const std::string& hands = "mouse") {
        const Ran ran = run_program({"node", HOSTLER_FLOWS, name, hands},
                                    {{"HOSTLER_API", one->api_url},
                                     {"HOSTLER_GATEWAY", one->gateway_url},
                                     {"HOSTLER_KEY", one->key},
                                     {"HOSTLER_DATA", one->data},
                                     {"HOSTLER_FOLDER", one->folder},
                                     {"HOSTLER_PROGRAMS", std::filesystem::path{HOSTLER}.parent_path()}},
                                    std::chrono::minutes{15});
        EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    }
    static std::unique_ptr<Cloud> one;
};
std::unique_ptr<Cloud> Console::one;

TEST_F(Console, APersonSignsInComesBackAndSignsOut) { flow("sign_in"); }
TEST_F(Console, ARefusedStartIsExplainedAndMended) { flow("refused"); }
TEST_F(Console, APageOfAnotherOriginCanNeitherReadNorActNorFrame) { flow("hostile"); }
TEST_F(Console, IdsOfAnotherTenantShowNothingOfIt) { flow("foreign"); }
TEST_F(Console, AShellIsStartedAndItsTerminalSurvivesItsAccessPoint) { flow("terminal"); }
TEST_F(Console, AJobIsSubmittedFollowedAndCancelled) { flow("jobs"); }
TEST_F(Console, ScriptsInTextsAndLogsAreText) { flow("script"); }
TEST_F(Console, EachPageIsAccessibleInBothThemes) { flow("pages"); }

// By keyboard alone; the flows above have the mouse.
TEST_F(Console, WithoutAMouseAPersonSignsInAndOut) { flow("sign_in", "keyboard"); }
TEST_F(Console, WithoutAMouseARefusedStartIsMended) { flow("refused", "keyboard"); }
TEST_F(Console, WithoutAMouseATerminalIsEnteredAndLeft) { flow("terminal", "keyboard"); }
TEST_F(Console, AnAdminInvitesAMemberWhoSeesOneProject) { flow("invite", "keyboard"); }
TEST_F(Console, AProvidersHostJoins) { flow("provider", "keyboard"); }
TEST_F(Console, ABrokenGpuIsFoundAndComesBack) { flow("fault", "keyboard"); }

}  // namespace
}  // namespace hostler::cloud
