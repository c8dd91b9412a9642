// What was on a host before it became a node is not left of the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "adapters/node_steps/perform.h"
#include "core/testing/temp_folder.h"

namespace hostler::node_steps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Look : ::testing::Test {
    Look() {
        settings.folder = folder.path() + "/clusters";
        settings.group_parent = "hostler-test-look";
        settings.path = folder.path() + ":" + settings.path;
        settings.containerd = folder.path() + "/containerd.sock";
        std::ofstream{settings.containerd};
        const std::string ctr = folder.path() + "/ctr";
        std::ofstream{ctr} << "#!/bin/sh\necho example.com/kept:1\necho example.com/ours:1\n";
        ::chmod(ctr.c_str(), 0755);
    }
    void was_before(const std::string& lines) {
        std::filesystem::create_directories(settings.folder + "/files/before");
        std::ofstream{settings.folder + "/files/before/leftovers"} << lines;
    }
    std::vector<std::string> found() {
        const auto left =
            look(settings, {.interfaces = {"lo"}, .files = {folder.path()}, .images = {"*"}}, stop);
        std::vector<std::string> lines;
        if (!left) ADD_FAILURE() << left.error().message;
        if (left)
            for (const Leftover& one : *left) lines.push_back(one.kind + " " + one.name);
        return lines;
    }
    testing::TempFolder folder;
    StepSettings settings;
    Stop stop{Clock::now() + std::chrono::seconds{60}};
};

TEST_F(Look, WithoutAListAllCounts) {
    EXPECT_THAT(found(), ElementsAre("file " + folder.path(), "image example.com/kept:1",
                                     "image example.com/ours:1", "interface lo"));
}

TEST_F(Look, ImagesAndInterfacesOfBeforeDoNotCount) {
    was_before("image example.com/kept:1\ninterface lo\nfile " + folder.path() + "\n");
    EXPECT_THAT(found(), ElementsAre("file " + folder.path(), "image example.com/ours:1"));
    was_before("image example.com/kept\nimage example.com/*\ninterface l\n");
    EXPECT_EQ(found().size(), 4U) << "whole names alone";
}

TEST_F(Look, AListThatIsTooLongIsNone) {
    was_before("interface lo\n" + std::string((1 << 20) + 1, 'x'));
    EXPECT_EQ(found().size(), 4U);
}

}  // namespace
}  // namespace hostler::node_steps
