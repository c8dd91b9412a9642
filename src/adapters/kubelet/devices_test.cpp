// The plugin with a kubelet that is played by gRPC's own server and client.
#include "adapters/kubelet/devices.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "adapters/kubelet/plugin.h"
#include "core/task_group.h"
#include "core/testing/temp_folder.h"
#include "proto/device_plugin.grpc.pb.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOSTLER_THREAD_SANITIZER 1
#endif
#endif

namespace hostler::kubelet {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

bool eventually(const std::function<bool()>& is) {
    for (const auto until = std::chrono::steady_clock::now() + 30s;
         std::chrono::steady_clock::now() < until;) {
        if (is()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return is();
}

// What the kubelet does with a plugin: takes its registration, dials it, asks for the list.
class Kubelet : public v1beta1::Registration::Service {
public:
    explicit Kubelet(std::string folder) : folder_(std::move(folder)) {
        for (const auto& file : fs::directory_iterator{folder_})  // As the real one does.
            if (file.is_socket()) fs::remove(file);
        grpc::ServerBuilder builder;
        builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock", grpc::InsecureServerCredentials());
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
    }
    ~Kubelet() override { server_->Shutdown(std::chrono::system_clock::now() + 1s); }

    grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* asked,
                          v1beta1::Empty*) override {
        const std::scoped_lock lock{mutex_};
        if (refuses) return {grpc::StatusCode::UNAVAILABLE, "not yet"};
        registered_.push_back(*asked);
        return grpc::Status::OK;
    }
    std::vector<v1beta1::RegisterRequest> registered() {
        const std::scoped_lock lock{mutex_};
        return registered_;
    }
    std::unique_ptr<v1beta1::DevicePlugin::Stub> dial(const std::string& endpoint) const {
        return v1beta1::DevicePlugin::NewStub(
            grpc::CreateChannel("unix:" + folder_ + "/" + endpoint, grpc::InsecureChannelCredentials()));
    }

    std::atomic<bool> refuses = false;

private:
    std::string folder_;
    std::mutex mutex_;
    std::vector<v1beta1::RegisterRequest> registered_;
    std::unique_ptr<grpc::Server> server_;
};

PodGpu gpu(int number, int numa = 0, bool healthy = true) {
    PodGpu made;
    made.facts.uuid = fmt::format("GPU-{}", number);
    made.facts.vendor = GpuVendor::nvidia;
    made.facts.cdi_name = "nvidia.com/gpu=" + made.facts.uuid;
    made.facts.numa_node = numa;
    made.facts.device_nodes = {fmt::format("/dev/nvidia{}", number)};
    made.healthy = healthy;
    return made;
}

GpuLink link(int a, int b) {
    return {fmt::format("GPU-{}", a), fmt::format("GPU-{}", b), GpuLinkKind::nvlink, 4};
}

std::string words(const v1beta1::ListAndWatchResponse& list) {
    std::string all;
    for (const auto& device : list.devices())
        all += fmt::format("{} {} {};", device.id(), device.health(),
                           device.has_topology() ? std::to_string(device.topology().nodes(0).id()) : "-");
    return all;
}

class PodPlugin : public ::testing::Test {
protected:
    void SetUp() override {
#ifdef HOSTLER_THREAD_SANITIZER
        GTEST_SKIP() << "gRPC is not built for the thread sanitizer, which does not know its locks";
#endif
        kubelet = std::make_unique<Kubelet>(folder.path());
        devices = std::make_unique<KubeletDevices>(loop, settings());
    }
    Settings settings() {
        return {.grant = [](std::span<const GpuFacts> wanted) -> Result<PodGrant> {
                    PodGrant grant{.environment = {{"GPUS", std::to_string(wanted.size())}, {"SAME", "yes"}},
                                   .nodes = {{"/dev/nvidiactl", "/dev/nvidiactl", "rw"}},
                                   .mounts = {{"/usr/lib/libcuda.so", "/opt/libcuda.so", true}}};
                    for (const GpuFacts& one : wanted) {
                        if (one.uuid == "GPU-9") return fail(Code::not_found, "CDI asks for /dev/nvidia9");
                        grant.nodes.push_back({one.device_nodes[0], "/host" + one.device_nodes[0], "rwm"});
                    }
                    return grant;
                },
                .folder = folder.path(),
                .look = 20ms,
                .grant_look = 100ms,
                .call_time = 5s};
    }
    // The endpoint of a plugin that has registered `times` times.
    std::string endpoint(std::size_t times = 1) {
        EXPECT_TRUE(eventually([&] { return kubelet->registered().size() >= times; }));
        const auto all = kubelet->registered();
        return all.empty() ? "" : all.back().endpoint();
    }
    void run(Task<> task) {
        TaskGroup group{loop};
        group.start("test", std::move(task));
        loop.restart();
        loop.run();
    }
    grpc::Status allocate(const std::string& at, const std::vector<std::vector<std::string>>& containers) {
        grpc::ClientContext call;
        call.set_deadline(std::chrono::system_clock::now() + 20s);
        v1beta1::AllocateRequest request;
        for (const auto& ids : containers)
            request.add_container_requests()->mutable_devices_ids()->Add(ids.begin(), ids.end());
        given.Clear();
        return kubelet->dial(at)->Allocate(&call, request, &given);
    }
    std::vector<std::string> files() const {
        std::vector<std::string> all;
        for (const auto& file : fs::directory_iterator{folder.path()}) all.push_back(file.path().filename());
        return all;
    }

    Loop loop;
    const hostler::testing::TempFolder folder;
    std::unique_ptr<Kubelet> kubelet;
    std::unique_ptr<KubeletDevices> devices;
    v1beta1::AllocateResponse given;
};

TEST_F(PodPlugin, RegistersAndTellsWhatChanges) {
    devices->offer({.gpus = {gpu(0, 0), gpu(1, 1), gpu(2, -1)}});
    const std::string at = endpoint();
    const auto registered = kubelet->registered();
    ASSERT_EQ(registered.size(), 1U);
    EXPECT_EQ(registered[0].version(), "v1beta1");
    EXPECT_EQ(registered[0].resource_name(), "nvidia.com/gpu");
    EXPECT_EQ(at, "hostler-nvidia.com-gpu.sock");

    const auto stub = kubelet->dial(at);
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + 40s);
    const auto watch = stub->ListAndWatch(&call, {});
    v1beta1::ListAndWatchResponse list;
    ASSERT_TRUE(watch->Read(&list));
    EXPECT_EQ(words(list), "GPU-0 Healthy 0;GPU-1 Healthy 1;GPU-2 Healthy -;");
    devices->offer({.gpus = {gpu(0, 0), gpu(1, 1, false), gpu(2, -1)}});
    ASSERT_TRUE(watch->Read(&list));
    EXPECT_EQ(words(list), "GPU-0 Healthy 0;GPU-1 Unhealthy 1;GPU-2 Healthy -;");
    EXPECT_EQ(allocate(at, {{"GPU-1"}}).error_code(), grpc::StatusCode::UNAVAILABLE);
    // One that is gone, and one that a container could not get.
    devices->offer({.gpus = {gpu(0, 0), gpu(9, 1)}});
    ASSERT_TRUE(watch->Read(&list));
    EXPECT_EQ(words(list), "GPU-0 Healthy 0;GPU-9 Unhealthy 1;");
    // Facts that the kubelet is not told change nothing.
    auto hot = gpu(0, 0);
    hot.facts.pcie_generation = 4;
    devices->offer({.gpus = {hot, gpu(9, 1)}});
    devices->offer({});
    ASSERT_TRUE(watch->Read(&list));
    EXPECT_EQ(words(list), "");
    run(devices->end());
    EXPECT_FALSE(watch->Read(&list));
}

TEST_F(PodPlugin, AContainerGetsWhatItsGpusNeed) {
    devices->offer({.gpus = {gpu(0), gpu(1), gpu(2)}});
    const std::string at = endpoint();
    ASSERT_TRUE(allocate(at, {{"GPU-1"}, {"GPU-0", "GPU-2"}}).ok());
    ASSERT_EQ(given.container_responses_size(), 2);
    const auto& one = given.container_responses(0);
    EXPECT_EQ(one.envs().at("GPUS"), "1");
    ASSERT_EQ(one.devices_size(), 2);
    EXPECT_EQ(one.devices(1).container_path(), "/dev/nvidia1");
    EXPECT_EQ(one.devices(1).host_path(), "/host/dev/nvidia1");
    EXPECT_EQ(one.devices(1).permissions(), "rwm");
    ASSERT_EQ(one.mounts_size(), 1);
    EXPECT_EQ(one.mounts(0).container_path(), "/usr/lib/libcuda.so");
    EXPECT_TRUE(one.mounts(0).read_only());
    EXPECT_EQ(one.cdi_devices_size(), 0);
    const auto& two = given.container_responses(1);
    EXPECT_EQ(two.envs().at("GPUS"), "2");
    EXPECT_EQ(two.devices_size(), 3);

    const auto unknown = allocate(at, {{"GPU-0"}, {"GPU-7"}});
    EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(unknown.error_message(), HasSubstr("GPU-7"));
    EXPECT_EQ(devices->counts().allocations, 2U);
    EXPECT_EQ(devices->counts().refused, 1U);
}

TEST_F(PodPlugin, RegistersAgainWithAnotherKubelet) {
    devices->offer({.gpus = {gpu(0)}});
    const std::string at = endpoint();
    kubelet = nullptr;
    kubelet = std::make_unique<Kubelet>(folder.path());  // Removes the plugin's socket.
    EXPECT_EQ(endpoint(), at);
    EXPECT_TRUE(allocate(at, {{"GPU-0"}}).ok());
    // A socket that somebody removed while the kubelet goes on.
    fs::remove(folder.path() + "/" + at);
    EXPECT_EQ(endpoint(2), at);
    EXPECT_TRUE(allocate(at, {{"GPU-0"}}).ok());
}

TEST_F(PodPlugin, WaitsForAKubeletThatDoesNotTakeIt) {
    kubelet->refuses = true;
    devices->offer({.gpus = {gpu(0)}});
    std::this_thread::sleep_for(100ms);
    EXPECT_THAT(kubelet->registered(), IsEmpty());
    kubelet->refuses = false;
    EXPECT_NE(endpoint(), "");
}

TEST_F(PodPlugin, LeavesNothingAndBeginsAgain) {
    std::ofstream{folder.path() + "/hostler-nvidia.com-gpu.sock"} << "of an agent that was killed";
    devices->offer({.gpus = {gpu(0)}});
    endpoint();
    EXPECT_THAT(files(), UnorderedElementsAre("kubelet.sock", "hostler-nvidia.com-gpu.sock"));
    run(devices->end());
    EXPECT_THAT(files(), ElementsAre("kubelet.sock"));
    run(devices->end());
    devices->offer({.gpus = {gpu(0)}});
    EXPECT_TRUE(allocate(endpoint(2), {{"GPU-0"}}).ok());
    devices = nullptr;
    EXPECT_THAT(files(), ElementsAre("kubelet.sock"));
}

TEST_F(PodPlugin, NoEndReturnsBeforeAnEarlierOne) {
    devices->offer({.gpus = {gpu(0)}});
    endpoint();
    const auto end = [&](bool& ended) -> Task<> {
        CO_TRY(co_await devices->end());
        ended = true;
        co_return Result<>{};
    };
    bool earlier = false, later = false;
    TaskGroup group{loop};
    group.start("earlier", end(earlier));
    group.start("later", end(later));
    while (!later && loop.run_one() > 0) {
    }
    EXPECT_TRUE(earlier);
    EXPECT_THAT(files(), ElementsAre("kubelet.sock"));
}

TEST_F(PodPlugin, EachVendorHasItsResource) {
    auto amd = gpu(1);
    amd.facts.vendor = GpuVendor::amd;
    amd.facts.cdi_name = "amd.com/gpu=0";
    auto intel = gpu(2);
    intel.facts.vendor = GpuVendor::intel;
    intel.facts.cdi_name = "intel.com/gpu=card0";
    intel.facts.driver = "xe";
    auto cut = gpu(3);
    cut.facts.cdi_name.clear();
    devices->offer({.gpus = {gpu(0), amd, intel, cut}});
    endpoint(3);
    std::vector<std::string> names;
    for (const auto& one : kubelet->registered()) names.push_back(one.resource_name());
    EXPECT_THAT(names, UnorderedElementsAre("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe"));
    const auto of_another = allocate("hostler-amd.com-gpu.sock", {{"GPU-0"}});
    EXPECT_EQ(of_another.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(Preferred, TakesThoseThatAreLinked) {
    const PodOffer offer{.gpus = {gpu(0), gpu(1), gpu(2, 1), gpu(3, 1)},
                         .topology = {link(0, 2), link(1, 3)}};
    const std::vector<std::string> all{"GPU-0", "GPU-1", "GPU-2", "GPU-3"};
    EXPECT_THAT(preferred(offer, {"GPU-1", "GPU-2", "GPU-3"}, {}, 2), ElementsAre("GPU-1", "GPU-3"));
    EXPECT_THAT(preferred(offer, {"GPU-0", "GPU-1"}, {}, 2), ElementsAre("GPU-0", "GPU-1"))
        << "one NUMA node";
    EXPECT_THAT(preferred(offer, all, {"GPU-3"}, 2), ElementsAre("GPU-1", "GPU-3"));
    EXPECT_THAT(preferred(offer, all, {"GPU-3"}, 3), ElementsAre("GPU-0", "GPU-1", "GPU-3"));
    EXPECT_THAT(preferred(offer, all, {}, 5), IsEmpty());
    EXPECT_THAT(preferred(offer, all, {}, 0), IsEmpty());
}

}  // namespace
}  // namespace hostler::kubelet
