// What is there, beside what a file wants.
#pragma once

#include <boost/json.hpp>

#include "api/schema.h"

namespace hostler::cli {

struct Difference {
    std::string field;
    std::string there;  // As people read it.
    std::string wanted;
    bool operator==(const Difference&) const = default;
};

// As a field that is left out: null, false, 0, and what has nothing in it.
bool is_empty(const boost::json::value& value);

// Of the fields that both the request and the object have; the others are not shown by the API, and cannot be
// compared. Quantities are the same when they are equal ("2" and "2000m"), and a field left out of an object
// is empty.
std::vector<Difference> differences(const api::Schema& request, const api::Schema& shown,
                                    const boost::json::object& wanted, const boost::json::value& there);

}  // namespace hostler::cli
