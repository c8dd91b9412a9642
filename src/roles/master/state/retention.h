// How long what is over is kept in memory. The store keeps it longer, to be read.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// It leaves memory, and only the record in the store is kept.
template <class T>
void retire(Desk& desk, Table<T>& table, const std::string& id) {
    // The store dates an end by its commit's events.
    desk.estate.event(Kind<T>::name, id, Kind<T>::tenant(table.at(id)), "archived",
                      "It is over; only the record is kept.");
    table.retire(id);
}

// By level: sign-ins, sessions, links, invitations, operations, consolidations, tokens of hosts and answers
// whose time is over.
void forget_what_is_over(Desk& desk);

}  // namespace hostler::master
