// The fields that ?query= of a list may name: the plain ones of its items, by their JSON names. They follow from
// the described members, so that a new field can be asked for without a further line.
#pragma once

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <deque>
#include <limits>
#include <set>
#include <utility>

#include "api/query.h"
#include "api/schema.h"
#include "api/types_common.h"
#include "core/quantity.h"
#include "core/timers.h"

namespace hostler::api {

struct ListFields {
    std::vector<QueryField> fields;
    std::vector<std::size_t> places;  // Of each, among the properties of the item.
    std::deque<std::string> choices;  // Texts that the fields refer to.
};

// Texts, choices, whole numbers, booleans, times, and lists of texts. Others are no fields: objects, maps,
// lists of objects, fractions, and secrets.
ListFields list_fields(const Schema& item);

// Of the operation of a list that takes a query.
const Schema& item_of(const Operation& list);

namespace detail {

// An absent value is the empty text; no number compares with it.
bool holds_absent(const QueryTerm& term, QueryKind kind);
bool holds_text(const QueryTerm& term, QueryKind kind, std::string_view text);
bool holds_number(const QueryTerm& term, std::int64_t number);

template <class T>
inline constexpr bool is_texts = false;
template <class T>
inline constexpr bool is_texts<std::vector<T>> = !boost::describe::has_describe_members<T>::value;
template <class T>
inline constexpr bool is_texts<std::set<T>> = !boost::describe::has_describe_members<T>::value;

template <class T>
bool holds(const QueryTerm& term, QueryKind kind, const T& value) {
    if constexpr (std::is_same_v<T, bool>)
        return holds_text(term, kind, value ? "true" : "false");
    else if constexpr (std::is_integral_v<T>)
        return holds_number(term, std::in_range<std::int64_t>(value)
                                      ? static_cast<std::int64_t>(value)
                                      : std::numeric_limits<std::int64_t>::max());
    else if constexpr (std::is_same_v<T, WallTime>)
        return holds_number(term, query_time(value));
    else if constexpr (std::is_same_v<T, std::string>)
        return holds_text(term, kind, value);
    else if constexpr (std::is_same_v<T, Quantity>)
        return holds_text(term, kind, to_string(value));
    else if constexpr (std::is_enum_v<T>)
        return holds_text(term, kind, boost::describe::enum_to_string(value, ""));
    else if constexpr (requires { std::string_view{value.text}; })
        return holds_text(term, kind, value.text);
    else if constexpr (requires { value.has_value(); })
        return value ? holds(term, kind, *value) : holds_absent(term, kind);
    else if constexpr (requires { value.count(); } && !is_texts<T>)  // A length of time.
        return holds_number(term, static_cast<std::int64_t>(value.count()));
    else if constexpr (is_texts<T>) {
        const auto one = [&](const auto& element) { return holds(term, kind, element); };
        return term.comparison == Comparison::differs ? std::ranges::all_of(value, one)
                                                      : std::ranges::any_of(value, one);
    } else
        return false;
}

}  // namespace detail

// Whether all terms hold of an item; they are of list_fields() of its schema.
template <class Item>
bool lets_through(const Query& query, const Item& item) {
    using Members =
        boost::describe::describe_members<Item, boost::describe::mod_public | boost::describe::mod_inherited>;
    if (query.empty()) return true;
    static const ListFields known = list_fields(*schema_of<List<Item>>().find("items")->schema->element);
    return std::ranges::all_of(query, [&](const QueryTerm& term) {
        const QueryKind kind = known.fields[term.field].kind;
        bool holds = false;
        std::size_t place = 0;
        boost::mp11::mp_for_each<Members>([&](auto member) {
            if (place++ == known.places[term.field]) holds = detail::holds(term, kind, item.*member.pointer);
        });
        return holds;
    });
}

}  // namespace hostler::api
