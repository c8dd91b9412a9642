#include "adapters/program/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::program {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

ContainerSpec some_spec() {
    return {.name = "p-1", .command = {"sh", "-c", "true"}, .environment = {{"A", "1"}}, .hostname = "job-1"};
}

ProgramSettings some_settings() { return {.state_folder = "/state", .hidden = {"/root"}}; }

std::vector<std::string> wrong_fields(const ContainerSpec& spec) {
    std::vector<std::string> paths;
    if (const auto checked = check_spec(spec); !checked)
        for (const auto& field : checked.error().fields) paths.push_back(field.path);
    return paths;
}

TEST(Plan, ASpecIsCheckedAsAWhole) {
    EXPECT_TRUE(check_spec(some_spec()));
    auto spec = some_spec();
    spec.name = "..";
    spec.command.clear();
    spec.no_init = true;
    spec.network = "n-1";
    spec.hostname = "a/b";
    spec.memory_bytes = -1;
    EXPECT_THAT(wrong_fields(spec),
                ElementsAre("name", "command", "no_init", "network", "hostname", "memory_bytes"));
}

TEST(Plan, WordsHaveNoZeroByteAndABound) {
    auto spec = some_spec();
    spec.command.push_back(std::string{"a\0b", 3});
    EXPECT_THAT(wrong_fields(spec), ElementsAre("command"));
    spec = some_spec();
    spec.environment = {{"A=B", "1"}};
    EXPECT_THAT(wrong_fields(spec), ElementsAre("environment"));
    spec = some_spec();
    spec.command.emplace_back(2 << 20, 'x');
    EXPECT_THAT(wrong_fields(spec), ElementsAre("command"));
}

TEST(Plan, TargetsOfMountsAreApartAndNotTheKernels) {
    const auto wrong = [](std::vector<std::string> targets) {
        auto spec = some_spec();
        for (auto& target : targets) spec.mounts.push_back({"/source", std::move(target)});
        return wrong_fields(spec).size();
    };
    EXPECT_EQ(wrong({"/data", "/data2", "/data-3/x"}), 0U);
    EXPECT_EQ(wrong({"/data", "/data"}), 1U);
    EXPECT_EQ(wrong({"/data", "/data/x"}), 1U);
    EXPECT_EQ(wrong({"/data/x", "/data"}), 1U);
    for (const auto* target :
         {"", "/", "data", "/a/../b", "/a/.", "/a//b", "/a/", "/proc/x", "/sys", "/dev/shm"})
        EXPECT_EQ(wrong({target}), 1U) << target;
    auto spec = some_spec();
    spec.mounts = {{"/source", "/run/secrets"}};
    spec.secret_files = {{"/run/secrets/key", "x"}};
    EXPECT_THAT(wrong_fields(spec), ElementsAre("secret_files[0].path"));
}

TEST(Plan, NothingIsKeptOfAProgram) {
    auto spec = some_spec();
    spec.layer = LayerStart::kept;
    EXPECT_EQ(check_spec(spec).error().reason, Engine::layer_missing);
    spec = some_spec();
    spec.image = "debian:12";
    EXPECT_EQ(check_spec(spec).error().reason, Engine::image_missing);
}

TEST(Plan, TheEntryPointStandsBeforeTheCommand) {
    auto spec = some_spec();
    spec.entrypoint = {{"torchrun", "--standalone"}};
    spec.command = {"train.py"};
    EXPECT_THAT(make_plan(spec, some_settings(), {}).command,
                ElementsAre("torchrun", "--standalone", "train.py"));
}

TEST(Plan, DevicesAddToTheEnvironmentAndMountWhatLiesElsewhere) {
    const auto plan = make_plan(
        some_spec(), some_settings(),
        {.environment = {{"A", "2"}, {"GPU", "0"}},
         .mounts = {
             {"/root/z", "/root/z"}, {"/usr/lib/x.so", "/usr/lib/x.so"}, {"/opt/y.so", "/usr/lib/y.so"}}});
    EXPECT_THAT(plan.environment,
                ElementsAre("A=2", "GPU=0", "HOME=/tmp", ::testing::StartsWith("PATH=/usr")));
    ASSERT_EQ(plan.mounts.size(), 2U);
    EXPECT_EQ(plan.mounts[0].target, "/root/z") << "it is hidden otherwise";
    EXPECT_EQ(plan.mounts[1].source, "/opt/y.so");
    EXPECT_TRUE(plan.mounts[1].read_only);
    EXPECT_THAT(plan.hidden, ElementsAre("/root", "/state"));
}

TEST(Plan, NumbersOfTheSpecComeBeforeThoseOfTheSettings) {
    auto spec = some_spec();
    auto plan = make_plan(spec, some_settings(), {});
    EXPECT_EQ(plan.scratch_bytes, some_settings().scratch_bytes);
    EXPECT_EQ(plan.processes_max, some_settings().pids_max);
    EXPECT_EQ(plan.mount_owner, 0U);
    spec.disk_bytes = 1, spec.shm_bytes = 2, spec.pids_max = 3, spec.ids = {70000, 70000};
    plan = make_plan(spec, some_settings(), {});
    EXPECT_EQ(plan.scratch_bytes, 1);
    EXPECT_EQ(plan.shm_bytes, 2);
    EXPECT_EQ(plan.processes_max, 3);
    EXPECT_EQ(plan.mount_owner, 70000U);
}

TEST(Plan, ItIsReadAsItWasWritten) {
    auto spec = some_spec();
    spec.command.emplace_back("bytes \xff\x01\n\"");
    spec.mounts = {{"/source", "/data", true}};
    spec.secret_files = {{"/key", "k\n"}};
    auto plan = make_plan(spec, some_settings(), {});
    plan.user = 4'000'000'000;
    plan.nodes = {{.path = "/dev/x", .block = true, .major = 4095, .minor = 1048575}};
    const auto again = parse_plan(to_text(plan));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_text(*again), to_text(plan));
    EXPECT_EQ(again->command, plan.command);
    EXPECT_EQ(again->user, plan.user);
    for (const auto* text : {"", "{", "[]", "{}", "{\"name\":7}"}) EXPECT_FALSE(parse_plan(text)) << text;
}

}  // namespace
}  // namespace hostler::program
