// What could be had now: each spec in each zone, on each kind of host, and how often.
#pragma once

#include "api/types_offer.h"
#include "domain/policy/check.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::int64_t offers_last_us = 1'000'000;  // So long they are not counted again.

// All that there are, by spec, zone and kind, as of a moment ago; what cannot be had is none. Hosts are not
// told apart beyond their zone, GPUs, isolation and owner's kind, nor is anything said of who holds the rest.
// They stand until this is called again.
const std::vector<api::Offer>& offers(const Desk& desk);

// Whether whoever asks may see prices: an order or a query by them tells them, too.
enum class PriceSight { shown, hidden };

// Those of them that fit and are allowed, in the order that was asked for. Errors: invalid (as parse_query
// and parse_order say; no_price_list), forbidden (permission_missing: asked by price).
Result<std::vector<const api::Offer*>> offers_for(const Desk& desk, const api::ListOffers& request,
                                                  const Policies& policies = {},
                                                  PriceSight prices = PriceSight::shown);

// What a query compares.
api::QueryValue value_of(const api::Offer& offer, std::size_t field);

}  // namespace hostler::master
