// Programs as units of a systemd that writes down what it is told.
#include "adapters/node_steps/programs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::node_steps {
namespace {

struct Units : ::testing::Test {
    Units() {
        settings.folder = folder.path() + "/clusters";
        settings.systemd = true;
        settings.group_parent = "hostler-test-units";
        settings.path = folder.path() + ":" + settings.path;
        const std::string running = folder.path() + "/running";
        put("systemd-run", "for word; do echo \"$word\"; done > " + told() + "; touch " + running);
        put("systemctl",
            "case $1 in is-active) test -e " + running + ";; stop) rm -f " + running + ";; esac");
    }
    void put(const std::string& name, const std::string& script) const {
        const std::string path = folder.path() + "/" + name;
        std::ofstream{path} << "#!/bin/sh\n" << script << "\n";
        ::chmod(path.c_str(), 0755);
    }
    std::string told() const { return folder.path() + "/told"; }
    testing::TempFolder folder;
    StepSettings settings;
    Programs programs{settings};
    Stop stop{Clock::now() + std::chrono::seconds{60}};
};

TEST_F(Units, AProgramIsATransientUnitThatIsStartedAgain) {
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "--config", "/x y"}, false, stop));
    const std::string text = read_bytes(told(), 1 << 16).value_or("");
    EXPECT_TRUE(text.starts_with("--quiet\n--collect\n--unit=hostler-kn-1-kubelet.service\n")) << text;
    EXPECT_NE(text.find("--property=Restart=always\n"), std::string::npos);
    EXPECT_NE(text.find("--setenv=HOME=/root\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("bin/sh\n--config\n/x y\n")) << text;
    EXPECT_TRUE(programs.runs("kn-1", "kubelet"));
}

TEST_F(Units, WhatRunsIsLeftAloneUnlessItChanges) {
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "a"}, false, stop));
    ::unlink(told().c_str());
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "a"}, false, stop));
    EXPECT_FALSE(read_bytes(told(), 1 << 16)) << "it runs";
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "b"}, false, stop));
    EXPECT_TRUE(read_bytes(told(), 1 << 16));
    ::unlink(told().c_str());
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "b"}, true, stop));
    EXPECT_TRUE(read_bytes(told(), 1 << 16)) << "its files are new";
}

TEST_F(Units, TheyAreBegunAgainAfterAStartOfTheMachine) {
    ASSERT_TRUE(programs.begin("kn-1", "kubelet", {"sh", "a"}, false, stop));
    ::unlink(told().c_str());
    ::unlink((folder.path() + "/running").c_str());
    ASSERT_TRUE(programs.resume(stop));
    EXPECT_TRUE(read_bytes(told(), 1 << 16));
    ASSERT_TRUE(programs.end_all("kn-1"));
    EXPECT_FALSE(programs.runs("kn-1", "kubelet"));
    ::unlink(told().c_str());
    ASSERT_TRUE(programs.resume(stop));
    EXPECT_FALSE(read_bytes(told(), 1 << 16)) << "nothing of a node that is forgotten";
}

}  // namespace
}  // namespace hostler::node_steps
