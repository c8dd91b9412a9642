// Which pods have GPUs, as a kubelet tells that is played by gRPC's own server.
#include "adapters/kubelet/pods.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "adapters/kubelet/devices.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"
#include "proto/pod_resources.grpc.pb.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOSTLER_THREAD_SANITIZER 1
#endif
#endif

namespace hostler::kubelet {
namespace {

using namespace std::chrono_literals;
using hostler::testing::run_real;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Monitor : public v1::PodResourcesLister::Service {
public:
    explicit Monitor(const std::string& socket) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
    }
    ~Monitor() override {
        be_silent(false);
        server_->Shutdown(std::chrono::system_clock::now() + 1s);
    }
    grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                      v1::ListPodResourcesResponse* told) override {
        std::unique_lock lock{mutex_};
        ++questions;
        woken_.wait_for(lock, 30s, [this] { return !silent_; });
        *told = answer;
        return grpc::Status::OK;
    }
    void be_silent(bool silent) {
        const std::scoped_lock lock{mutex_};
        silent_ = silent;
        woken_.notify_all();
    }
    void add(const std::string& space, const std::string& pod, const std::string& container,
             const std::string& resource, const std::vector<std::string>& ids) {
        auto& made = *answer.add_pod_resources();
        made.set_namespace_(space);
        made.set_name(pod);
        auto& within = *made.add_containers();
        within.set_name(container);
        auto& devices = *within.add_devices();
        devices.set_resource_name(resource);
        devices.mutable_device_ids()->Add(ids.begin(), ids.end());
    }

    v1::ListPodResourcesResponse answer;
    int questions = 0;

private:
    std::mutex mutex_;
    std::condition_variable woken_;
    bool silent_ = false;
    std::unique_ptr<grpc::Server> server_;
};

PodGpu gpu(const std::string& uuid) {
    PodGpu made;
    made.facts.uuid = uuid;
    made.facts.vendor = GpuVendor::nvidia;
    made.facts.cdi_name = "nvidia.com/gpu=" + uuid;
    return made;
}

class PodHolders : public ::testing::Test {
protected:
    void SetUp() override {
#ifdef HOSTLER_THREAD_SANITIZER
        GTEST_SKIP() << "gRPC is not built for the thread sanitizer, which does not know its locks";
#endif
        monitor = std::make_unique<Monitor>(socket);
        devices.offer({.gpus = {gpu("GPU-0"), gpu("GPU-1"), gpu("GPU-2")}});
    }
    Settings settings() {
        return {.grant = [](std::span<const GpuFacts>) { return PodGrant{}; },
                .folder = folder.path(),
                .look = 20ms,
                .pods_socket = socket,
                .pods_time = 5s};
    }
    std::map<std::string, GpuPod> holders() {
        auto told = run_real(loop, devices.holders());
        EXPECT_TRUE(told) << told.error().message;
        return told.value_or(std::map<std::string, GpuPod>{});
    }

    Loop loop;
    const hostler::testing::TempFolder folder;
    const std::string socket = folder.path() + "/pods.sock";
    std::unique_ptr<Monitor> monitor;
    KubeletDevices devices{loop, settings()};
};

TEST_F(PodHolders, AreThoseOfTheGpusThatAreOffered) {
    monitor->add("default", "train-0", "main", "nvidia.com/gpu", {"GPU-0", "GPU-1"});
    monitor->add("default", "other", "main", "example.com/gpu", {"GPU-2"});
    monitor->add("default", "strange", "main", "nvidia.com/gpu", {"GPU-9"});
    monitor->answer.add_pod_resources()->set_name("without-containers");
    EXPECT_THAT(holders(), UnorderedElementsAre(Pair("GPU-0", GpuPod{"default", "train-0", "main"}),
                                                Pair("GPU-1", GpuPod{"default", "train-0", "main"})));

    monitor->answer.Clear();
    monitor->add("team", "train-1", "main", "nvidia.com/gpu", {"GPU-0"});
    EXPECT_THAT(holders(), UnorderedElementsAre(Pair("GPU-0", GpuPod{"team", "train-1", "main"})));

    EXPECT_TRUE(run_real(loop, devices.end()));
    const auto none = run_real(loop, devices.holders());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::unavailable);
    EXPECT_EQ(monitor->questions, 2);
}

TEST_F(PodHolders, AreUnknownWhereTheKubeletIsUnclear) {
    monitor->add("default", "one", "main", "nvidia.com/gpu", {"GPU-0", "GPU-1"});
    monitor->add("default", "two", "main", "nvidia.com/gpu", {"GPU-0"});
    monitor->add("default", "three", "main", "nvidia.com/gpu", {"GPU-2"});
    monitor->add("default", "three", "sidecar", "nvidia.com/gpu", {"GPU-2"});
    EXPECT_THAT(holders(), UnorderedElementsAre(Pair("GPU-1", GpuPod{"default", "one", "main"}),
                                                Pair("GPU-2", GpuPod{"default", "three", ""})));

    monitor->answer.Clear();
    monitor->add("default", "a\nb", "main", "nvidia.com/gpu", {"GPU-0"});
    monitor->add(std::string(1000, 'n'), "pod", "main", "nvidia.com/gpu", {"GPU-1"});
    monitor->add("default", "pod", "\"}", "nvidia.com/gpu", {"GPU-2"});
    EXPECT_THAT(holders(), IsEmpty());
}

TEST_F(PodHolders, TakesNoLargeAnswer) {
    monitor->add("default", "train-0", "main", "nvidia.com/gpu",
                 std::vector<std::string>(answer_max / 1000 + 1, std::string(1000, 'x')));
    const auto told = run_real(loop, devices.holders());
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, Code::exhausted);
    monitor->answer.Clear();
    EXPECT_THAT(holders(), IsEmpty());
}

TEST_F(PodHolders, WaitsForASilentKubeletUntilTheDeadline) {
    monitor->be_silent(true);
    const auto late = ask_holders(socket, 200ms, {{"nvidia.com/gpu", {"GPU-0"}}});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::timeout);
    monitor = nullptr;
    const auto gone = run_real(loop, devices.holders());
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Code::unavailable);
    monitor = std::make_unique<Monitor>(socket);
    EXPECT_THAT(holders(), IsEmpty());
}

}  // namespace
}  // namespace hostler::kubelet
