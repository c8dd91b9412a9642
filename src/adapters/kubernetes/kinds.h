// The kinds of objects that are read and written here, and where the API has them.
#pragma once

#include <string>
#include <string_view>

namespace hostler::kubernetes {

struct Kind {
    std::string_view group;  // Empty: the core group.
    std::string_view version;
    std::string_view name;    // "ConfigMap"
    std::string_view plural;  // "configmaps"
    bool namespaced = true;

    bool operator==(const Kind&) const = default;
};

namespace kinds {
inline constexpr Kind node{"", "v1", "Node", "nodes", false};
inline constexpr Kind pod{"", "v1", "Pod", "pods"};
inline constexpr Kind namespace_{"", "v1", "Namespace", "namespaces", false};
inline constexpr Kind secret{"", "v1", "Secret", "secrets"};
inline constexpr Kind config_map{"", "v1", "ConfigMap", "configmaps"};
inline constexpr Kind service_account{"", "v1", "ServiceAccount", "serviceaccounts"};
inline constexpr Kind event{"", "v1", "Event", "events"};
inline constexpr Kind role{"rbac.authorization.k8s.io", "v1", "Role", "roles"};
inline constexpr Kind cluster_role{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false};
inline constexpr Kind role_binding{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"};
inline constexpr Kind cluster_role_binding{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                           "clusterrolebindings", false};
inline constexpr Kind deployment{"apps", "v1", "Deployment", "deployments"};
inline constexpr Kind daemon_set{"apps", "v1", "DaemonSet", "daemonsets"};
inline constexpr Kind pod_disruption_budget{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"};
inline constexpr Kind lease{"coordination.k8s.io", "v1", "Lease", "leases"};

inline constexpr Kind all[] = {node,
                               pod,
                               namespace_,
                               secret,
                               config_map,
                               service_account,
                               event,
                               role,
                               cluster_role,
                               role_binding,
                               cluster_role_binding,
                               deployment,
                               daemon_set,
                               pod_disruption_budget,
                               lease};
}  // namespace kinds

// One object of a kind. `ns` is empty for kinds without namespaces.
struct ObjectKey {
    std::string ns;
    std::string name;
    auto operator<=>(const ObjectKey&) const = default;
};

// "v1", "apps/v1".
std::string api_version(const Kind& kind);
// The row of a manifest's apiVersion and kind; nullptr: none of these.
const Kind* find_kind(std::string_view api_version, std::string_view name);
// "/apis/apps/v1/namespaces/ns/deployments", percent-encoded. An empty `ns` means all namespaces.
std::string collection_path(const Kind& kind, std::string_view ns);
// The same with the object's name, and "/SUBRESOURCE" where there is one.
std::string object_path(const Kind& kind, const ObjectKey& key, std::string_view subresource = {});

}  // namespace hostler::kubernetes
