// JSON for people.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace hostler::api {

// Two spaces a level; a list of plain values stays on one line. Without a line break at its end.
std::string indented(const boost::json::value& value);

// On one line, with numbers as people write them: 93.5, not 9.35E1.
std::string compact(const boost::json::value& value);

// A number as people write it, without an exponent where that stays readable: "2.49", "0.00005", "1e+30".
std::string plain_number(double number);

}  // namespace hostler::api
