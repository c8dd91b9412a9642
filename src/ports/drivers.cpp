#include "ports/drivers.h"

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>

namespace hostler {

namespace {

void write(std::string_view text, std::string& into) {
    into += '"';
    for (const char c : text)
        if (c == '"' || c == '\\')
            into += '\\', into += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            into += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            into += c;
    into += '"';
}

template <class Value>
void write_value(const Value& value, std::string& into) {
    namespace describe = boost::describe;
    if constexpr (describe::has_describe_enumerators<Value>::value) {
        write(describe::enum_to_string(value, ""), into);
    } else if constexpr (describe::has_describe_members<Value>::value) {
        into += '{';
        boost::mp11::mp_for_each<describe::describe_members<Value, describe::mod_public>>([&](auto member) {
            if (into.back() != '{') into += ',';
            write(member.name, into);
            into += ':';
            write_value(value.*member.pointer, into);
        });
        into += '}';
    } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
        write(value, into);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        into += fmt::format("{}", value);
    } else if constexpr (requires { typename Value::mapped_type; }) {
        into += '{';
        for (const auto& [key, one] : value) {
            if (into.back() != '{') into += ',';
            write(key, into);
            into += ':';
            write_value(one, into);
        }
        into += '}';
    } else {
        into += '[';
        for (const auto& one : value) {
            if (into.back() != '[') into += ',';
            write_value(one, into);
        }
        into += ']';
    }
}

}  // namespace

std::string driver_text(const Driver& driver) {
    std::string text;
    write_value(driver, text);
    return text;
}

std::string driver_digest(const Driver& driver, const Digest& digest) {
    return digest.sha256(driver_text(driver));
}

}  // namespace hostler
