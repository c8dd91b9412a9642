// Kinds of access control, workloads and coordination, with the fields that Hostler uses.
#pragma once

#include "adapters/kubernetes/objects.h"

namespace hostler::kubernetes {

struct PolicyRule {
    std::vector<std::string> api_groups{};
    std::vector<std::string> resources{};
    std::vector<std::string> resource_names{};
    std::vector<std::string> verbs{};
    std::vector<std::string> non_resource_urls{};
    bool operator==(const PolicyRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyRule, (), (api_groups, resources, resource_names, verbs, non_resource_urls))

struct Role {
    static constexpr const Kind& kind = kinds::role;
    ObjectMeta metadata{};
    std::vector<PolicyRule> rules{};
    bool operator==(const Role&) const = default;
};
BOOST_DESCRIBE_STRUCT(Role, (), (metadata, rules))

struct ClusterRole {
    static constexpr const Kind& kind = kinds::cluster_role;
    ObjectMeta metadata{};
    std::vector<PolicyRule> rules{};
    bool operator==(const ClusterRole&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClusterRole, (), (metadata, rules))

struct Subject {
    std::string name{};
    std::string kind{};  // User, Group, ServiceAccount.
    std::string api_group{};
    std::string namespace_{};
    bool operator==(const Subject&) const = default;
};
BOOST_DESCRIBE_STRUCT(Subject, (), (name, kind, api_group, namespace_))

struct RoleRef {
    std::string name{};
    std::string kind{};  // Role, ClusterRole.
    std::string api_group{};
    bool operator==(const RoleRef&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoleRef, (), (name, kind, api_group))

struct RoleBinding {
    static constexpr const Kind& kind = kinds::role_binding;
    ObjectMeta metadata{};
    std::vector<Subject> subjects{};
    RoleRef role_ref{};
    bool operator==(const RoleBinding&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoleBinding, (), (metadata, subjects, role_ref))

struct ClusterRoleBinding {
    static constexpr const Kind& kind = kinds::cluster_role_binding;
    ObjectMeta metadata{};
    std::vector<Subject> subjects{};
    RoleRef role_ref{};
    bool operator==(const ClusterRoleBinding&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClusterRoleBinding, (), (metadata, subjects, role_ref))

struct PodTemplate {
    ObjectMeta metadata{};
    PodSpec spec{};
    bool operator==(const PodTemplate&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodTemplate, (), (metadata, spec))

struct DeploymentSpec {
    std::optional<int> replicas{};  // Absent: 1.
    LabelSelector selector{};
    PodTemplate template_{};
    bool paused = false;
    bool operator==(const DeploymentSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeploymentSpec, (), (replicas, selector, template_, paused))

struct DeploymentStatus {
    std::int64_t observed_generation = 0;
    int replicas = 0;
    int updated_replicas = 0;
    int ready_replicas = 0;
    int available_replicas = 0;
    int unavailable_replicas = 0;
    std::vector<Condition> conditions{};
    bool operator==(const DeploymentStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeploymentStatus, (),
                      (observed_generation, replicas, updated_replicas, ready_replicas, available_replicas,
                       unavailable_replicas, conditions))

struct Deployment {
    static constexpr const Kind& kind = kinds::deployment;
    ObjectMeta metadata{};
    DeploymentSpec spec{};
    DeploymentStatus status{};
    bool operator==(const Deployment&) const = default;
};
BOOST_DESCRIBE_STRUCT(Deployment, (), (metadata, spec, status))

struct DaemonSetSpec {
    LabelSelector selector{};
    PodTemplate template_{};
    bool operator==(const DaemonSetSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(DaemonSetSpec, (), (selector, template_))

struct DaemonSetStatus {
    std::int64_t observed_generation = 0;
    int current_number_scheduled = 0;
    int desired_number_scheduled = 0;
    int updated_number_scheduled = 0;
    int number_misscheduled = 0;
    int number_ready = 0;
    int number_available = 0;
    int number_unavailable = 0;
    std::vector<Condition> conditions{};
    bool operator==(const DaemonSetStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(DaemonSetStatus, (),
                      (observed_generation, current_number_scheduled, desired_number_scheduled,
                       updated_number_scheduled, number_misscheduled, number_ready, number_available,
                       number_unavailable, conditions))

struct DaemonSet {
    static constexpr const Kind& kind = kinds::daemon_set;
    ObjectMeta metadata{};
    DaemonSetSpec spec{};
    DaemonSetStatus status{};
    bool operator==(const DaemonSet&) const = default;
};
BOOST_DESCRIBE_STRUCT(DaemonSet, (), (metadata, spec, status))

struct PodDisruptionBudgetSpec {
    std::optional<IntOrText> min_available{};
    std::optional<IntOrText> max_unavailable{};
    std::optional<LabelSelector> selector{};
    std::string unhealthy_pod_eviction_policy{};
    bool operator==(const PodDisruptionBudgetSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodDisruptionBudgetSpec, (),
                      (min_available, max_unavailable, selector, unhealthy_pod_eviction_policy))

struct PodDisruptionBudgetStatus {
    std::int64_t observed_generation = 0;
    int disruptions_allowed = 0;
    int current_healthy = 0;
    int desired_healthy = 0;
    int expected_pods = 0;
    std::vector<Condition> conditions{};
    bool operator==(const PodDisruptionBudgetStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodDisruptionBudgetStatus, (),
                      (observed_generation, disruptions_allowed, current_healthy, desired_healthy,
                       expected_pods, conditions))

struct PodDisruptionBudget {
    static constexpr const Kind& kind = kinds::pod_disruption_budget;
    ObjectMeta metadata{};
    PodDisruptionBudgetSpec spec{};
    PodDisruptionBudgetStatus status{};
    bool operator==(const PodDisruptionBudget&) const = default;
};
BOOST_DESCRIBE_STRUCT(PodDisruptionBudget, (), (metadata, spec, status))

struct EventSource {
    std::string component{};
    std::string host{};
    bool operator==(const EventSource&) const = default;
};
BOOST_DESCRIBE_STRUCT(EventSource, (), (component, host))

struct Event {
    static constexpr const Kind& kind = kinds::event;
    ObjectMeta metadata{};
    ObjectReference involved_object{};
    std::string type{};  // Normal, Warning.
    std::string reason{};
    std::string message{};
    int count = 0;
    std::optional<WallTime> first_timestamp{};
    std::optional<WallTime> last_timestamp{};
    std::optional<WallTime> event_time{};
    EventSource source{};
    std::string reporting_component{};
    bool operator==(const Event&) const = default;
};
BOOST_DESCRIBE_STRUCT(Event, (),
                      (metadata, involved_object, type, reason, message, count, first_timestamp,
                       last_timestamp, event_time, source, reporting_component))

struct LeaseSpec {
    std::string holder_identity{};
    std::optional<int> lease_duration_seconds{};
    std::optional<WallTime> acquire_time{};
    std::optional<WallTime> renew_time{};
    std::optional<int> lease_transitions{};
    bool operator==(const LeaseSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(LeaseSpec, (),
                      (holder_identity, lease_duration_seconds, acquire_time, renew_time, lease_transitions))

struct Lease {
    static constexpr const Kind& kind = kinds::lease;
    ObjectMeta metadata{};
    LeaseSpec spec{};
    bool operator==(const Lease&) const = default;
};
BOOST_DESCRIBE_STRUCT(Lease, (), (metadata, spec))

}  // namespace hostler::kubernetes
