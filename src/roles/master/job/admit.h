// An element of a job gets a place: its tasks are made, all or none.
#pragma once

#include <functional>

#include "domain/order/amount.h"
#include "domain/scheduler/need.h"
#include "domain/scheduler/place.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInstance;
}  // namespace hostler::api

namespace hostler::master {

// Of an element; zero where its spec is not known any more.
Amount size_of_element(const Desk& desk, const Job& job);

// Makes the tasks of the next element, and starts them. Nothing is changed where it fails. Errors: as of
// create_instance(), not_found (there is no next element).
Result<> admit_next(Desk& desk, const std::string& job);

// The same is tried, shown to `look` as the ids of its tasks, and undone. `job` need not be in the estate.
// Errors: the same.
using Look = std::function<void(const std::vector<std::string>& tasks)>;
Result<> try_element(Desk& desk, const Job& job, const Look& look = nullptr);

// What its next element asks for; nullopt: its spec is not known any more.
struct Asked {
    std::vector<Demand> demands;  // By rank.
    Gang gang;
};
std::optional<Asked> demands_of(const Desk& desk, const Job& job);

// Whether a refusal goes away by itself when something ends.
bool may_pass(const Error& refusal);

}  // namespace hostler::master
