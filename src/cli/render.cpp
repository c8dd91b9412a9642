#include "cli/render.h"

#include <fmt/format.h>

#include "api/indent.h"
#include "cli/client.h"
#include "cli/cluster.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "cli/series.h"
#include "cli/table.h"
#include "cli/yaml.h"
#include "core/base64.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

using api::Kind;

// RFC 4180. What has parts of its own stands in its field as JSON.
std::string csv(const std::vector<std::string>& columns, const json::array& items) {
    if (columns.empty()) return {};
    std::string out;
    for (const std::string& column : columns)
        out += (&column == &columns.front() ? "" : ",") + csv_field(column);
    out += "\r\n";
    for (const json::value& item : items) {
        bool first = true;
        for (const std::string& column : columns) {
            if (!std::exchange(first, false)) out += ',';
            const json::value* value = field_of(item, column);
            if (!value || value->is_null()) continue;
            // A number is no text: -5 stays what it is.
            out += value->is_string()   ? csv_field(value->get_string())
                   : value->is_number() ? api::compact(*value)
                                        : csv_field(safe_json(api::compact(*value)));
        }
        out += "\r\n";
    }
    return out;
}

std::string csv(const api::Schema& schema, const json::array& items) {
    std::vector<std::string> columns;
    for (const api::Property& property : schema.properties) columns.push_back(property.name);
    return csv(columns, items);
}

std::string lines_of(const api::Property& property, const json::value& value, const Style& style,
                     std::size_t indent);

// What the cell says; lists and maps that are long have a line for each element, below the first at `column`.
std::string long_cell(const api::Property& property, const json::value& value, const Style& style,
                      std::size_t column) {
    constexpr std::size_t one_line = 100;
    std::string whole = cell(property, value, style, true);
    if (whole.size() <= one_line) return whole;
    std::vector<std::string> parts;
    if (const auto* array = value.if_array())
        for (const json::value& one : *array) parts.push_back(cell(property, json::array{one}, style, true));
    else if (const auto* object = value.if_object(); object && property.schema->kind == Kind::map)
        for (const auto& one : *object)
            parts.push_back(cell(property, json::object{{one.key(), one.value()}}, style, true));
    if (parts.empty()) return whole;
    return fmt::format("{}", fmt::join(parts, fmt::format("\n{:{}}", "", column)));
}

// Name and value, one a line; lists of objects below their name.
std::string details(const api::Schema& schema, const json::value& object, const Style& style,
                    std::size_t indent) {
    std::size_t width = 0;
    std::vector<std::pair<const api::Property*, const json::value*>> rows;
    for (const api::Property& property : schema.properties) {
        const json::value* value = field_of(object, property.name);
        if (!value || value->is_null()) continue;
        if (value->is_string() && value->get_string().empty()) continue;
        if (value->is_array() && value->get_array().empty()) continue;
        if (property.schema->kind == Kind::map && value->is_object() && value->get_object().empty()) continue;
        rows.emplace_back(&property, value);
        width = std::max(width, property.name.size());
    }
    std::string out;
    for (const auto& [property, value] : rows) {
        const bool nested =
            property->schema->kind == Kind::object ||
            (property->schema->kind == Kind::list && property->schema->element->kind == Kind::object);
        out += fmt::format("{:{}}{:<{}}", "", indent, property->name + ":", nested ? 0 : width + 2);
        if (nested)
            out += "\n" + lines_of(*property, *value, style, indent + 2);
        else
            out += painted(*property, long_cell(*property, *value, style, indent + width + 2), style) + "\n";
    }
    return out;
}

// Where it is, and how much one may there: `-o json` names the permissions.
std::string scope_line(const json::value& scope) {
    std::string where;
    for (const std::string_view name : {"level", "tenantID", "project", "provider"}) {
        const json::value* value = field_of(scope, name);
        if (!value || !value->is_string() || value->get_string().empty()) continue;
        where += (where.empty() ? "" : " ") + safe_line(value->get_string());
    }
    const json::value* all = field_of(scope, "permissions");
    return fmt::format("{}: {} permissions", where, all && all->is_array() ? all->get_array().size() : 0);
}

std::string lines_of(const api::Property& property, const json::value& value, const Style& style,
                     std::size_t indent) {
    if (property.schema->kind == Kind::object) return details(*property.schema, value, style, indent);
    if (property.schema->element->name == "ClusterNode")
        return cluster_nodes(*property.schema->element, value.get_array(), style, indent);
    std::string out;
    for (const json::value& element : value.get_array()) {
        if (property.schema->element->name == "WhoamiScope") {
            out += fmt::format("{:{}}{}\n", "", indent, scope_line(element));
            continue;
        }
        std::vector<std::string> parts;
        std::string below;
        for (const api::Property& inner : property.schema->element->properties)
            if (const json::value* found = field_of(element, inner.name)) {
                auto text = long_cell(inner, *found, style, indent + inner.name.size() + 4);
                if (text.contains('\n'))
                    below += fmt::format("{:{}}{}: {}\n", "", indent + 2, inner.name, text);
                else if (!text.empty() && text != "no")
                    parts.push_back(fmt::format("{} {}", inner.name, text));
            }
        out += fmt::format("{:{}}{}\n{}", "", indent, fmt::join(parts, ", "), below);
    }
    return out;
}

}  // namespace

std::string json_text(const json::value& value) { return safe_json(api::indented(value)) + "\n"; }

std::string log_bytes(const json::value& logs) {
    const auto text = [&](std::string_view name) {
        const json::value* value = field_of(logs, name);
        return value && value->is_string() ? std::string{value->get_string()} : std::string{};
    };
    const std::string encoded = text("base64");
    return encoded.empty() ? text("text") : base64_decoded(encoded);
}

std::string name_of(const api::Schema& schema, const json::value& object) {
    for (const std::string_view key : {"instanceID", "name", "id", "specName", "operationID"}) {
        // What has an id of its own and a name that need not be unique is called by the id.
        if (key == "name" && schema.find("id") && schema.name != "Volume") continue;
        if (const json::value* value = field_of(object, key);
            value && value->is_string() && !value->get_string().empty())
            return safe_line(value->get_string());
    }
    return {};
}

std::string render_list(const api::Operation& list, const json::array& items, const Style& style) {
    const api::Schema& item = *list.response().find("items")->schema->element;
    switch (style.format) {
        case Format::json: return json_text(items);
        case Format::yaml: return to_yaml(items);
        case Format::csv: return csv(item, items);
        case Format::name: {
            std::string out;
            for (const json::value& one : items) out += name_of(item, one) + "\n";
            return out;
        }
        case Format::html: break;  // Reports alone are pages.
        case Format::table: return items.empty() ? "" : Table{list, style}.rows(items);
    }
    broken("a format outside its enum", __FILE__, __LINE__);
}

std::string render_results(const json::array& results, Format format) {
    if (format == Format::json) return json_text(results);
    if (format == Format::yaml) return to_yaml(results);
    std::vector<std::string> columns;
    if (!results.empty())
        for (const auto& entry : results.front().get_object()) columns.emplace_back(entry.key());
    return csv(columns, results);
}

std::string render_object(const api::Operation& operation, const json::value& object, const Style& style) {
    const api::Schema& schema = operation.response();
    if (schema.name == "SeriesAnswer" && (style.format == Format::table || style.format == Format::csv))
        if (const auto rendered = render_series(object, style)) return *rendered;
    if (is_report(operation))
        if (const auto rendered = render_report(operation, object, style)) return *rendered;
    switch (style.format) {
        case Format::json: return json_text(object);
        case Format::yaml: return to_yaml(object);
        case Format::csv: return csv(schema, json::array{object});
        case Format::name: return name_of(schema, object) + "\n";
        case Format::html:
        case Format::table: break;
    }
    if (const auto explained = render_explanation(schema, object, style)) return *explained;
    if (schema.name == "Logs") {
        const std::string bytes = log_bytes(object);
        return style.terminal ? safe_log(bytes) : bytes;
    }
    if (schema.name == "ReportDocument") {
        const json::value* text = field_of(object, "text");
        if (!text || !text->is_string()) return "";
        return style.terminal ? safe_log(text->get_string()) : std::string(text->get_string());
    }
    if (schema.name == "InstanceStateAnswer") {
        const json::value* state = field_of(object, "state");
        return state && state->is_string() ? safe_line(state->get_string()) + "\n" : "";
    }
    return details(schema, object, style, 0);
}

}  // namespace hostler::cli
