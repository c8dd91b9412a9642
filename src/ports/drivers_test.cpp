#include "ports/drivers.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

Driver tiny() {
    Driver driver{.name = "tiny", .versions = {"v1", "v2"}, .values = {{"b", "2"}, {"a", "say \"1\"\n"}}};
    driver.steps.push_back({.name = "make", .phase = StepPhase::create, .roles = {NodeRole::control}});
    return driver;
}

// Agents and masters of different releases compare it: a change here refuses each step between them.
TEST(Drivers, TheTextHasAllOfADriverInOneOrder) {
    EXPECT_EQ(driver_text(tiny()),
              R"({"name":"tiny","title":"","versions":["v1","v2"],"images":[],"ports":[],)"
              R"("values":{"a":"say \"1\"\u000a","b":"2"},"steps":[{"name":"make","help":"",)"
              R"("phase":"create","roles":["control"],"place":"node","files":[],"run":[],)"
              R"("start":[],"done":[],"deadline_s":120,"tries":3,"undo":[],"outputs":[]}],)"
              R"("leftovers":{"processes":[],"mounts":[],"interfaces":[],"tables":[],"files":[],)"
              R"("cgroups":[],"images":[]}})");
}

TEST(Drivers, AnyChangeOfAStepChangesTheText) {
    Driver other = tiny();
    other.steps[0].deadline_s = 121;
    EXPECT_NE(driver_text(other), driver_text(tiny()));
    other = tiny();
    other.steps[0].files.push_back({"/etc/x", "y"});
    EXPECT_NE(driver_text(other), driver_text(tiny()));
}

}  // namespace
}  // namespace hostler
