#include "api/list_query.h"

#include <fmt/ranges.h>

namespace hostler::api {

namespace {

// nullopt: it is no field.
std::optional<QueryKind> kind_of(const Schema& schema, const Field* field) {
    if (field && field->hidden) return std::nullopt;
    switch (schema.kind) {
        case Kind::integer: return field && field->unit == Unit::bytes ? QueryKind::bytes : QueryKind::number;
        case Kind::time: return QueryKind::time;
        case Kind::text:
            if (field && (field->form == &forms::quantity || field->form == &forms::amount))
                return QueryKind::cpus;
            if (field && field->form == &forms::money) return QueryKind::money;
            return QueryKind::text;
        case Kind::boolean:
        case Kind::enumeration: return QueryKind::text;
        case Kind::list: {
            const bool texts =
                schema.element->kind == Kind::text || schema.element->kind == Kind::enumeration;
            return texts && !schema.gaps ? std::optional{QueryKind::text} : std::nullopt;
        }
        case Kind::number:
        case Kind::map:
        case Kind::object: break;
    }
    return std::nullopt;
}

std::string choices_of(const Schema& schema) {
    if (schema.kind == Kind::boolean) return "true false";
    if (schema.kind == Kind::list) return choices_of(*schema.element);
    return fmt::format("{}", fmt::join(schema.values, " "));
}

}  // namespace

ListFields list_fields(const Schema& item) {
    ListFields made;
    for (std::size_t place = 0; place < item.properties.size(); ++place) {
        const Property& property = item.properties[place];
        const auto kind = kind_of(*property.schema, property.field);
        if (!kind) continue;
        const std::string& choices = made.choices.emplace_back(choices_of(*property.schema));
        made.fields.push_back(
            {property.name, *kind, property.field ? property.field->help : std::string_view{}, choices});
        made.places.push_back(place);
    }
    return made;
}

const Schema& item_of(const Operation& list) { return *list.response().find("items")->schema->element; }

namespace detail {

bool holds_absent(const QueryTerm& term, QueryKind kind) {
    if (kind == QueryKind::text || kind == QueryKind::words) return matches(term, kind, std::string{});
    return term.comparison == Comparison::differs;
}

bool holds_text(const QueryTerm& term, QueryKind kind, std::string_view text) {
    if (kind == QueryKind::text || kind == QueryKind::words) return matches(term, kind, std::string{text});
    const auto number = query_number(kind, std::string{text});
    return number ? holds_number(term, *number) : holds_absent(term, kind);
}

bool holds_number(const QueryTerm& term, std::int64_t number) {
    return matches(term, QueryKind::number, number);
}

}  // namespace detail

}  // namespace hostler::api
