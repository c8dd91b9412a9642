// Stock: slots that hold resources before anybody asks for them.
#pragma once

#include <functional>

#include "roles/master/scheduler/room.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateStocks;
struct DeleteStocks;
}  // namespace hostler::api

namespace hostler::master {

// Adds slots, all or none; makes the spec if there is none of that name. Errors: invalid (a new spec's values
// are missing; zone unknown), conflict (spec_differs, insufficient_capacity, stock_changed).
Result<> create_stock(Desk& desk, const api::CreateStocks& request);

// Takes slots away that nobody uses, those without a place first. Errors: not_found (spec), conflict
// (not_idle, stock_changed).
Result<> delete_stock(Desk& desk, const api::DeleteStocks& request);

// Finds places for slots that lost theirs. By level: called after every change that could make room.
void fill_stock(Desk& desk);

// An instance takes the slot: of those that meet what it wishes, and spread or pack its group best, the
// oldest on a host that has `image`, else the oldest; nullptr: none is idle that does. `may`: whether a host
// comes into question.
const Slot* idle_slot(const Desk& desk, const std::string& spec, const Demand& demand,
                      const std::string& image, const Room::May& may);

// An idle slot loses its place, and waits for another.
void displace(Desk& desk, const std::string& slot);
// In words: to whom it gave way, and why there is no room for it.
std::string why_it_waits(const Slot& slot, const std::string& no_room);

// The slot's instance has gone. It keeps the claim where its host takes new ones, else it looks for another
// place.
void refill(Desk& desk, const std::string& slot);

}  // namespace hostler::master
