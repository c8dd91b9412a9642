#include "adapters/kubelet/pods.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "proto/pod_resources.grpc.pb.h"

namespace hostler::kubelet {

namespace {

using Resources = std::map<std::string, std::set<std::string>>;

Error error_of(const grpc::Status& status) {
    const auto code = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED    ? Code::timeout
                      : status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ? Code::exhausted
                                                                                    : Code::unavailable;
    return {code, fmt::format("the kubelet does not tell which pods have GPUs: {}", status.error_message())};
}

std::map<std::string, GpuPod> holders_in(const v1::ListPodResourcesResponse& answer,
                                         const Resources& resources) {
    std::map<std::string, GpuPod> holders;
    std::set<std::string> unclear;  // Devices.
    for (const auto& pod : answer.pod_resources())
        for (const auto& container : pod.containers())
            for (const auto& devices : container.devices()) {
                const auto ours = resources.find(devices.resource_name());
                if (ours == resources.end()) continue;
                GpuPod named{pod.namespace_(), pod.name(), container.name()};
                for (const std::string& id : devices.device_ids()) {
                    if (!ours->second.contains(id)) continue;
                    const auto [at, first] = holders.try_emplace(id, named);
                    if (first || at->second == named) continue;
                    if (at->second.pod_namespace == named.pod_namespace && at->second.name == named.name)
                        at->second.container.clear();
                    else
                        unclear.insert(id);
                }
            }
    std::erase_if(holders,
                  [&](const auto& one) { return unclear.contains(one.first) || !is_valid(one.second); });
    return holders;
}

}  // namespace

Result<std::map<std::string, GpuPod>> ask_holders(const std::string& socket, std::chrono::milliseconds time,
                                                  const Resources& resources) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // As in Plugin::announce().
    arguments.SetMaxReceiveMessageSize(answer_max);
    const auto stub = v1::PodResourcesLister::NewStub(
        grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + time);
    v1::ListPodResourcesResponse answer;
    const grpc::Status status = stub->List(&call, {}, &answer);
    if (!status.ok()) return std::unexpected(error_of(status));
    return holders_in(answer, resources);
}

}  // namespace hostler::kubelet
