// The definitions behind codec.h. Included by codec_<resource>.cpp only (and by whoever stores structs of its
// own):
//     HOSTLER_JSON(Zone)           everything of codec.h for one described struct
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "api/codec.h"
#include "api/schema.h"
#include "core/id.h"
#include "core/quantity.h"
#include "core/timers.h"

namespace hostler::api {

namespace detail {

namespace json = boost::json;

extern const Field quantity_field;  // A text that is read as a quantity.

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsSet : std::false_type {};
template <class T>
struct IsSet<std::set<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class T>
struct IsId : std::false_type {};
template <class T>
struct IsId<Id<T>> : std::true_type {};
template <class T>
struct IsSpan : std::false_type {};  // Of time.
template <class R, class P>
struct IsSpan<std::chrono::duration<R, P>> : std::true_type {};

template <class T>
using Members =
    boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;
template <class T>
inline constexpr bool is_object = boost::describe::has_describe_members<T>::value;

// "CreateInstance" of hostler::api::CreateInstance, "ZoneList" of List<Zone>.
template <class T>
std::string type_name() {
    return [](std::string_view text) {
        text = text.substr(text.find("T = ") + 4);
        text = text.substr(0, text.rfind(']'));
        std::string suffix;
        if (const auto open = text.find('<'); open != text.npos) {
            std::string_view outer = text.substr(0, open);
            suffix = outer.substr(outer.rfind(':') == outer.npos ? 0 : outer.rfind(':') + 1);
            text = text.substr(open + 1, text.rfind('>') - open - 1);
        }
        return std::string(text.substr(text.rfind(':') == text.npos ? 0 : text.rfind(':') + 1)) + suffix;
    }(__PRETTY_FUNCTION__);
}

template <class T>
constexpr const Field* field_of(std::string_view member) {
    for (const Field& field : fields<T>)
        if (field.member == member) return &field;
    return nullptr;
}

// ---- writing: straight to text

void write_text(std::string& out, std::string_view text);
void write_number(std::string& out, double number);
template <class T>
void write(std::string& out, const T& value);

template <class E>
std::string_view enum_name(E value) {
    return boost::describe::enum_to_string(value, "");
}

template <class K>
std::string_view key_text(const K& key) {
    if constexpr (IsId<K>::value)
        return key.text;
    else if constexpr (std::is_enum_v<K>)
        return enum_name(key);
    else
        return key;
}

template <class T>
void write_object(std::string& out, const T& value) {
    const auto& properties = schema_of<T>().properties;
    out += '{';
    bool first = true;
    std::size_t i = 0;
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
        const Property& property = properties[i++];
        const auto& field = value.*member.pointer;
        if constexpr (IsOptional<std::remove_cvref_t<decltype(field)>>::value)
            if (!field) return;
        if (!first) out += ',';
        first = false;
        out += '"';
        out += property.name;
        out += "\":";
        write(out, field);
    });
    out += '}';
}

template <class T>
void write(std::string& out, const T& value) {
    if constexpr (std::is_same_v<T, bool>)
        out += value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
        out += fmt::format_int(value).c_str();
    else if constexpr (std::is_floating_point_v<T>)
        write_number(out, value);
    else if constexpr (std::is_same_v<T, std::string>)
        write_text(out, value);
    else if constexpr (std::is_same_v<T, WallTime>)
        write_text(out, rfc3339(value));
    else if constexpr (std::is_same_v<T, Quantity>)
        write_text(out, to_string(value));
    else if constexpr (IsSpan<T>::value)
        out += fmt::format_int(value.count()).c_str();
    else if constexpr (IsId<T>::value)
        write_text(out, value.text);
    else if constexpr (std::is_enum_v<T>)
        write_text(out, enum_name(value));
    else if constexpr (IsOptional<T>::value) {
        if (value)
            write(out, *value);
        else
            out += "null";
    } else if constexpr (IsVector<T>::value || IsSet<T>::value) {
        out += '[';
        bool first = true;
        for (const auto& element : value) {
            if (!std::exchange(first, false)) out += ',';
            write<typename T::value_type>(out, element);
        }
        out += ']';
    } else if constexpr (IsMap<T>::value) {
        out += '{';
        bool first = true;
        for (const auto& [key, element] : value) {
            if (!std::exchange(first, false)) out += ',';
            write_text(out, key_text(key));
            out += ':';
            write(out, element);
        }
        out += '}';
    } else {
        static_assert(is_object<T>, "no JSON is known for this type");
        write_object(out, value);
    }
}

// ---- reading, with a path for every complaint

struct Reader {
    bool strict = true;
    bool beyond = false;  // It met a field that the schema lacks.
    std::string path{};
    Wrong wrong{};

    void complain(std::string message);
    void unknown(const json::object& object, const Schema& schema);  // Each field that the schema lacks.
    Result<> result() &&;

    // The path with one more step, for as long as it lives.
    struct Step {
        Step(Reader& reader, std::string_view name);
        Step(Reader& reader, std::size_t index);
        ~Step() { reader.path.resize(length); }
        Reader& reader;
        std::size_t length;
    };
};

bool read_bool(Reader&, const json::value&, bool& into);
// Integers within [min, max]; out of it is told with the field's bounds where it has some.
bool read_integer(Reader&, const json::value&, const Schema&, const Field*, std::int64_t& into,
                  std::uint64_t& large);
bool read_double(Reader&, const json::value&, const Field*, double& into);
bool read_string(Reader&, const json::value&, const Field*, std::string& into);
bool read_enum(Reader&, const json::value&, const Schema&, const Field*, std::size_t& index);
bool read_time(Reader&, const json::value&, WallTime& into);

template <class T>
void read(Reader& reader, const json::value& value, const Field* field, T& into);

template <class T>
void read_object(Reader& reader, const json::value& value, T& into) {
    const json::object* object = value.if_object();
    if (!object) return reader.complain("must be an object");
    const Schema& schema = schema_of<T>();
    std::size_t i = 0, seen = 0;
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
        const Property& property = schema.properties[i++];
        const auto found = object->find(property.name);
        const typename Reader::Step step{reader, property.name};
        if (found != object->end()) ++seen;
        // null stands for absence, as programs with optional fields write it.
        if (found == object->end() || (found->value().is_null() && !property.required)) {
            if (property.required && reader.strict) reader.complain("is required");
            return;
        }
        if (found->value().is_null() && !reader.strict) return;
        read(reader, found->value(), property.field, into.*member.pointer);
    });
    if (seen == object->size()) return;
    reader.beyond = true;
    if (reader.strict) reader.unknown(*object, schema);
}

template <class T>
void read_list(Reader& reader, const json::value& value, const Field* field, T& into) {
    const json::array* array = value.if_array();
    if (!array) return reader.complain("must be a list");
    if (reader.strict)
        if (auto what = wrong_size(array->size(), field); !what.empty())
            return reader.complain(std::move(what));
    into.clear();  // What is said stands in place of an initialiser.
    for (std::size_t i = 0; i < array->size(); ++i) {
        const Reader::Step step{reader, i};
        typename T::value_type element{};
        read(reader, (*array)[i], nullptr, element);
        if constexpr (IsSet<T>::value)
            into.insert(std::move(element));
        else
            into.push_back(std::move(element));
    }
}

template <class K>
bool read_key(std::string_view text, K& into) {
    if constexpr (IsId<K>::value)
        into.text = text;
    else if constexpr (std::is_enum_v<K>)
        return boost::describe::enum_from_string(std::string(text).c_str(), into);
    else
        into = text;
    return true;
}

template <class T>
void read_map(Reader& reader, const json::value& value, const Field* field, T& into) {
    const json::object* object = value.if_object();
    if (!object) return reader.complain("must be an object");
    if (reader.strict)
        if (auto what = wrong_size(object->size(), field); !what.empty())
            return reader.complain(std::move(what));
    into.clear();
    for (const auto& entry : *object) {
        const Reader::Step step{reader, entry.key()};
        typename T::key_type key{};
        if (!read_key(entry.key(), key)) {
            reader.complain("is not a known name");
            continue;
        }
        read(reader, entry.value(), nullptr, into[key]);
    }
}

template <class T>
void read(Reader& reader, const json::value& value, const Field* field, T& into) {
    if constexpr (std::is_same_v<T, bool>)
        read_bool(reader, value, into);
    else if constexpr (std::is_integral_v<T> || IsSpan<T>::value) {
        std::int64_t small = 0;
        std::uint64_t large = 0;
        if (!read_integer(reader, value, schema_of<T>(), field, small, large)) return;
        if constexpr (IsSpan<T>::value)
            into = T{static_cast<typename T::rep>(small)};
        else if constexpr (std::is_unsigned_v<T>)
            into = static_cast<T>(large);
        else
            into = static_cast<T>(small);
    } else if constexpr (std::is_floating_point_v<T>) {
        double number = 0;
        if (read_double(reader, value, field, number)) into = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, std::string>)
        read_string(reader, value, field, into);
    else if constexpr (IsId<T>::value)
        read_string(reader, value, field, into.text);
    else if constexpr (std::is_same_v<T, WallTime>)
        read_time(reader, value, into);
    else if constexpr (std::is_same_v<T, Quantity>) {
        std::string text;
        if (!read_string(reader, value, &quantity_field, text)) return;
        if (auto quantity = parse_quantity(text))
            into = *quantity;
        else
            reader.complain(quantity.error().message);
    } else if constexpr (std::is_enum_v<T>) {
        std::size_t index = 0;
        if (!read_enum(reader, value, schema_of<T>(), field, index)) return;
        std::size_t i = 0;
        boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
            if (i++ == index) into = enumerator.value;
        });
    } else if constexpr (IsOptional<T>::value) {
        if (!value.is_null()) read(reader, value, field, into.emplace());  // An element of a list.
    } else if constexpr (IsVector<T>::value || IsSet<T>::value)
        read_list(reader, value, field, into);
    else if constexpr (IsMap<T>::value)
        read_map(reader, value, field, into);
    else
        read_object(reader, value, into);
}

// ---- the schema

template <class T>
Schema make_schema() {
    Schema schema;
    if constexpr (std::is_same_v<T, bool>)
        schema.kind = Kind::boolean;
    else if constexpr (std::is_integral_v<T>) {
        schema.kind = Kind::integer;
        schema.min = static_cast<std::int64_t>(std::numeric_limits<T>::min());
        schema.max = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    } else if constexpr (IsSpan<T>::value) {
        schema.kind = Kind::integer;
        schema.min = std::numeric_limits<std::int64_t>::min();
        schema.max = std::numeric_limits<std::int64_t>::max();
    } else if constexpr (std::is_floating_point_v<T>)
        schema.kind = Kind::number;
    else if constexpr (std::is_same_v<T, std::string> || IsId<T>::value || std::is_same_v<T, Quantity>)
        schema.kind = Kind::text;
    else if constexpr (std::is_same_v<T, WallTime>)
        schema.kind = Kind::time;
    else if constexpr (std::is_enum_v<T>) {
        schema.kind = Kind::enumeration;
        schema.name = type_name<T>();
        boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
            [&](auto enumerator) { schema.values.push_back(enumerator.name); });
    } else if constexpr (IsVector<T>::value || IsSet<T>::value) {
        schema.kind = Kind::list;
        if constexpr (IsOptional<typename T::value_type>::value) {
            schema.element = &schema_of<typename T::value_type::value_type>();
            schema.gaps = true;
        } else {
            schema.element = &schema_of<typename T::value_type>();
        }
    } else if constexpr (IsMap<T>::value) {
        schema.kind = Kind::map;
        schema.element = &schema_of<typename T::mapped_type>();
    } else {
        static_assert(is_object<T>, "no JSON is known for this type");
        schema.name = type_name<T>();
        const T initial{};
        boost::mp11::mp_for_each<Members<T>>([&](auto member) {
            using Member = std::remove_cvref_t<decltype(initial.*member.pointer)>;
            Property property{.name = json_name(member.name), .field = field_of<T>(member.name)};
            if constexpr (IsOptional<Member>::value) {
                property.schema = &schema_of<typename Member::value_type>();
                property.required = false;
            } else {
                property.schema = &schema_of<Member>();
                if (property.field && property.field->absent == Absent::fills) {
                    property.required = false;
                    write(property.initial, initial.*member.pointer);
                }
            }
            schema.properties.push_back(std::move(property));
        });
    }
    return schema;
}

std::string merged(std::string text, std::string_view before, const Schema& schema);
std::string without(const std::string& text, const std::string& usual);  // Fields that both have, equally.
void add_rules(Reader& reader, Wrong rules);

}  // namespace detail

template <class T>
const Schema& schema_of() {
    static const Schema schema = detail::make_schema<T>();
    return schema;
}

template <class T>
Result<T> decode_value(const boost::json::value& value) {
    detail::Reader reader;
    T into{};
    detail::read(reader, value, nullptr, into);
    Wrong rules;
    Rules<T>::check(into, rules);
    detail::add_rules(reader, std::move(rules));
    TRY(std::move(reader).result());
    return into;
}

template <class T>
Result<> check_value(const boost::json::value& value) {
    TRY(decode_value<T>(value));
    return {};
}

template <class T>
Result<T> decode(std::string_view text) {
    return decode_value<T>(TRY(parse_json(text)));
}

template <class T>
Result<T> decode_stored(std::string_view text, bool* beyond) {
    const boost::json::value value = TRY(parse_json(text, std::size_t{64} << 20));
    detail::Reader reader{.strict = false};
    T into{};
    detail::read(reader, value, nullptr, into);
    if (beyond) *beyond = reader.beyond;
    TRY(std::move(reader).result());
    return into;
}

template <class T>
std::string encode(const T& value) {
    std::string out;
    detail::write(out, value);
    return out;
}

template <class T>
std::string encode_brief(const T& value) {
    return detail::without(encode(value), encode(T{}));
}

template <class T>
std::string encode_onto(const T& value, std::string_view before) {
    return detail::merged(encode(value), before, schema_of<T>());
}

}  // namespace hostler::api

#define HOSTLER_JSON(T)                                                                   \
    template const ::hostler::api::Schema& hostler::api::schema_of<T>();                  \
    template hostler::Result<T> hostler::api::decode_value<T>(const boost::json::value&); \
    template hostler::Result<> hostler::api::check_value<T>(const boost::json::value&);   \
    template hostler::Result<T> hostler::api::decode<T>(std::string_view);                \
    template hostler::Result<T> hostler::api::decode_stored<T>(std::string_view, bool*);  \
    template std::string hostler::api::encode<T>(const T&);                               \
    template std::string hostler::api::encode_brief<T>(const T&);                         \
    template std::string hostler::api::encode_onto<T>(const T&, std::string_view);
