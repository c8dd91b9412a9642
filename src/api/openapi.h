// The API as an OpenAPI 3.1 document, made from the table of operations.
#pragma once

#include <string>

namespace hostler::api {

// Indented JSON with a line break at its end: the text of openapi.json at the root, and of GET /openapi.json.
std::string openapi();

}  // namespace hostler::api
