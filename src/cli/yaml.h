// YAML, read as what JSON can say and written so that it reads back the same.
#pragma once

#include <boost/json.hpp>
#include <map>

#include "core/result.h"

namespace hostler::cli {

namespace json = boost::json;

// One document of a file.
struct Document {
    std::string file;
    int number = 1;  // In its file.
    bool only = true;
    json::value value;
    std::map<std::string, int, std::less<>> lines;  // Of each part, by its path: "template.ports[0].port".

    // "cloud.yaml:7, document 2" for that part, or the nearest around it whose line is known.
    std::string place(std::string_view path = {}) const;
};

// Types follow JSON: 1 is a number, "1" a text, and so are no, yes, 010 and 0x1f; true, false and null (~, or
// nothing) are themselves. Anchors are taken, within bounds: what they grow to counts. Errors: invalid, with
// line and column; also for keys that are twice there or no text, tags that JSON has no type for, and <<
// merges.
Result<std::vector<Document>> parse_yaml(std::string_view text);

std::string to_yaml(const json::value& value);

}  // namespace hostler::cli
