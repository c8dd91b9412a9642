// Prices: set and removed by operators from the moment on at which they say so, and kept for ever.
#pragma once

#include "domain/billing/price.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Price;
struct RemovePrice;
struct SetPrice;
}  // namespace hostler::api

namespace hostler::master {

inline constexpr std::size_t prices_max = 100'000;  // That hold or have held.

// What holds for just these terms so far ends. Errors: invalid (zone, currency), conflict (price_changed,
// currency_differs), exhausted (too_many_prices).
Result<const Price*> set_price(Desk& desk, const api::SetPrice& request);

// It holds no more. Errors: not_found (price_not_found), conflict (price_changed).
Result<const Price*> remove_price(Desk& desk, const api::RemovePrice& request);

// What a request means, and the price that holds for just that; nullptr: none does.
PriceTerms terms_of(const api::SetPrice& request);
PriceTerms terms_of(const api::RemovePrice& request);
const Price* holding_price(const Desk& desk, const PriceTerms& terms);

// Whether any price holds at this moment.
bool is_priced(const Desk& desk);

// As offers tell hosts apart.
std::string isolation_of(const Host& host);

// Of a GPU of this model there for an hour; nullptr: none holds.
const Price* price_on(const Desk& desk, const Host& host, const std::string& model);

// The same for one of these, as of the last second: for answers that ask for many.
const Price* price_now(const Desk& desk, const PricedGpu& gpu);

api::Price view(const Price& price);

}  // namespace hostler::master
