#include "api/indent.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "api/codec_define.h"

namespace hostler::api {

namespace {

namespace json = boost::json;

void write(std::string& out, const json::value& value, std::size_t depth, bool flat) {
    const auto line = [&](std::size_t at) {
        if (!flat) out.append("\n").append(at * 2, ' ');
    };
    const auto next = [&](bool& first) {
        if (!std::exchange(first, false)) out += ',';
        line(depth + 1);
    };
    bool first = true;
    if (const auto* object = value.if_object(); object && !object->empty()) {
        out += '{';
        for (const auto& entry : *object) {
            next(first);
            out.append(json::serialize(json::string(entry.key()))).append(flat ? ":" : ": ");
            write(out, entry.value(), depth + 1, flat);
        }
        line(depth);
        out += '}';
    } else if (const auto* array = value.if_array(); array && !array->empty()) {
        flat = flat || std::all_of(array->begin(), array->end(),
                                   [](const json::value& one) { return one.is_primitive(); });
        out += '[';
        for (const auto& element : *array) {
            next(first);
            write(out, element, depth + 1, flat);
        }
        line(depth);
        out += ']';
    } else if (const double* number = value.if_double()) {
        detail::write_number(out, *number);
    } else {
        out += json::serialize(value);
    }
}

}  // namespace

std::string indented(const json::value& value) {
    std::string out;
    write(out, value, 0, false);
    return out;
}

std::string compact(const json::value& value) {
    std::string out;
    write(out, value, 0, true);
    return out;
}

std::string plain_number(double number) {
    constexpr double least = 1e-12, most = 1e15;
    const double size = std::abs(number);
    if (size != 0 && (size < least || size >= most)) return fmt::format("{}", number);
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    return {text.data(), end.ptr};
}

}  // namespace hostler::api
