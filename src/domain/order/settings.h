// Queues as they are stored: what people have set, and what was used.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "domain/object.h"
#include "domain/order/queue.h"

namespace hostler {

BOOST_DESCRIBE_STRUCT(Amount, (), (gpu_milli, cpu_milli, memory_bytes))

// Settings of a queue.
struct QueueSettings {
    std::string id;  // As id_of() makes it.
    std::string tenant;
    std::string project;  // Empty: of the tenant.
    std::string user;     // Empty: of the project.
    std::int64_t weight = 1;
    Amount guaranteed;           // 0: of this resource nothing.
    std::optional<Amount> most;  // Amount::most: this resource is not limited.
    std::int64_t created_at = 0;
    Meta meta;

    QueuePath path() const { return {tenant, project, user}; }
    Queue queue() const {
        return {.weight = static_cast<double>(weight), .guaranteed = guaranteed, .most = most};
    }
    static std::string id_of(const QueuePath& path) {
        return path.tenant + "/" + path.project + "/" + path.user;
    }
};
BOOST_DESCRIBE_STRUCT(QueueSettings, (), (id, tenant, project, user, weight, guaranteed, most, created_at))

// Usage of ended runs of a queue, as in Settled.
struct QueueUse {
    std::string id;  // As QueueSettings::id_of() makes it.
    std::string tenant;
    std::string project;
    std::string user;
    Amount used;
    std::int64_t at = 0;  // Microseconds since 1970.
    Meta meta;
    QueuePath path() const { return {tenant, project, user}; }
};
BOOST_DESCRIBE_STRUCT(QueueUse, (), (id, tenant, project, user, used, at))

}  // namespace hostler
