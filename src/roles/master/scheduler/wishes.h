// Where a tenant's tasks may go: what the API says of it as the scheduler takes it, and back.
#pragma once

#include <boost/describe/enum_from_string.hpp>

#include "domain/scheduler/need.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Caller;
struct Placement;
}  // namespace hostler::api

namespace hostler::master {

// The value of another enum that has the same name.
template <class To, class From>
std::optional<To> named_alike(const std::optional<From>& from) {
    To to{};
    if (!from || !boost::describe::enum_from_string(text_of(*from).c_str(), to)) return std::nullopt;
    return to;
}

// Area::none where nothing is said.
template <class From>
Area area_of(const std::optional<From>& from) {
    return named_alike<Area>(from).value_or(Area::none);
}

// Zones, hosts and places are looked up; `path` stands before each wrong field, as "placement.".
Wishes wishes_of(const Desk& desk, const api::Placement& asked, std::string_view path,
                 std::vector<FieldError>& wrong);
api::Placement shown_as(const Wishes& wishes);

// What one leaves open the other says.
api::Placement filled_with(api::Placement asked, const api::Placement& otherwise);

// Hosts are for operators to name. Errors: forbidden (operator_only).
Result<> may_ask(const api::Caller& caller, const api::Placement& asked);

// Errors: invalid. The code is no_price_list where nothing but a price is wrong.
Result<> all_right(std::vector<FieldError> wrong);

}  // namespace hostler::master
