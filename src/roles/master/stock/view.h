// What the API shows of specs and their stock.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Spec;
struct Stock;
}  // namespace hostler::api

namespace hostler::master {

api::Spec view(const Spec& spec);
api::Stock view_stock(const Desk& desk, const Spec& spec);

}  // namespace hostler::master
