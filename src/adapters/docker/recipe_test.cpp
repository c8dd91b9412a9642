#include "adapters/docker/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "adapters/docker/long_process.h"
#include "adapters/docker/pull.h"
#include "core/testing/file_tree.h"
#include "core/testing/real_timers.h"

namespace hostler::docker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Recipes : public ::testing::Test {
protected:
    testing::FileTree tree;
};

TEST_F(Recipes, FoldersThatNameAnImageAre) {
    tree.write("notebook/image", "localhost/notebook:1\n");
    tree.write("notebook/Containerfile", "# What it is.\nFROM localhost/base:12\nRUN true\n");
    tree.write("base/image", "localhost/base:12");
    tree.write("base/rootfs.sh", "#!/bin/sh\n");
    tree.write("empty/image", "localhost/empty:1");
    tree.write("empty/Containerfile", "FROM scratch\nCOPY a /\n");
    tree.write("no-recipe/template.toml", "");
    const auto found = read_recipes(tree.path());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_THAT(*found, SizeIs(3));
    EXPECT_EQ(find_recipe(*found, "localhost/notebook:1")->base, "localhost/base:12");
    EXPECT_FALSE(find_recipe(*found, "localhost/notebook:1")->root_file_system);
    EXPECT_TRUE(find_recipe(*found, "localhost/base:12")->root_file_system);
    EXPECT_EQ(find_recipe(*found, "localhost/empty:1")->base, "");
    EXPECT_EQ(find_recipe(*found, "localhost/notebook:2"), nullptr) << "another version is another image";
}

TEST_F(Recipes, WhatIsNoneIsNamed) {
    tree.write("half/image", "localhost/half:1");
    const auto half = read_recipes(tree.path());
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().code, Code::invalid);
    EXPECT_THAT(half.error().message, HasSubstr("half has neither a Containerfile nor a rootfs.sh"));
    tree.write("half/image", " \n");
    EXPECT_THAT(read_recipes(tree.path()).error().message, HasSubstr("names no image"));
    EXPECT_THAT(read_recipes(tree.path("nowhere")).error().message, HasSubstr("cannot be read"));
}

TEST_F(Recipes, TheContextHoldsTheFilesAndTheirModes) {
    tree.write("one/image", "localhost/one:1");
    tree.write("one/Containerfile", "FROM scratch\n");
    tree.write("one/start.sh", "#!/bin/sh\n");
    fs::permissions(tree.path("one/start.sh"), fs::perms::owner_all);
    const auto found = read_recipes(tree.path());
    const auto archive = context_of(found->at(0));
    ASSERT_TRUE(archive) << archive.error().message;
    const auto entry = archive->find("start.sh");
    ASSERT_NE(entry, std::string::npos);
    EXPECT_EQ(archive->substr(entry + 100, 7), "0000755");
    EXPECT_EQ(archive->substr(archive->find("Containerfile") + 100, 7), "0000644");
    EXPECT_EQ(archive->size() % 512, 0u);
}

TEST(BuildStream, TellsItsStepAndItsError) {
    BuildStream told;
    told.feed("{\"stream\":\"STEP 1/2: FROM localhost/base:12\\n\"}\n{\"stream\":\"STEP 2/2: RUN apt-get");
    EXPECT_EQ(told.step(), "step 1 of 2: FROM localhost/base:12");
    told.feed(" update\\n\"}\n{\"stream\":\"E: no network\\r\\n\"}\n");
    EXPECT_EQ(told.step(), "step 2 of 2: RUN apt-get update");
    EXPECT_FALSE(told.error());
    told.feed("{\"errorDetail\":{\"message\":\"exit status 100\"},\"error\":\"exit status 100\"}");
    told.finish();
    EXPECT_EQ(told.error(), "exit status 100");
    EXPECT_THAT(told.last_lines(), HasSubstr("RUN apt-get update\nE: no network"));
}

TEST(BuildStream, ReadsTheStepsOfEachEngine) {
    const auto step = [](const std::string& said) {
        BuildStream told;
        told.feed("{\"stream\":\"" + said + "\\n\"}\n");
        return told.step();
    };
    EXPECT_EQ(step("[1/2] STEP 3/14: COPY host/ /"), "stage 1 of 2, step 3 of 14: COPY host/ /");
    EXPECT_EQ(step("Step 3/9 : RUN true"), "step 3 of 9: RUN true");
    for (const char* other :
         {"STEP by step", "[1/2] said", "[1/2 STEP 1/2: RUN", "STEP 1/: RUN", "[notice] STEP 1/2: RUN"})
        EXPECT_EQ(step(other), "") << other;
}

class LongProcess : public ::testing::Test {
protected:
    Result<int> run(std::vector<std::string> arguments, Duration deadline = std::chrono::seconds{30}) {
        return testing::run_real(loop, run_long(timers, std::move(arguments), tree.path("said"), deadline));
    }
    testing::FileTree tree;
    Loop loop;
    testing::RealTimers timers{loop};
};

TEST_F(LongProcess, KeepsWhatItSaysAndTellsHowItEnded) {
    EXPECT_EQ(run({"sh", "-c", "echo out; echo err >&2; exit 3"}), 3);
    std::stringstream said;
    said << std::ifstream{tree.path("said")}.rdbuf();
    EXPECT_EQ(said.str(), "out\nerr\n");
    EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}), 128 + 15);
    EXPECT_EQ(run({"/nowhere/program"}).error().code, Code::not_found);
}

TEST_F(LongProcess, PastItsDeadlineItIsKilledWithAllThatItStarted) {
    const std::string pid_file = tree.path("pid");
    const auto ended =
        run({"sh", "-c", "sleep 1000 & echo $! >" + pid_file + "; wait"}, std::chrono::milliseconds{500});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Code::timeout);
    int pid = 0;
    std::ifstream{pid_file} >> pid;
    ASSERT_GT(pid, 0);
    // Dying takes a moment, and whoever is not reaped yet is a zombie.
    const auto alive = [pid] {
        std::string state;
        for (std::ifstream status{"/proc/" + std::to_string(pid) + "/status"}; std::getline(status, state);)
            if (state.starts_with("State:")) return state.find_first_of("ZX") == std::string::npos;
        return false;
    };
    for (int tries = 0; alive() && tries < 500; ++tries) ::usleep(10'000);
    EXPECT_FALSE(alive());
}

}  // namespace
}  // namespace hostler::docker
