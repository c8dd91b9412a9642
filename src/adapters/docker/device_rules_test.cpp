// The hook that gives containers their devices: what it adds to what the runtime is told, and to whose.
#include "adapters/docker/device_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "adapters/docker/own_streams.h"
#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

const std::string id(64, 'a'), other_id(64, 'b');
const std::vector<CdiNode> nodes{{"/dev/nvidia0", "/dev/nvidia0", "rw", "/dev/nvidia0", 'c', 195, 0},
                                 {"/dev/dm", "/dev/dm", "r", "/dev/dm", 'b', 253, 4}};
const json::value deny = json::parse(R"({"allow":false,"access":"rwm"})");
const json::value gpu = json::parse(R"({"allow":true,"type":"c","major":195,"minor":0,"access":"rw"})");
const json::value disk = json::parse(R"({"allow":true,"type":"b","major":253,"minor":4,"access":"r"})");

class DeviceRules : public ::testing::Test {
protected:
    std::string config(std::string_view name, std::string_view group, std::string_view devices = "null") {
        return "{\"ociVersion\":\"1.0.2-dev\",\"annotations\":{\"hostler.devices\":\"" + std::string{name} +
               "\"},\"linux\":{\"cgroupsPath\":\"" + std::string{group} +
               "\",\"resources\":{\"pids\":{\"limit\":9223372036854775807},\"devices\":" +
               std::string{devices} + "}}}";
    }
    Result<std::string> hooked(const std::string& text) { return with_rules(text, rules); }
    json::array devices_of(const std::string& text) {
        const auto changed = hooked(text);
        EXPECT_TRUE(changed) << changed.error().message;
        const auto value = json::parse(changed.value_or("{}"));
        EXPECT_EQ(value.at_pointer("/linux/resources/pids/limit").as_int64(), 9223372036854775807);
        const auto& found = value.at_pointer("/linux/resources/devices");
        return found.is_array() ? found.as_array() : json::array{};
    }
    hostler::testing::TempFolder folder;
    const std::string rules = folder.path() + "/rules";
};

TEST_F(DeviceRules, AContainerGetsThoseOfItsOwnNodes) {
    ASSERT_TRUE(keep_rules(rules, "hostler-i-1", id, nodes));
    for (const auto* group : {"/libpod_parent/libpod-", "machine.slice:libpod:"})
        EXPECT_EQ(devices_of(config("hostler-i-1", group + id)), (json::array{deny, gpu, disk})) << group;
    EXPECT_EQ(devices_of(config("hostler-i-1", "/libpod-" + id, "[]")), (json::array{deny, gpu, disk}));
    // What is there already stays, and comes no second time.
    const auto there = json::serialize(json::array{deny, disk});
    EXPECT_EQ(devices_of(config("hostler-i-1", "/libpod-" + id, there)), (json::array{deny, disk, gpu}));
    // Another one was made under its name.
    ASSERT_TRUE(keep_rules(rules, "hostler-i-1", other_id, {nodes.data(), 1}));
    EXPECT_EQ(devices_of(config("hostler-i-1", "/libpod-" + other_id)), (json::array{deny, gpu}));
    remove_rules(rules, "hostler-i-1");
    EXPECT_EQ(devices_of(config("hostler-i-1", "/libpod-" + other_id)), json::array{});
}

// An image may have the annotation, and is then run by somebody else.
TEST_F(DeviceRules, NobodyElseGetsThem) {
    ASSERT_TRUE(keep_rules(rules, "hostler-i-1", id, nodes));
    std::filesystem::create_directories(folder.path() + "/volume");
    std::ofstream{folder.path() + "/volume/mine"} << R"({"container":")" << other_id
                                                  << R"(","rules":[{"allow":true}]})";
    for (const auto& text :
         {config("hostler-i-1", "/libpod_parent/libpod-" + other_id), config("hostler-i-1", "/x" + id),
          config("hostler-i-1", id), config("hostler-i-1", ""), config("hostler-i-2", "/libpod-" + id),
          config("", "/libpod-" + id), config(".", "/libpod-" + id), config("..", "/libpod-" + id),
          config("../volume/mine", "/libpod-" + other_id),
          config(folder.path() + "/volume/mine", "/libpod-" + other_id), std::string{"{}"},
          std::string{R"({"annotations":{"hostler.devices":7},"linux":null})"},
          std::string{R"({"annotations":{"hostler.devices":"hostler-i-1"},"linux":null})"}}) {
        const auto same = hooked(text);
        ASSERT_TRUE(same) << same.error().message;
        EXPECT_EQ(*same, text);
    }
    EXPECT_EQ(hooked("not a container configuration").error().code, Code::invalid);
    EXPECT_EQ(hooked("[]").error().code, Code::invalid);
}

TEST_F(DeviceRules, WhatOthersCouldHaveWrittenIsNotBelieved) {
    const auto text = config("hostler-i-1", "/libpod-" + id);
    ASSERT_TRUE(keep_rules(rules, "hostler-i-1", id, nodes));
    ASSERT_EQ(::chmod(rules.c_str(), 0755), 0);
    EXPECT_THAT(hooked(text).error().message, HasSubstr("not a file of ours alone"));
    EXPECT_THAT(keep_rules(rules, "hostler-i-1", id, nodes).error().message, HasSubstr(rules));
    ASSERT_EQ(::chmod(rules.c_str(), 0700), 0);
    ASSERT_EQ(::chmod((rules + "/hostler-i-1").c_str(), 0666), 0);
    EXPECT_EQ(hooked(text).error().code, Code::unavailable);
    std::filesystem::remove(rules + "/hostler-i-1");
    std::ofstream{folder.path() + "/elsewhere"} << "{}";
    std::filesystem::create_symlink(folder.path() + "/elsewhere", rules + "/hostler-i-1");
    EXPECT_FALSE(hooked(text)) << "a link";
    std::filesystem::remove(rules + "/hostler-i-1");
    std::ofstream{rules + "/hostler-i-1"} << "{";
    EXPECT_EQ(hooked(text).error().code, Code::invalid) << "half of a file";
}

TEST_F(DeviceRules, ThePodmanFileNamesProgramFolderAndAnnotation) {
    const auto file = json::parse(hook_file({.agent = "/usr/lib/x/hostler-agent", .rules = "/var/rules"}));
    EXPECT_EQ(file, json::parse(R"({"version":"1.0.0","hook":{"path":"/usr/lib/x/hostler-agent",
        "args":["hostler-agent","oci-hook","/var/rules"],"timeout":10},
        "when":{"annotations":{"^hostler.devices$":"."}},"stages":["precreate"]})"));
    // That of the package, for an operator's own podman.
    std::ifstream packaged{HOSTLER_OCI_HOOK};
    EXPECT_EQ(json::parse(std::string{std::istreambuf_iterator<char>{packaged}, {}}),
              json::parse(hook_file({.agent = "/usr/lib/hostler-agent/hostler-agent"})));
    std::ifstream streams{HOSTLER_OCI_STREAMS};
    EXPECT_EQ(json::parse(std::string{std::istreambuf_iterator<char>{streams}, {}}),
              json::parse(streams_hook_file("/usr/lib/hostler-agent/hostler-agent")));
}

TEST(OwnStreams, AStateWithoutAProcessIsRefused) {
    for (const char* state : {"", "[]", "{}", R"({"pid":0})", R"({"pid":"1"})"})
        EXPECT_EQ(own_streams(state).error().code, Code::invalid) << state;
    EXPECT_TRUE(own_streams(fmt::format(R"({{"pid":{}}})", ::getpid())))
        << "in no namespace of its own all stays as it is";
}

}  // namespace
}  // namespace hostler::docker
