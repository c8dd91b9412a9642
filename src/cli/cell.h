// One field of an answer as text for people.
#pragma once

#include <boost/json.hpp>

#include "api/schema.h"
#include "cli/text.h"

namespace hostler::cli {

namespace json = boost::json;

// Ages, GiB; colours left out.
std::string cell(const api::Property& property, const json::value& value, const Style& style, bool long_form);
// In the colour of its state.
std::string painted(const api::Property& property, std::string text, const Style& style);

}  // namespace hostler::cli
