// What could be had now: each spec in each zone, on each kind of host, and how often.
#pragma once

#include "api/types_offer.h"
#include "roles/master/desk.h"

namespace hostler::master {

// All that there are, by spec, zone and kind; what cannot be had at the moment is none. Hosts are not told
// apart beyond their zone, GPUs, isolation and owner's kind, nor is anything said of who holds the rest.
std::vector<api::Offer> offers(const Desk& desk);

// Those that fit, in the order that was asked for. Errors: invalid (as parse_query and parse_order say;
// no_price_list).
Result<std::vector<api::Offer>> offers_for(const Desk& desk, const api::ListOffers& request);

// What a query compares.
api::QueryValue value_of(const api::Offer& offer, std::size_t field);

}  // namespace hostler::master
