#include "domain/template/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

InstanceTemplate notebook() {
    InstanceTemplate made{.name = "notebook", .title = "Notebook", .image = "localhost/notebook:1"};
    made.ports = {{.port = 8888, .is_probe = true}};
    made.environment = {{"MODE", "lab"}};
    made.parameters = {
        {.name = "password", .type = ParameterType::secret, .help = "Asked for.", .variable = "PASSWORD"},
        {.name = "minutes",
         .type = ParameterType::integer,
         .help = "How long.",
         .variable = "MINUTES",
         .default_value = "5",
         .min = 0,
         .max = 60},
        {.name = "theme",
         .type = ParameterType::choice,
         .help = "How it looks.",
         .variable = "THEME",
         .required = true,
         .choices = {"light", "dark"}},
        {.name = "listing", .type = ParameterType::boolean, .help = "Show folders.", .variable = "LISTING"}};
    return made;
}

TEST(Template, AnswersBecomeVariablesAndTheRestKeepsItsDefault) {
    const auto made = environment_of(notebook(), {{"theme", "dark"}, {"listing", "true"}});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_THAT(*made, ElementsAre(InstanceVariable{"MODE", "lab"}, InstanceVariable{"THEME", "dark"},
                                   InstanceVariable{"LISTING", "true"}, InstanceVariable{"MINUTES", "5"}));
}

TEST(Template, EveryWrongAnswerIsNamed) {
    const auto made = environment_of(
        notebook(),
        {{"minutes", "61"}, {"colour", "red"}, {"listing", "yes"}, {"minutes", "-1"}, {"minutes", "soon"}});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::invalid);
    std::vector<std::string> said;
    for (const auto& [field, message] : made.error().fields) said.push_back(field + ": " + message);
    EXPECT_THAT(said, Contains("parameters[0].value: must be at most 60"));
    EXPECT_THAT(said,
                Contains(HasSubstr("parameters[1].name: template notebook has no such parameter; it has "
                                   "password, minutes, theme, listing")));
    EXPECT_THAT(said, Contains("parameters[2].value: must be true or false"));
    EXPECT_THAT(said, Contains("parameters[3].name: is given twice"));
    EXPECT_THAT(said, Contains("parameters[3].value: must be at least 0"));
    EXPECT_THAT(said, Contains("parameters[4].value: must be a whole number"));
    EXPECT_THAT(said, Contains("parameters: theme is missing: How it looks."));
    EXPECT_EQ(said.size(), 8u);
}

TEST(Template, AChoiceIsOneOfItsChoices) {
    const auto made = environment_of(notebook(), {{"theme", "loud"}});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().fields.at(0).message, "must be one of light, dark");
}

TEST(Template, ASoundOneHasNoFaults) { EXPECT_THAT(faults_of(notebook()), IsEmpty()); }

TEST(Template, FaultsAreAllTold) {
    InstanceTemplate wrong = notebook();
    wrong.title.clear();
    wrong.image.clear();
    wrong.mount_path = "data";
    wrong.ports = {{.port = 0}, {.port = 80, .base_url = "lab"}, {.port = 80}};
    wrong.parameters.at(1).default_value = "90";
    wrong.parameters.at(2).choices.clear();
    wrong.parameters.at(3).variable = "THEME";
    wrong.parameters.at(0).min = 1;
    EXPECT_THAT(
        faults_of(wrong),
        ElementsAre("title is missing", "it has neither an image nor a recipe for one",
                    "mountPath must begin with /", "port 0 is none", "baseUrl of port 80 must begin with /",
                    "port 80 is given twice", "parameter 'password': only an integer has min and max",
                    "parameter 'minutes': its default must be at most 60",
                    "parameter 'theme': choices is missing",
                    "parameter 'listing': another one sets THEME already"));
}

}  // namespace
}  // namespace hostler
