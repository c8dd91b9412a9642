// What the API shows of specs and their stock.
#pragma once

#include "api/types_stock.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

api::Spec view(const Spec& spec);
api::Stock view_stock(const Desk& desk, const Spec& spec);

}  // namespace hostler::master
