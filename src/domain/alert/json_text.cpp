#include "domain/alert/json_text.h"

#include <fmt/format.h>

#include <cmath>

namespace hostler::alert {

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (byte < 0x20)
            out += fmt::format("\\u{:04x}", byte);
        else
            out += c;
    }
    return out += '"';
}

std::string json_object(const std::map<std::string, std::string>& members) {
    std::string out = "{";
    for (const auto& [name, value] : members) {
        if (out.size() > 1) out += ',';
        out += json_string(name) + ':' + json_string(value);
    }
    return out += '}';
}

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

}  // namespace hostler::alert
