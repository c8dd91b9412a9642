// The parts that objects of several kinds share. Fields have the meaning, unit and bounds of the Kubernetes
// API reference; fields that are not used here are not listed (codec.h keeps them).
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/codec.h"
#include "adapters/kubernetes/kinds.h"
#include "core/timers.h"

namespace hostler::kubernetes {

struct OwnerReference {
    std::string uid{};
    std::string api_version{};
    std::string kind{};
    std::string name{};
    std::optional<bool> controller{};
    std::optional<bool> block_owner_deletion{};
    bool operator==(const OwnerReference&) const = default;
};
BOOST_DESCRIBE_STRUCT(OwnerReference, (), (uid, api_version, kind, name, controller, block_owner_deletion))

struct ObjectMeta {
    std::string name{};
    std::string namespace_{};        // Empty for kinds without namespaces.
    std::string uid{};               // Another object of the same name has another.
    std::string resource_version{};  // Opaque; another after each change.
    std::int64_t generation = 0;
    std::optional<WallTime> creation_timestamp{};
    std::optional<WallTime> deletion_timestamp{};  // It goes once its finalizers are gone.
    std::map<std::string, std::string> labels{};
    std::map<std::string, std::string> annotations{};
    std::vector<OwnerReference> owner_references{};
    std::vector<std::string> finalizers{};
    bool operator==(const ObjectMeta&) const = default;
};
BOOST_DESCRIBE_STRUCT(ObjectMeta, (),
                      (name, namespace_, uid, resource_version, generation, creation_timestamp,
                       deletion_timestamp, labels, annotations, owner_references, finalizers))

struct Condition {
    std::string type{};
    std::string status{};  // "True", "False", "Unknown".
    std::string reason{};
    std::string message{};
    std::optional<WallTime> last_transition_time{};
    std::int64_t observed_generation = 0;
    bool operator==(const Condition&) const = default;
};
BOOST_DESCRIBE_STRUCT(Condition, (),
                      (type, status, reason, message, last_transition_time, observed_generation))

struct LabelRequirement {
    std::string key{};
    std::string operator_{};  // In, NotIn, Exists, DoesNotExist.
    std::vector<std::string> values{};
    bool operator==(const LabelRequirement&) const = default;
};
BOOST_DESCRIBE_STRUCT(LabelRequirement, (), (key, operator_, values))

struct LabelSelector {
    std::map<std::string, std::string> match_labels{};
    std::vector<LabelRequirement> match_expressions{};
    bool operator==(const LabelSelector&) const = default;
};
BOOST_DESCRIBE_STRUCT(LabelSelector, (), (match_labels, match_expressions))

struct ObjectReference {
    std::string name{};
    std::string kind{};
    std::string namespace_{};
    std::string uid{};
    std::string api_version{};
    std::string field_path{};
    bool operator==(const ObjectReference&) const = default;
};
BOOST_DESCRIBE_STRUCT(ObjectReference, (), (name, kind, namespace_, uid, api_version, field_path))

struct StatusCause {
    std::string reason{};
    std::string message{};
    std::string field{};  // "spec.replicas", "items[0].name".
    bool operator==(const StatusCause&) const = default;
};
BOOST_DESCRIBE_STRUCT(StatusCause, (), (reason, message, field))

struct StatusDetails {
    std::string name{};
    std::string group{};
    std::string kind{};  // The plural, as a rule.
    std::string uid{};
    std::vector<StatusCause> causes{};
    std::int64_t retry_after_seconds = 0;
    bool operator==(const StatusDetails&) const = default;
};
BOOST_DESCRIBE_STRUCT(StatusDetails, (), (name, group, kind, uid, causes, retry_after_seconds))

// The answer of the API to a call that failed, and the object of an ERROR event of a watch.
struct Status {
    static constexpr Kind kind{"", "v1", "Status", ""};
    std::string status{};  // "Success", "Failure".
    std::string message{};
    std::string reason{};  // "AlreadyExists", "Conflict", "Expired", "Forbidden", "Invalid", ...
    StatusDetails details{};
    int code = 0;  // As of HTTP.
    bool operator==(const Status&) const = default;
};
BOOST_DESCRIBE_STRUCT(Status, (), (status, message, reason, details, code))

// The condition of that type; nullptr: there is none.
inline const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
    for (const Condition& one : conditions)
        if (one.type == type) return &one;
    return nullptr;
}

}  // namespace hostler::kubernetes
