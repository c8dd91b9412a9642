#include "cli/cell.h"

#include <fmt/format.h>

#include "api/indent.h"
#include "core/safe_text.h"

namespace hostler::cli {

using api::Kind;
using api::Unit;

namespace {

std::string_view colour_of(std::string_view state) {
    for (const std::string_view good : {"running", "ready", "healthy", "available", "attached", "up", "done"})
        if (state == good) return "\x1b[32m";
    for (const std::string_view bad :
         {"failed", "lost", "faulty", "unreachable", "down", "gone", "unresponsive"})
        if (state == bad) return "\x1b[31m";
    for (const std::string_view dull : {"stopped", "deleted", "retired", "init"})
        if (state == dull) return "\x1b[2m";
    return "\x1b[33m";
}

// What of an object inside a cell tells most.
std::string gist(const api::Schema& schema, const json::value& value, const Style& style) {
    const json::object* object = value.if_object();
    if (!object) return {};
    if (schema.name == "InstanceOwner") {  // As `--owner` takes it.
        const auto *kind = object->if_contains("kind"), *id = object->if_contains("id");
        if (kind && id && kind->is_string() && id->is_string())
            return safe_line(fmt::format("{}/{}", std::string_view{kind->get_string()},
                                         std::string_view{id->get_string()}));
    }
    for (const std::string_view key : {"url", "cidr", "name", "id", "zone"})
        if (const auto* found = object->if_contains(key);
            found && found->is_string() && !found->get_string().empty())
            return safe_line(found->get_string());
    for (const api::Property& property : schema.properties)
        if (const auto* found = object->if_contains(property.name)) {
            auto text = cell(property, *found, style, false);
            if (!text.empty()) return text;
        }
    return {};
}

}  // namespace

std::string cell(const api::Property& property, const json::value& value, const Style& style,
                 bool long_form) {
    const Unit unit = property.field ? property.field->unit : Unit::none;
    if (value.is_null()) return {};
    if (const bool* flag = value.if_bool())
        return *flag ? (long_form ? "yes" : property.name) : long_form ? "no" : "";
    if (value.is_number()) {
        const double number = value.to_number<double>();
        switch (unit) {
            case Unit::bytes: return bytes_text(static_cast<std::int64_t>(number));
            case Unit::percent: return fmt::format("{:.0f} %", number);
            case Unit::per_mille: return fmt::format("{:.0f} %", number / 10);
            case Unit::celsius: return fmt::format("{:.0f} °C", number);
            case Unit::watts: return fmt::format("{:.0f} W", number);
            case Unit::seconds: return fmt::format("{} s", number);
            case Unit::none: return api::compact(value);
        }
    }
    if (const auto* text = value.if_string()) {
        if (property.schema->kind != Kind::time) return safe_line(*text);
        const auto time = parse_rfc3339({text->data(), text->size()});
        if (!time) return safe_line(*text);
        std::string ago = age(*time, style.now);
        if (!long_form) return ago;
        if (ago == "0s")
            ago = "just now";
        else if (!ago.starts_with("in "))
            ago += " ago";
        return fmt::format("{} ({})", safe_line(*text), ago);
    }
    if (const auto* array = value.if_array()) {
        std::vector<std::string> parts;
        for (const json::value& element : *array) {
            auto part = element.is_string()        ? safe_line(element.get_string())
                        : property.schema->element ? gist(*property.schema->element, element, style)
                                                   : api::compact(element);
            if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
        }
        return fmt::format("{}", fmt::join(parts, ", "));
    }
    if (property.schema->kind == Kind::map && value.is_object()) {
        std::vector<std::string> parts;
        for (const auto& entry : value.get_object())
            parts.push_back(fmt::format("{}={}", safe_line(entry.key()),
                                        entry.value().is_string() ? safe_line(entry.value().get_string())
                                                                  : api::compact(entry.value())));
        return fmt::format("{}", fmt::join(parts, ", "));
    }
    return gist(*property.schema, value, style);
}

std::string painted(const api::Property& property, std::string text, const Style& style) {
    if (!style.colour || property.schema->kind != Kind::enumeration || property.name != "state") return text;
    return fmt::format("{}{}\x1b[0m", colour_of(text), text);
}

}  // namespace hostler::cli
