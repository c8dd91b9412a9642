// What the estate needs to know of each kind of object to keep it in the store's envelope.
#pragma once

#include <boost/describe/enum_to_string.hpp>
#include <string>
#include <string_view>

#include "core/result.h"

#define HOSTLER_KIND_TYPES
#include "roles/master/kinds.def"
#undef HOSTLER_KIND_TYPES

namespace hostler::master {

template <class Enum>
std::string text_of(Enum value) {
    return boost::describe::enum_to_string(value, "");
}

template <class T>
struct Kind;

#define PART(type)
#define KIND(type, table, kind_name, id_of, tenant_of, phase_of, weight)                         \
    template <>                                                                                  \
    struct Kind<type> {                                                                          \
        static constexpr std::string_view name = kind_name;                                      \
        /* Without one a GPU, an address or a volume might be given twice, or nobody trusted. */ \
        static constexpr bool decided = std::string_view{#weight} == "decided";                  \
        static const std::string& id(const type& object) { return object.id_of; }                \
        static std::string tenant(const type& object) { return tenant_of; }                      \
        static std::string phase(const type& object) { return phase_of; }                        \
    };
#include "roles/master/kinds.def"
#undef KIND
#undef PART

// The project that a row is in, for the store's envelope. Rows that are in none are in their tenant's scope.
template <class T>
std::string project_of(const T& row) {
    if constexpr (requires { std::string{row.project}; })
        return row.tenant.empty() ? "" : row.project;
    else
        return "";
}

// The body in the store; instantiated in stored.cpp alone. Unknown members of a newer release are let pass,
// missing ones keep their initialisers.
template <class T>
std::string encode_body(const T& object);
// The same, with what `before` has and this release does not know.
template <class T>
std::string encode_body_onto(const T& object, std::string_view before);
// `beyond` is told whether there is something that this release does not know. Errors: internal.
template <class T>
Result<T> decode_body(std::string_view body, bool* beyond = nullptr);

}  // namespace hostler::master
