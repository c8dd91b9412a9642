// What lies on a host with a driver and nothing else, and what containers get of it.
#include "adapters/docker/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

const GpuFacts h100{.uuid = "GPU-1", .cdi_name = "nvidia.com/gpu=GPU-1", .device_nodes = {"/dev/nvidia0"}};

class Driver : public ::testing::Test {
protected:
    void put(const std::string& path, const std::string& text = "") {
        const fs::path place = folder.path() + path;
        fs::create_directories(place.parent_path());
        std::ofstream{place} << text;
    }
    void link(const std::string& path, const std::string& target) {
        const fs::path place = folder.path() + path;
        fs::create_directories(place.parent_path());
        fs::create_symlink(target, place);
    }
    void put_driver(const std::string& libraries = "/usr/lib/x86_64-linux-gnu") {
        put("/sys/module/nvidia/version", "580.159.04\n");
        for (const char* node : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                 "nvidia-modeset", "nvidia-caps/nvidia-cap1"})
            put(std::string{"/dev/"} + node);
        for (const char* library : {"libcuda", "libnvidia-ml", "libnvidia-nvvm", "libGLX_nvidia"})
            put(libraries + "/" + library + ".so.580.159.04");
        put(libraries + "/libcuda.so.535.1", "of a driver that was here before");
        link(libraries + "/libcuda.so.1", "libcuda.so.580.159.04");
        link(libraries + "/libcuda.so", "libcuda.so.1");
        link(libraries + "/libnvidia-ml.so.1", "libnvidia-ml.so.535.1");
        put("/usr/bin/nvidia-smi");
        fs::permissions(folder.path() + "/usr/bin/nvidia-smi", fs::perms::owner_all);
    }
    CdiEdits edits(const GpuFacts& gpu) {
        Cdi cdi;
        for (auto& file : describe({&gpu, 1}, look_for_driver(roots), roots)) cdi.add(std::move(file));
        const std::string name[] = {gpu.cdi_name};
        const auto found = cdi.resolve(name);
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or(CdiEdits{});
    }
    std::map<std::string, std::string> mounts(const CdiEdits& edits) {
        std::map<std::string, std::string> found;
        for (const auto& mount : edits.mounts) {
            EXPECT_EQ(mount.options, (std::vector<std::string>{"ro", "nosuid", "nodev"}));
            EXPECT_TRUE(mount.host_path.starts_with(folder.path())) << mount.host_path;
            found[mount.path] = mount.host_path.substr(folder.path().size());
        }
        return found;
    }
    std::vector<std::string> nodes(const CdiEdits& edits) {
        std::vector<std::string> found;
        for (const auto& node : edits.nodes) {
            EXPECT_EQ(node.host_path, folder.path() + node.path);
            EXPECT_EQ(node.permissions, "rw");
            found.push_back(node.path);
        }
        return found;
    }
    hostler::testing::TempFolder folder;
    const std::string at = folder.path();
    const DriverRoots roots{{at + "/sys", at + "/proc", at + "/dev", at + "/etc"}, at};
};

TEST_F(Driver, ItsNodesLibrariesLinksAndProgramsComeIn) {
    put_driver();
    const auto found = edits(h100);
    EXPECT_THAT(nodes(found),
                ElementsAre("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0"))
        << "no other GPU, no screen, nothing that rules slices";
    const std::string lib = "/usr/lib/x86_64-linux-gnu";
    EXPECT_EQ(mounts(found),
              (std::map<std::string, std::string>{
                  {lib + "/libcuda.so.580.159.04", lib + "/libcuda.so.580.159.04"},
                  {lib + "/libcuda.so.1", lib + "/libcuda.so.580.159.04"},
                  {lib + "/libcuda.so", lib + "/libcuda.so.580.159.04"},
                  {lib + "/libnvidia-ml.so.580.159.04", lib + "/libnvidia-ml.so.580.159.04"},
                  {lib + "/libnvidia-ml.so.1", lib + "/libnvidia-ml.so.580.159.04"},
                  {lib + "/libnvidia-nvvm.so.580.159.04", lib + "/libnvidia-nvvm.so.580.159.04"},
                  {lib + "/libnvidia-nvvm.so.4", lib + "/libnvidia-nvvm.so.580.159.04"},
                  {"/usr/bin/nvidia-smi", "/usr/bin/nvidia-smi"}}));
    EXPECT_THAT(found.library_folders, ElementsAre(lib));
    EXPECT_THAT(found.environment, ElementsAre(std::pair{"NVIDIA_VISIBLE_DEVICES", "void"}));
    EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(Driver, IsFoundWhereADistributionPutsIt) {
    put("/etc/ld.so.conf.d/gpu.conf", "# of ours\n/opt/vendor/lib\n");
    put_driver("/opt/vendor/lib");
    EXPECT_EQ(look_for_driver(roots).library_folder, "/opt/vendor/lib");
    link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/opt/vendor/lib/libcuda.so.1");
    EXPECT_EQ(look_for_driver(roots).library_folder, "/opt/vendor/lib") << "a link there is not the driver";
    put_driver("/usr/lib/x86_64-linux-gnu/nvidia/current");
    EXPECT_EQ(look_for_driver(roots).library_folder, "/usr/lib/x86_64-linux-gnu/nvidia/current");
}

TEST_F(Driver, AnotherVersionBringsItsOwnLibraries) {
    put_driver();
    fs::remove(at + "/sys/module/nvidia/version");
    put("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.12  Release Build\nGCC version:  gcc "
        "12.2.0\n");
    EXPECT_EQ(look_for_driver(roots).version, "590.12");
    EXPECT_THAT(missing(h100, look_for_driver(roots), roots),
                ElementsAre("libcuda.so.590.12 is in no folder of libraries"));
    put("/usr/lib/x86_64-linux-gnu/libcuda.so.590.12");
    EXPECT_THAT(missing(h100, look_for_driver(roots), roots),
                ElementsAre("libnvidia-ml.so.590.12 is not in /usr/lib/x86_64-linux-gnu"));
    put("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.590.12");
    const auto found = mounts(edits(h100));
    EXPECT_EQ(found.at("/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
              "/usr/lib/x86_64-linux-gnu/libcuda.so.590.12");
    EXPECT_FALSE(found.contains("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"));
}

TEST_F(Driver, SaysAllThatIsMissing) {
    EXPECT_THAT(
        missing(h100, look_for_driver(roots), roots),
        ElementsAre("/dev/nvidia0 is missing", "/dev/nvidiactl is missing: run nvidia-modprobe -c 0 -u",
                    "/dev/nvidia-uvm is missing: run nvidia-modprobe -c 0 -u",
                    "the module nvidia is not loaded"));
    EXPECT_THAT(describe({&h100, 1}, look_for_driver(roots), roots), IsEmpty());
    const GpuFacts cut{.mig = MigMode::enabled};
    EXPECT_THAT(missing(cut, {}, roots), ElementsAre(HasSubstr("MIG")));
    const GpuFacts unknown{};
    EXPECT_THAT(missing(unknown, {}, roots), ElementsAre(HasSubstr("driver")));
    put("/sys/module/nvidia/version", "../../etc\n");
    EXPECT_EQ(look_for_driver(roots).version, "");
}

TEST_F(Driver, OfAmdTheNodesAreEnough) {
    const GpuFacts mi300{.cdi_name = "amd.com/gpu=0",
                         .device_nodes = {"/dev/dri/card1", "/dev/dri/renderD129"}};
    EXPECT_THAT(missing(mi300, look_for_driver(roots), roots),
                IsSupersetOf({"/dev/kfd is missing: load the module amdgpu"}));
    for (const char* node : {"/dev/kfd", "/dev/dri/card1", "/dev/dri/renderD129", "/dev/dri/renderD130"})
        put(node);
    const auto found = edits(mi300);
    EXPECT_THAT(nodes(found), ElementsAre("/dev/kfd", "/dev/dri/card1", "/dev/dri/renderD129"));
    EXPECT_THAT(found.mounts, IsEmpty());
    const GpuFacts arc{.cdi_name = "intel.com/gpu=card1",
                       .device_nodes = {"/dev/dri/card1", "/dev/dri/renderD129"}};
    EXPECT_THAT(nodes(edits(arc)), ElementsAre("/dev/dri/card1", "/dev/dri/renderD129"));
}

TEST_F(Driver, AFileOfTheOperatorsWins) {
    put_driver();
    const std::vector<std::string> folders{at + "/cdi"};
    EXPECT_THAT(unusable(h100, folders, roots), IsEmpty());
    put("/cdi/own.json",
        R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"GPU-1","containerEdits":
        {"deviceNodes":[{"path":"/dev/nvidia0","hostPath":"/no/such/node"}],
         "mounts":[{"hostPath":"/no/such/file","containerPath":"/x"}]}}]})");
    EXPECT_THAT(unusable(h100, folders, roots),
                ElementsAre("CDI asks for /no/such/node, which is not on this host",
                            "CDI asks for /no/such/file, which is not on this host"));
    auto cdi = Cdi::load(folders);
    for (auto& file : describe({&h100, 1}, look_for_driver(roots), roots)) cdi.add(std::move(file));
    const std::string name[] = {h100.cdi_name};
    EXPECT_EQ(cdi.resolve(name).value_or(CdiEdits{}).nodes.front().host_path, "/no/such/node");
}

}  // namespace
}  // namespace hostler::docker
