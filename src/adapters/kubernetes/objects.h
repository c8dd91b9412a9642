// The kinds that Hostler reads, with the fields that it uses (meta.h says what they mean, codec.h what
// becomes of the others).
#pragma once

#include "adapters/kubernetes/meta.h"

namespace hostler::kubernetes {

struct Taint {
    std::string key{};
    std::string value{};
    std::string effect{};  // NoSchedule, PreferNoSchedule, NoExecute.
    std::optional<WallTime> time_added{};
    bool operator==(const Taint&) const = default;
};
BOOST_DESCRIBE_STRUCT(Taint, (), (key, value, effect, time_added))

struct NodeSpec {
    std::string provider_id{};
    bool unschedulable = false;  // Cordoned.
    std::vector<Taint> taints{};
    bool operator==(const NodeSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeSpec, (), (provider_id, unschedulable, taints))

struct NodeAddress {
    std::string type{};  // InternalIP, ExternalIP, Hostname, ...
    std::string address{};
    bool operator==(const NodeAddress&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeAddress, (), (type, address))

struct NodeInfo {
    std::string machine_id{};
    std::string system_uuid{};
    std::string boot_id{};
    std::string kernel_version{};
    std::string os_image{};
    std::string operating_system{};
    std::string architecture{};
    std::string container_runtime_version{};
    std::string kubelet_version{};
    bool operator==(const NodeInfo&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeInfo, (),
                      (machine_id, system_uuid, boot_id, kernel_version, os_image, operating_system,
                       architecture, container_runtime_version, kubelet_version))

struct NodeStatus {
    std::map<std::string, std::string> capacity{};  // Quantities: "64Gi", "500m".
    std::map<std::string, std::string> allocatable{};
    std::vector<Condition> conditions{};
    std::vector<NodeAddress> addresses{};
    NodeInfo node_info{};
    bool operator==(const NodeStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeStatus, (), (capacity, allocatable, conditions, addresses, node_info))

struct Node {
    static constexpr const Kind& kind = kinds::node;
    ObjectMeta metadata{};
    NodeSpec spec{};
    NodeStatus status{};
    bool operator==(const Node&) const = default;
};
BOOST_DESCRIBE_STRUCT(Node, (), (metadata, spec, status))

struct ResourceNeeds {
    std::map<std::string, std::string> requests{};
    std::map<std::string, std::string> limits{};
    bool operator==(const ResourceNeeds&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResourceNeeds, (), (requests, limits))

struct PodContainer {
    std::string name{};
    std::string image{};
    std::vector<std::string> command{};
    std::vector<std::string> args{};
    ResourceNeeds resources{};
    bool operator==(const PodContainer&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodContainer, (), (name, image, command, args, resources))

struct Toleration {
    std::string key{};
    std::string operator_{};
    std::string value{};
    std::string effect{};
    std::optional<std::int64_t> toleration_seconds{};
    bool operator==(const Toleration&) const = default;
};
BOOST_DESCRIBE_STRUCT(Toleration, (), (key, operator_, value, effect, toleration_seconds))

struct PodSpec {
    std::string node_name{};
    std::string service_account_name{};
    std::string restart_policy{};
    std::string priority_class_name{};
    bool host_network = false;
    std::optional<std::int64_t> termination_grace_period_seconds{};
    std::map<std::string, std::string> node_selector{};
    std::vector<Toleration> tolerations{};
    std::vector<PodContainer> init_containers{};
    std::vector<PodContainer> containers{};
    bool operator==(const PodSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodSpec, (),
                      (node_name, service_account_name, restart_policy, priority_class_name, host_network,
                       termination_grace_period_seconds, node_selector, tolerations, init_containers,
                       containers))

struct ContainerWaiting {
    std::string reason{};
    std::string message{};
    bool operator==(const ContainerWaiting&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerWaiting, (), (reason, message))

struct ContainerRunning {
    std::optional<WallTime> started_at{};
    bool operator==(const ContainerRunning&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerRunning, (), (started_at))

struct ContainerTerminated {
    int exit_code = 0;
    int signal = 0;
    std::string reason{};
    std::string message{};
    std::optional<WallTime> started_at{};
    std::optional<WallTime> finished_at{};
    bool operator==(const ContainerTerminated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerTerminated, (), (exit_code, signal, reason, message, started_at, finished_at))

struct ContainerState {
    std::optional<ContainerWaiting> waiting{};
    std::optional<ContainerRunning> running{};
    std::optional<ContainerTerminated> terminated{};
    bool operator==(const ContainerState&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerState, (), (waiting, running, terminated))

struct ContainerStatus {
    std::string name{};
    bool ready = false;
    int restart_count = 0;
    std::string image{};
    std::string image_id{};
    std::string container_id{};
    std::optional<bool> started{};
    ContainerState state{};
    ContainerState last_state{};
    bool operator==(const ContainerStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerStatus, (),
                      (name, ready, restart_count, image, image_id, container_id, started, state, last_state))

struct PodStatus {
    std::string phase{};  // Pending, Running, Succeeded, Failed, Unknown.
    std::string reason{};
    std::string message{};
    std::string pod_ip{};
    std::string host_ip{};
    std::string qos_class{};
    std::optional<WallTime> start_time{};
    std::vector<Condition> conditions{};
    std::vector<ContainerStatus> init_container_statuses{};
    std::vector<ContainerStatus> container_statuses{};
    bool operator==(const PodStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodStatus, (),
                      (phase, reason, message, pod_ip, host_ip, qos_class, start_time, conditions,
                       init_container_statuses, container_statuses))

struct Pod {
    static constexpr const Kind& kind = kinds::pod;
    ObjectMeta metadata{};
    PodSpec spec{};
    PodStatus status{};
    bool operator==(const Pod&) const = default;
};
BOOST_DESCRIBE_STRUCT(Pod, (), (metadata, spec, status))

struct NamespaceStatus {
    std::string phase{};  // Active, Terminating.
    std::vector<Condition> conditions{};
    bool operator==(const NamespaceStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(NamespaceStatus, (), (phase, conditions))

struct Namespace {
    static constexpr const Kind& kind = kinds::namespace_;
    ObjectMeta metadata{};
    NamespaceStatus status{};
    bool operator==(const Namespace&) const = default;
};
BOOST_DESCRIBE_STRUCT(Namespace, (), (metadata, status))

struct Secret {
    static constexpr const Kind& kind = kinds::secret;
    ObjectMeta metadata{};
    std::string type{};
    std::map<std::string, Bytes> data{};
    std::optional<bool> immutable{};
    bool operator==(const Secret&) const = default;
};
BOOST_DESCRIBE_STRUCT(Secret, (), (metadata, type, data, immutable))

struct ConfigMap {
    static constexpr const Kind& kind = kinds::config_map;
    ObjectMeta metadata{};
    std::map<std::string, std::string> data{};
    std::map<std::string, Bytes> binary_data{};
    std::optional<bool> immutable{};
    bool operator==(const ConfigMap&) const = default;
};
BOOST_DESCRIBE_STRUCT(ConfigMap, (), (metadata, data, binary_data, immutable))

struct LocalReference {
    std::string name{};
    bool operator==(const LocalReference&) const = default;
};
BOOST_DESCRIBE_STRUCT(LocalReference, (), (name))

struct ServiceAccount {
    static constexpr const Kind& kind = kinds::service_account;
    ObjectMeta metadata{};
    std::vector<LocalReference> image_pull_secrets{};
    std::optional<bool> automount_service_account_token{};
    bool operator==(const ServiceAccount&) const = default;
};
BOOST_DESCRIBE_STRUCT(ServiceAccount, (), (metadata, image_pull_secrets, automount_service_account_token))

}  // namespace hostler::kubernetes
