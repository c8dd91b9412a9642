// Settings of queues, and what their jobs used.
#pragma once

#include "api/cursor.h"
#include "roles/master/job/queues.h"

namespace hostler::api {
struct Queue;
struct SetQueue;
}  // namespace hostler::api

namespace hostler::master {

// Errors: invalid (each wrong field; more is guaranteed than the queue above has), conflict
// (version_differs).
Result<> set_queue(Desk& desk, const QueuePath& path, const api::SetQueue& request);
// Errors: not_found (queue_not_found), conflict (version_differs).
Result<> delete_queue(Desk& desk, const QueuePath& path, std::optional<std::int64_t> if_version);

// Thousandths.
std::int64_t in_milli(double part);

api::Queue view(const Desk& desk, const Standing& standing);
// As it is now, also where it has neither settings nor jobs.
api::Queue view_queue(const Desk& desk, const QueuePath& path);

// Writes down what was used by runs that have ended, for the next term. At most `most` rows.
void store_use(Desk& desk, std::size_t most);

}  // namespace hostler::master
