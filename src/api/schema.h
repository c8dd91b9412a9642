// What a type looks like as JSON, for everything that walks types at run time: queries, OpenAPI, the command
// line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/field.h"
#include "api/operation.h"

namespace hostler::api {

enum class Kind { boolean, integer, number, text, time, enumeration, list, map, object };

struct Property {
    std::string name;  // "specName"
    const Schema* schema = nullptr;
    const Field* field = nullptr;  // Null for what is only ever stored.
    bool required = true;          // False: std::optional, or its initialiser stands for it.
    std::string initial{};         // JSON of that initialiser; empty: none.
};

struct Schema {
    Kind kind = Kind::object;
    std::string name;      // Of objects and enums: "CreateInstance".
    std::int64_t min = 0;  // What an integer's type can hold.
    std::uint64_t max = 0;
    std::vector<std::string_view> values{};  // Of an enum, in order.
    const Schema* element = nullptr;         // Of a list or map.
    bool gaps = false;                       // Of a list: null stands where there is none.
    std::vector<Property> properties{};      // Of an object, in order.

    const Property* find(std::string_view property) const;
};

// "spec_name" → "specName", "instance_id" → "instanceID", "template_" → "template".
std::string json_name(std::string_view member);
// The candidate that `text` was probably meant to be, or "".
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);
// Bounds and form, in words. Empty: nothing is wrong.
std::string wrong_text(std::string_view text, const Field* field);
std::string wrong_size(std::size_t size, const Field* field);
std::string wrong_number(double number, const Field* field);

}  // namespace hostler::api
