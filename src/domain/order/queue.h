// Queues: the nodes of the tree tenant → project → user.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "domain/order/amount.h"

namespace hostler {

// A leaf of the tree; as a prefix, with empty names at its end, an inner node. All empty: the root.
struct QueuePath {
    std::string tenant;
    std::string project;
    std::string user;

    auto operator<=>(const QueuePath&) const = default;
    const std::string& at(int level) const { return level == 1 ? tenant : level == 2 ? project : user; }
    int depth() const { return tenant.empty() ? 0 : project.empty() ? 1 : user.empty() ? 2 : 3; }
};
inline constexpr int queue_depth = 3;

// Settings of a node. A node without settings has these defaults.
struct Queue {
    double weight = 1;           // In [1e-6, 1e6]. Twice the weight, twice the share among siblings.
    Amount guaranteed;           // 0: this resource has no guarantee. Counts within the parent's guarantee.
    std::optional<Amount> most;  // Never more than this; Amount::most: this resource is not limited.

    bool operator==(const Queue&) const = default;
};

// invalid: names every wrong field.
Result<> check(const Queue&);

// Below its guarantee: it has one, and no guaranteed resource of it is used up.
bool below_guarantee(const Amount& allocated, const Amount& guaranteed);

// The guarantee covers `more` beside what is allocated: at least one resource that `more` needs is
// guaranteed, and of these none exceeds the guarantee. Resources without a guarantee come along.
bool covers(const Amount& guaranteed, const Amount& allocated, const Amount& more);

}  // namespace hostler
