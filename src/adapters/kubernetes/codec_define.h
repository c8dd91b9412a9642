// The definitions behind codec.h, for sources that instantiate them: KUBERNETES_JSON(Node).
#pragma once

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "adapters/kubernetes/codec.h"
#include "core/timers.h"

namespace hostler::kubernetes {

namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class V>
struct IsMap<std::map<std::string, V>> : std::true_type {};

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
template <class T>
inline constexpr bool is_described = boost::describe::has_describe_members<T>::value &&
                                     !std::is_same_v<T, Bytes> && !std::is_same_v<T, IntOrText>;

// "pod_ip" → "podIP", "namespace_" → "namespace".
std::string json_name(std::string_view member);

struct Reader {
    std::string path{};
    std::vector<FieldError> wrong{};

    void complain(std::string message);
    // The path with one more step, for as long as it lives.
    struct Step {
        Step(Reader& of, std::string_view name);
        Step(Reader& of, std::size_t index);
        ~Step() { reader.path.resize(length); }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        Reader& reader;
        std::size_t length;
    };
};

bool read_integer(Reader& reader, const json::value& value, std::int64_t min, std::int64_t max,
                  std::int64_t& into);
void read_leaf(Reader& reader, const json::value& value, bool& into);
void read_leaf(Reader& reader, const json::value& value, std::string& into);
void read_leaf(Reader& reader, const json::value& value, WallTime& into);
void read_leaf(Reader& reader, const json::value& value, Bytes& into);
void read_leaf(Reader& reader, const json::value& value, IntOrText& into);
json::value leaf(bool value);
json::value leaf(std::int64_t value);
json::value leaf(const std::string& value);
json::value leaf(WallTime value);
json::value leaf(const Bytes& value);
json::value leaf(const IntOrText& value);

template <class T>
void read(Reader& reader, const json::value& value, T& into) {
    if (value.is_null()) return;
    if constexpr (IsOptional<T>::value) {
        read(reader, value, into.emplace());
    } else if constexpr (IsVector<T>::value) {
        const auto* array = value.if_array();
        if (!array) return reader.complain("must be a list");
        into.reserve(array->size());
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Reader::Step step{reader, i};
            read(reader, (*array)[i], into.emplace_back());
        }
    } else if constexpr (IsMap<T>::value) {
        const auto* object = value.if_object();
        if (!object) return reader.complain("must be an object");
        for (const auto& [key, element] : *object) {
            const Reader::Step step{reader, key};
            read(reader, element, into[std::string{key}]);
        }
    } else if constexpr (is_described<T>) {
        const auto* object = value.if_object();
        if (!object) return reader.complain("must be an object");
        boost::mp11::mp_for_each<Members<T>>([&](auto member) {
            static const std::string name = json_name(member.name);
            const auto* found = object->if_contains(name);
            if (!found) return;
            const Reader::Step step{reader, name};
            read(reader, *found, into.*member.pointer);
        });
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        std::int64_t number = 0;
        if (read_integer(reader, value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), number))
            into = static_cast<T>(number);
    } else {
        read_leaf(reader, value, into);
    }
}

template <class T>
void put(json::value& into, const T& value);

// Whether `raw` says the same as `value`, however it spells it.
template <class T>
bool says(const json::value& raw, const T& value) {
    Reader reader;
    T read_back{};
    read(reader, raw, read_back);
    return reader.wrong.empty() && read_back == value;
}

template <class T>
bool same_key(const json::value& raw, const T& value) {
    if constexpr (is_described<T>) {
        using First = boost::mp11::mp_front<Members<T>>;
        const auto* object = raw.if_object();
        const auto* found = object ? object->if_contains(json_name(First::name)) : nullptr;
        return found && says(*found, value.*First::pointer);
    }
    return false;
}

template <class T>
json::array list_of(const json::value& before, const std::vector<T>& values) {
    const auto* old = before.if_array();
    std::vector<bool> used(old ? old->size() : 0);
    std::vector<const json::value*> chosen(values.size());
    const auto choose = [&](auto fits) {
        for (std::size_t i = 0; i < values.size(); ++i)
            for (std::size_t at = 0; !chosen[i] && at < used.size(); ++at)
                if (!used[at] && fits((*old)[at], values[i])) {
                    used[at] = true;
                    chosen[i] = &(*old)[at];
                }
    };
    choose([](const json::value& raw, const T& value) { return says(raw, value); });
    choose([](const json::value& raw, const T& value) { return same_key(raw, value); });
    json::array made;
    made.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        json::value element = chosen[i] ? *chosen[i] : json::value{};
        put(element, values[i]);
        made.push_back(std::move(element));
    }
    return made;
}

template <class T>
void put_members(json::object& into, const T& value) {
    const T initial{};
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
        using Field = std::remove_cvref_t<decltype(value.*member.pointer)>;
        static const std::string name = json_name(member.name);
        const auto& field = value.*member.pointer;
        auto* found = into.if_contains(name);
        if (found && found->is_object() && is_described<Field>) return put(*found, field);
        if (field == initial.*member.pointer) {
            if (found && !says(*found, field)) into.erase(name);
            return;
        }
        put(found ? *found : into[name], field);
    });
}

template <class T>
void put(json::value& into, const T& value) {
    if constexpr (IsOptional<T>::value) {
        put(into, *value);
    } else if constexpr (IsVector<T>::value) {
        into = list_of(into, value);
    } else if constexpr (IsMap<T>::value) {
        if (!into.is_object()) into.emplace_object();
        auto& object = into.get_object();
        std::vector<std::string> gone;
        for (const auto& entry : object)
            if (!value.contains(std::string{entry.key()})) gone.emplace_back(entry.key());
        for (const auto& key : gone) object.erase(key);
        for (const auto& [key, element] : value) put(object[key], element);
    } else if constexpr (is_described<T>) {
        if (!into.is_object()) into.emplace_object();
        put_members(into.get_object(), value);
    } else if (into.is_null() || !says(into, value)) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            into = leaf(static_cast<std::int64_t>(value));
        else
            into = leaf(value);
    }
}

Result<> verdict(Reader reader, std::string_view what);

}  // namespace detail

template <class T>
Result<T> read_object(const json::object& from) {
    detail::Reader reader;
    T into{};
    boost::mp11::mp_for_each<detail::Members<T>>([&](auto member) {
        static const std::string name = detail::json_name(member.name);
        const auto* found = from.if_contains(name);
        if (!found) return;
        const detail::Reader::Step step{reader, name};
        detail::read(reader, *found, into.*member.pointer);
    });
    TRY(detail::verdict(std::move(reader), T::kind.name));
    return into;
}

template <class T>
json::object write_onto(const T& value, json::object before) {
    detail::put_members(before, value);
    return before;
}

}  // namespace hostler::kubernetes

#define KUBERNETES_JSON(T)                                                                \
    template hostler::Result<T> hostler::kubernetes::read_object<T>(const json::object&); \
    template boost::json::object hostler::kubernetes::write_onto<T>(const T&, json::object);
