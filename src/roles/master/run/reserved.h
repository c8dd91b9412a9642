// Room on hosts that is kept for one owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roles/master/scheduler/reservations.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Whether the host does not take this instance now.
bool is_kept_from(const Desk& desk, const Instance& instance, const std::string& host);

// When the job of a task is over by its time limit, if it began now; nullopt: it has none.
std::optional<std::int64_t> ends_by_limit(const Desk& desk, const Job& job);

// Hosts on which others are ended, for another owner than this job.
std::vector<std::string> kept_for_others(const Desk& desk, const std::string& job);
// These, and that of the job that has waited longest where this one, with all tasks of an element, would be
// in its way.
std::vector<std::string> kept_from(const Desk& desk, const Job& job);

Amount amount_of(const Spec& spec);

}  // namespace hostler::master
