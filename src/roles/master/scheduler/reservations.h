// Room on hosts that is kept for jobs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "domain/order/reservation.h"

namespace hostler::master {

struct Reservations {
    // Hosts on which others are ended for this owner (Owner::path()): nothing else comes there.
    std::map<std::string, std::string> owner_of;
    // Of the job that has waited longest: tasks of other jobs may come there that are over by then.
    std::optional<Reservation> of_the_oldest;
};

}  // namespace hostler::master
