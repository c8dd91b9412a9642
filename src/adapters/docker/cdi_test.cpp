#include "adapters/docker/cdi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hostler::docker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* nvidia_json = R"({
 "cdiVersion": "0.6.0", "kind": "nvidia.com/gpu",
 "devices": [
  {"name": "0", "annotations": {}, "containerEdits": {"deviceNodes": [
    {"path": "/dev/nvidia0", "hostPath": "/dev/null", "type": "c", "major": 1, "minor": 3, "permissions": "rw"}]}},
  {"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia1"}]}}],
 "containerEdits": {
  "env": ["NVIDIA_VISIBLE_DEVICES=void"],
  "deviceNodes": [{"path": "/dev/nvidiactl"}],
  "mounts": [{"hostPath": "/usr/lib/libcuda.so.535", "containerPath": "/usr/lib/libcuda.so.535",
              "options": ["ro", "nosuid", "nodev", "bind"]}],
  "hooks": [
   {"hookName": "createContainer", "path": "/usr/bin/nvidia-ctk", "args": ["nvidia-ctk", "hook", "create-symlinks",
     "--link", "libcuda.so.1::/usr/lib/libcuda.so", "--link", "libcuda.so.535::/usr/lib/libcuda.so.1",
     "--link", "nowhere.so::/usr/lib/x.so"]},
   {"hookName": "createContainer", "path": "/usr/bin/nvidia-ctk", "args": ["nvidia-ctk", "hook", "update-ldcache",
     "--folder", "/usr/lib", "--folder=/usr/lib64", "--folder", "/usr/lib"]},
   {"hookName": "createContainer", "path": "/usr/bin/nvidia-ctk", "args": ["nvidia-ctk", "hook", "chmod"], "timeout": 5}]}
})";

constexpr const char* nvidia_yaml = R"(---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
  - name: "0"
    containerEdits:
      deviceNodes:
        - path: /dev/nvidia0
          major: 195
          fileMode: 438
      additionalGids: [44]
containerEdits:
  env:
    - A=b
)";

Result<CdiEdits> resolve(std::string_view text, std::vector<std::string> names) {
    auto file = parse_cdi_json(text);
    if (!file) return std::unexpected(file.error());
    Cdi cdi;
    cdi.add(std::move(*file));
    return cdi.resolve(names);
}

TEST(Cdi, DeviceBringsItsOwnAndTheCommonEdits) {
    const auto edits = resolve(nvidia_json, {"nvidia.com/gpu=0"});
    ASSERT_TRUE(edits) << edits.error().message;
    EXPECT_THAT(edits->nodes, ElementsAre(CdiNode{"/dev/nvidiactl", "/dev/nvidiactl", "rwm"},
                                          CdiNode{"/dev/nvidia0", "/dev/null", "rw"}));
    EXPECT_THAT(edits->environment,
                ElementsAre(std::pair<std::string, std::string>("NVIDIA_VISIBLE_DEVICES", "void")));
}

TEST(Cdi, TwoDevicesOfOneFileBringTheCommonEditsOnce) {
    const auto edits = resolve(nvidia_json, {"nvidia.com/gpu=0", "nvidia.com/gpu=all"});
    ASSERT_TRUE(edits);
    EXPECT_EQ(edits->environment.size(), 1U);
    EXPECT_EQ(edits->nodes.size(), 3U);  // One node per path.
}

TEST(Cdi, UsualHooksBecomeMountsAndLibraryFoldersAndTheRestIsNamed) {
    const auto edits = resolve(nvidia_json, {"nvidia.com/gpu=0"});
    ASSERT_TRUE(edits);
    EXPECT_THAT(edits->library_folders, ElementsAre("/usr/lib", "/usr/lib64"));
    std::vector<std::string> targets;
    for (const auto& mount : edits->mounts) {
        EXPECT_EQ(mount.host_path, "/usr/lib/libcuda.so.535");
        targets.push_back(mount.path);
    }
    EXPECT_THAT(targets, testing::UnorderedElementsAre("/usr/lib/libcuda.so.535", "/usr/lib/libcuda.so.1",
                                                       "/usr/lib/libcuda.so"));
    EXPECT_THAT(edits->warnings, ElementsAre(HasSubstr("chmod"), HasSubstr("/usr/lib/x.so")));
    EXPECT_THAT(edits->hooks, IsEmpty());
}

TEST(Cdi, YamlMeansTheSame) {
    auto file = parse_cdi_yaml(nvidia_yaml);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->kind, "nvidia.com/gpu");
    ASSERT_TRUE(file->devices.contains("0"));
    EXPECT_THAT(file->devices["0"].nodes, ElementsAre(CdiNode{"/dev/nvidia0", "/dev/nvidia0", "rwm"}));
    EXPECT_THAT(file->devices["0"].groups, ElementsAre(44));
}

TEST(Cdi, MissingDeviceIsNotFoundByName) {
    const auto edits = resolve(nvidia_json, {"nvidia.com/gpu=7"});
    ASSERT_FALSE(edits);
    EXPECT_EQ(edits.error().code, Code::not_found);
    EXPECT_THAT(edits.error().message, HasSubstr("nvidia.com/gpu=7"));
    EXPECT_EQ(resolve(nvidia_json, {"gpu0"}).error().code, Code::invalid);
}

TEST(Cdi, WhatIsNotUnderstoodMakesTheFileInvalid) {
    const auto refuse = [](std::string text, const char* why) {
        const auto file = parse_cdi_json(text);
        ASSERT_FALSE(file) << text;
        EXPECT_THAT(file.error().message, HasSubstr(why)) << text;
    };
    const auto one = [](std::string edits) {
        return R"({"cdiVersion":"0.6.0","kind":"a.b/c","devices":[{"name":"0","containerEdits":)" + edits +
               "}]}";
    };
    ASSERT_TRUE(parse_cdi_json(one("{}")));
    refuse("{", "not JSON");
    refuse("[]", "not an object");
    refuse(R"({"cdiVersion":"9.0.0","kind":"a/b","devices":[]})", "cdiVersion '9.0.0'");
    refuse(R"({"cdiVersion":"0.6.0","kind":"ab","devices":[]})", "kind 'ab'");
    refuse(R"({"cdiVersion":"0.6.0","kind":"a/b","devices":[]})", "no devices");
    refuse(one(R"({"seccomp":{}})"), "unknown field 'seccomp'");
    refuse(one(R"({"deviceNodes":[{"path":"dev/x"}]})"), "deviceNodes[0].path");
    refuse(one(R"({"deviceNodes":[{"path":"/dev/x","permissions":"rx"}]})"), "permissions");
    refuse(one(R"({"deviceNodes":[{"path":"/dev/x","type":"p"}]})"), "FIFO");
    refuse(one(R"({"env":["=x"]})"), "NAME=value");
    refuse(one(R"({"env":"x=y"})"), "not a list");
    refuse(one(R"({"mounts":[{"hostPath":"/a"}]})"), "containerPath");
    refuse(one(R"({"hooks":[{"hookName":"later","path":"/x"}]})"), "hookName 'later'");
    EXPECT_FALSE(parse_cdi_yaml("a: [b"));
    EXPECT_FALSE(parse_cdi_yaml("? [a, b]\n: c\n"));
}

class CdiFolders : public testing::Test {
protected:
    CdiFolders() {
        char path[] = "/tmp/hostler-cdi-XXXXXX";
        root_ = ::mkdtemp(path);
        std::filesystem::create_directories(root_ / "etc");
        std::filesystem::create_directories(root_ / "run");
        folders_ = {root_ / "etc", root_ / "run"};
    }
    ~CdiFolders() override { std::filesystem::remove_all(root_); }
    void write(const char* name, std::string node) {
        std::ofstream{root_ / name}
            << R"({"cdiVersion":"0.6.0","kind":"a.b/c","devices":[{"name":"0","containerEdits":)"
            << R"({"deviceNodes":[{"path":")" << node << R"("}]}}]})";
    }
    std::filesystem::path root_;
    std::vector<std::string> folders_;
    const std::vector<std::string> name_{"a.b/c=0"};
};

TEST_F(CdiFolders, ALaterFolderWinsAndBadFilesAreSkippedWithAReason) {
    write("etc/a.json", "/dev/first");
    write("run/b.json", "/dev/second");
    std::ofstream{root_ / "etc/bad.yaml"} << "cdiVersion: 7\n";
    std::ofstream{root_ / "etc/readme.txt"} << "not looked at";
    const auto cdi = Cdi::load(folders_);
    const auto edits = cdi.resolve(name_);
    ASSERT_TRUE(edits) << edits.error().message;
    EXPECT_EQ(edits->nodes.at(0).path, "/dev/second");
    EXPECT_THAT(cdi.skipped(), ElementsAre(HasSubstr("bad.yaml")));
    EXPECT_THAT(cdi.names(), ElementsAre("a.b/c=0"));
}

TEST_F(CdiFolders, TwoFilesOfOneFolderThatDefineADeviceAreAConflict) {
    write("etc/a.json", "/dev/first");
    write("etc/b.json", "/dev/second");
    const auto edits = Cdi::load(folders_).resolve(name_);
    ASSERT_FALSE(edits);
    EXPECT_EQ(edits.error().code, Code::conflict);
}

TEST_F(CdiFolders, NoFolderIsNoDevice) {
    const std::vector<std::string> nowhere{root_ / "nowhere"};
    EXPECT_EQ(Cdi::load(nowhere).resolve(name_).error().code, Code::not_found);
}

}  // namespace
}  // namespace hostler::docker
