// Stock: slots that hold resources before anybody asks for them.
#pragma once

#include <functional>

#include "api/types_stock.h"
#include "roles/master/desk.h"

namespace hostler::master {

// Adds slots, all or none; makes the spec if there is none of that name. Errors: invalid (a new spec's values
// are missing; zone unknown), conflict (spec_differs, insufficient_capacity, stock_changed).
Result<> create_stock(Desk& desk, const api::CreateStocks& request);

// Takes slots away that nobody uses, those without a place first. Errors: not_found (spec), conflict
// (not_idle, stock_changed).
Result<> delete_stock(Desk& desk, const api::DeleteStocks& request);

// Finds places for slots that lost theirs. By level: called after every change that could make room.
void fill_stock(Desk& desk);

// An instance takes the slot: the oldest on a host that has `image`, else the oldest; nullptr when none is
// idle that fits zone and host (empty: any). `volume_bytes`: of volumes that its host is to make. `may`:
// whether a host comes into question; null: each does.
const Slot* idle_slot(const Desk& desk, const std::string& spec, const std::string& zone,
                      const std::string& host, std::int64_t volume_bytes = 0, const std::string& image = {},
                      const std::function<bool(const std::string& host)>& may = nullptr);

// An idle slot loses its place, and waits for another.
void displace(Desk& desk, const std::string& slot);

// The slot's instance has gone. It keeps the claim where its host takes new ones, else it looks for another
// place.
void refill(Desk& desk, const std::string& slot);

}  // namespace hostler::master
