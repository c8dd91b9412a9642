// The lives of a cluster and of its nodes.
#pragma once

#include <boost/describe.hpp>

#include "domain/life.h"

namespace hostler {

enum class ClusterPhase {
    provisioning,  // Its first control plane is being made.
    ready,         // Its API answers, and it has the nodes that are wanted.
    scaling,       // Its API answers; nodes join or leave.
    degraded,      // Its API does not answer. Its hosts stay claimed.
    failed,        // It was not made in time. Its hosts are cleaned.
    deleting,      // Its hosts are cleaned.
    deleted,
};
BOOST_DESCRIBE_ENUM(ClusterPhase, provisioning, ready, scaling, degraded, failed, deleting, deleted)

enum class ClusterEvent {
    settle,   // It has what is wanted.
    scale,    // Nodes are to join or to leave.
    lose,     // Its API does not answer.
    give_up,  // The time to make it is over.
    remove,   // Its owner deletes it.
    vanish,   // No node of it is left to be cleaned by a host that answers.
};
BOOST_DESCRIBE_ENUM(ClusterEvent, settle, scale, lose, give_up, remove, vanish)

inline constexpr Edge<ClusterPhase, ClusterEvent> cluster_life[] = {
    {ClusterPhase::provisioning, ClusterEvent::settle, ClusterPhase::ready},
    {ClusterPhase::provisioning, ClusterEvent::scale, ClusterPhase::scaling},
    {ClusterPhase::provisioning, ClusterEvent::give_up, ClusterPhase::failed},
    {ClusterPhase::provisioning, ClusterEvent::remove, ClusterPhase::deleting},
    {ClusterPhase::ready, ClusterEvent::scale, ClusterPhase::scaling},
    {ClusterPhase::ready, ClusterEvent::lose, ClusterPhase::degraded},
    {ClusterPhase::ready, ClusterEvent::remove, ClusterPhase::deleting},
    {ClusterPhase::scaling, ClusterEvent::settle, ClusterPhase::ready},
    {ClusterPhase::scaling, ClusterEvent::lose, ClusterPhase::degraded},
    {ClusterPhase::scaling, ClusterEvent::remove, ClusterPhase::deleting},
    {ClusterPhase::degraded, ClusterEvent::settle, ClusterPhase::ready},
    {ClusterPhase::degraded, ClusterEvent::scale, ClusterPhase::scaling},
    {ClusterPhase::degraded, ClusterEvent::remove, ClusterPhase::deleting},
    {ClusterPhase::failed, ClusterEvent::remove, ClusterPhase::deleting},
    {ClusterPhase::deleting, ClusterEvent::vanish, ClusterPhase::deleted},
};
static_assert(is_deterministic(cluster_life) && is_final(cluster_life, ClusterPhase::deleted));

enum class NodeRole { control, worker };
BOOST_DESCRIBE_ENUM(NodeRole, control, worker)

enum class NodePhase {
    claimed,    // Its host is its own; nothing of the cluster is there.
    preparing,  // Its host gets what it needs to join.
    creating,   // It makes the cluster: the first of the control plane.
    joining,
    ready,     // It is a node of the cluster.
    draining,  // Its pods move elsewhere.
    leaving,   // The cluster forgets it.
    cleaning,  // Its host is cleaned, and checked for leftovers.
    unclean,   // Something was found, or the host does not answer. The host takes no work.
    left,      // Its host is clean, and free.
};
BOOST_DESCRIBE_ENUM(NodePhase, claimed, preparing, creating, joining, ready, draining, leaving, cleaning,
                    unclean, left)

enum class NodeEvent {
    prepare,
    create,
    join,
    arrive,  // It is a node now.
    drain,
    leave,
    clean,
    soil,  // It could not be made clean.
    free,  // It is clean.
};
BOOST_DESCRIBE_ENUM(NodeEvent, prepare, create, join, arrive, drain, leave, clean, soil, free)

inline constexpr Edge<NodePhase, NodeEvent> node_life[] = {
    {NodePhase::claimed, NodeEvent::prepare, NodePhase::preparing},
    {NodePhase::claimed, NodeEvent::free, NodePhase::left},
    {NodePhase::preparing, NodeEvent::create, NodePhase::creating},
    {NodePhase::preparing, NodeEvent::join, NodePhase::joining},
    {NodePhase::preparing, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::creating, NodeEvent::arrive, NodePhase::ready},
    {NodePhase::creating, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::joining, NodeEvent::arrive, NodePhase::ready},
    {NodePhase::joining, NodeEvent::leave, NodePhase::leaving},
    {NodePhase::joining, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::ready, NodeEvent::drain, NodePhase::draining},
    {NodePhase::ready, NodeEvent::leave, NodePhase::leaving},
    {NodePhase::ready, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::draining, NodeEvent::leave, NodePhase::leaving},
    {NodePhase::draining, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::leaving, NodeEvent::clean, NodePhase::cleaning},
    {NodePhase::cleaning, NodeEvent::free, NodePhase::left},
    {NodePhase::cleaning, NodeEvent::soil, NodePhase::unclean},
    {NodePhase::unclean, NodeEvent::clean, NodePhase::cleaning},
};
static_assert(is_deterministic(node_life) && is_final(node_life, NodePhase::left));

enum class SavePhase {
    saving,  // A host of the control plane writes it.
    saved,
    failed,    // Parts of it may lie in the folder of saves.
    deleting,  // A host removes its file.
    deleted,
};
BOOST_DESCRIBE_ENUM(SavePhase, saving, saved, failed, deleting, deleted)

enum class SaveEvent {
    keep,     // It is written.
    give_up,  // It could not be.
    remove,   // Its owner deletes it.
    vanish,   // Nothing of it is left.
};
BOOST_DESCRIBE_ENUM(SaveEvent, keep, give_up, remove, vanish)

inline constexpr Edge<SavePhase, SaveEvent> save_life[] = {
    {SavePhase::saving, SaveEvent::keep, SavePhase::saved},
    {SavePhase::saving, SaveEvent::give_up, SavePhase::failed},
    {SavePhase::saved, SaveEvent::remove, SavePhase::deleting},
    {SavePhase::failed, SaveEvent::remove, SavePhase::deleting},
    {SavePhase::deleting, SaveEvent::vanish, SavePhase::deleted},
};
static_assert(is_deterministic(save_life) && is_final(save_life, SavePhase::deleted));

}  // namespace hostler
