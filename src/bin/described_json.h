// Any described value as JSON: names as members are called, in camelCase as the API writes them. What is not
// known is null.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cctype>
#include <string>
#include <string_view>

namespace hostler::bin {

inline std::string camel(std::string_view name) {
    std::string made;
    for (std::size_t at = 0; at < name.size(); ++at)
        if (name[at] == '_' && at + 1 < name.size())
            made += static_cast<char>(std::toupper(static_cast<unsigned char>(name[++at])));
        else
            made += name[at];
    return made;
}

template <class Value>
boost::json::value to_json(const Value& value) {
    namespace json = boost::json;
    namespace describe = boost::describe;
    if constexpr (describe::has_describe_enumerators<Value>::value) {
        return json::value(describe::enum_to_string(value, ""));
    } else if constexpr (describe::has_describe_members<Value>::value) {
        json::object made;
        boost::mp11::mp_for_each<
            describe::describe_members<Value, describe::mod_public | describe::mod_inherited>>(
            [&](auto member) { made[camel(member.name)] = to_json(value.*member.pointer); });
        return made;
    } else if constexpr (requires { value.has_value(); }) {
        return value ? to_json(*value) : json::value(nullptr);
    } else if constexpr (requires {
                             value.begin();
                             typename Value::value_type;
                         } && !std::is_convertible_v<Value, std::string_view>) {
        json::array made;
        for (const auto& one : value) made.push_back(to_json(one));
        return made;
    } else {
        return json::value(value);
    }
}

}  // namespace hostler::bin
