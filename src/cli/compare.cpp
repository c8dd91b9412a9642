#include "cli/compare.h"

#include "api/indent.h"
#include "core/quantity.h"

namespace hostler::cli {

namespace {

namespace json = boost::json;

std::string plain(const json::value& value) {
    if (const auto* text = value.if_string()) return std::string(*text);
    return value.is_double() ? api::plain_number(value.get_double()) : api::compact(value);
}

bool same(const api::Property& property, const json::value& a, const json::value& b) {
    if (is_empty(a) && is_empty(b)) return true;
    if (property.field &&
        (property.field->form == &api::forms::quantity || property.field->form == &api::forms::amount)) {
        const auto left = parse_quantity(plain(a));
        const auto right = parse_quantity(plain(b));
        if (left && right) return *left == *right;
    }
    if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
    return a == b;
}

std::string shown_as(const json::value& value) { return is_empty(value) ? "none" : plain(value); }

}  // namespace

bool is_empty(const json::value& value) {
    if (const bool* flag = value.if_bool()) return !*flag;
    if (const auto* text = value.if_string()) return text->empty();
    if (const auto* array = value.if_array()) return array->empty();
    if (const auto* object = value.if_object()) return object->empty();
    return value.is_null() || value.to_number<double>() == 0;
}

std::vector<Difference> differences(const api::Schema& request, const api::Schema& shown,
                                    const json::object& wanted, const json::value& there) {
    std::vector<Difference> found;
    const json::value nothing;
    for (const api::Property& property : request.properties) {
        const json::value* want = wanted.if_contains(property.name);
        if (!want || want->is_null() || !shown.find(property.name)) continue;
        const json::value* have = there.is_object() ? there.get_object().if_contains(property.name) : nullptr;
        if (!have) have = &nothing;
        if (!same(property, *want, *have)) found.push_back({property.name, shown_as(*have), shown_as(*want)});
    }
    return found;
}

}  // namespace hostler::cli
