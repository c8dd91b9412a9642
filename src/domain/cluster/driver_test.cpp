#include "domain/cluster/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

Driver small() {
    return {
        .name = "small",
        .versions = {"v1"},
        .values = {{"podSubnet", "10.244.0.0/16"}},
        .steps = {{.name = "init",
                   .phase = StepPhase::create,
                   .run = {"init", "{{podSubnet}}"},
                   .outputs = {"token"}},
                  {.name = "join", .phase = StepPhase::join, .run = {"join", "{{token}}", "{{node.name}}"}},
                  {.name = "leave", .phase = StepPhase::leave, .run = {"reset"}},
                  {.name = "clean", .phase = StepPhase::clean, .roles = {NodeRole::worker}, .run = {"rm"}}}};
}

TEST(Driver, AWholeOneIsTaken) {
    const auto checked = check(small());
    EXPECT_TRUE(checked) << checked.error().message;
}

TEST(Driver, EachWrongFieldIsNamed) {
    Driver wrong = small();
    wrong.name = "a b";
    wrong.steps[0].run = {"init", "{{podSubet}}"};
    wrong.steps[0].deadline_s = 0;
    wrong.steps[1].name = "init";
    wrong.steps[1].files = {{.path = "etc/x", .text = "{{", .mode = 07777},
                            {.path = "{{agent.folder}}/../x"},
                            {.path = "{{agent.folder}}/x"}};
    wrong.steps.pop_back();
    const auto checked = check(wrong);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().fields,
                UnorderedElementsAre(
                    Field(&FieldError::path, "name"), Field(&FieldError::path, "steps[0].run[1]"),
                    Field(&FieldError::path, "steps[0].deadlineS"), Field(&FieldError::path, "steps[1].name"),
                    Field(&FieldError::path, "steps[1].files[0].path"),
                    Field(&FieldError::path, "steps[1].files[1].path"),
                    Field(&FieldError::path, "steps[1].files[0].text"),
                    Field(&FieldError::path, "steps[1].files[0].mode"), Field(&FieldError::path, "steps")));
    EXPECT_THAT(checked.error().fields,
                ::testing::Contains(Field(&FieldError::message, HasSubstr("podSubet"))));
}

TEST(Driver, ASaveCanBeRestoredAndErased) {
    Driver driver = small();
    driver.steps.push_back({.name = "save", .phase = StepPhase::save, .run = {"save", "{{save.file}}"}});
    const auto refused = check(driver);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().fields,
                ElementsAre(Field(&FieldError::message, HasSubstr("save, restore and erase"))));
    driver.steps.push_back(
        {.name = "restore", .phase = StepPhase::restore, .run = {"load", "{{save.file}}"}});
    driver.steps.push_back(
        {.name = "erase", .phase = StepPhase::erase, .run = {"rm", "{{saves.folder}}", "{{save.id}}"}});
    EXPECT_TRUE(check(driver));
}

TEST(Driver, StepsAreThoseOfAPhaseAndARole) {
    const Driver driver = small();
    EXPECT_EQ(steps_of(driver, StepPhase::clean, NodeRole::worker).size(), 1u);
    EXPECT_TRUE(steps_of(driver, StepPhase::clean, NodeRole::control).empty());
    EXPECT_EQ(step_named(driver, "join"), &driver.steps[1]);
    EXPECT_EQ(step_named(driver, "jump"), nullptr);
}

TEST(Driver, TextsAreFilled) {
    EXPECT_EQ(filled("a {{x}}{{y.z}} }} b", {{"x", "1"}, {"y.z", "{{x}}"}}), "a 1{{x}} }} b");
    EXPECT_EQ(filled("", {}), "");
    const auto missing = filled("{{x}} {{y}} {{x}}", {{"x", "1"}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "no value of y");
    EXPECT_THAT(*names_in("{{a}}-{{b}}"), ElementsAre("a", "b"));
    for (const char* text : {"{{a", "{{}}", "{{a b}}", "{{{{a}}}}"}) EXPECT_FALSE(names_in(text)) << text;
}

}  // namespace
}  // namespace hostler
