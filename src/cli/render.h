// Answers as text: for people, for programs.
#pragma once

#include <boost/json.hpp>

#include "api/operation.h"
#include "api/schema.h"
#include "cli/cell.h"

namespace hostler::cli {

namespace json = boost::json;

std::string render_list(const api::Operation& list, const json::array& items, const Style& style);
// Objects that are no answer of the API, with the same fields each; not as a table.
std::string render_results(const json::array& results, Format format);
std::string render_object(const api::Operation& operation, const json::value& object, const Style& style);

// How its kind is called by people: "notebook-1" of an instance.
std::string name_of(const api::Schema& schema, const json::value& object);
// Indented, with a line break; it steers no terminal.
std::string json_text(const json::value& value);
// What an answer to get_instance_logs has, byte for byte.
std::string log_bytes(const json::value& logs);

}  // namespace hostler::cli
