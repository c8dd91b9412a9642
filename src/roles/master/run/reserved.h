// Room on hosts that is kept for one owner.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "domain/order/reservation.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

struct Reservations {
    // Hosts on which others are ended for this owner (Owner::path()): nothing else comes there.
    std::map<std::string, std::string> owner_of;
    // Of the job that has waited longest: tasks of other jobs may come there that are over by then.
    std::optional<Reservation> of_the_oldest;
};

// Whether the host does not take this instance now.
bool is_kept_from(const Desk& desk, const Instance& instance, const std::string& host);

// When the job of a task is over by its time limit, if it began now; nullopt: it has none.
std::optional<std::int64_t> ends_by_limit(const Desk& desk, const Job& job);

Amount amount_of(const Spec& spec);

}  // namespace hostler::master
