// JSON as text, for bodies that are written once and never read back.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hostler::alert {

std::string json_string(std::string_view text);  // With its quotes.
std::string json_object(const std::map<std::string, std::string>& members);
std::string json_number(double value);  // The shortest that reads back the same; null when it is not finite.

}  // namespace hostler::alert
