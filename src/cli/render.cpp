#include "cli/render.h"

#include <fmt/format.h>

#include <cctype>

#include "api/indent.h"
#include "cli/client.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "cli/series.h"
#include "cli/yaml.h"
#include "core/base64.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

using api::Kind;

std::string heading(const api::Property& property) {
    std::string_view name = property.name;
    if (property.schema->kind == Kind::time) {
        if (name == "createdAt" || name == "time") return "AGE";
        if (name.ends_with("At")) name.remove_suffix(2);
    }
    for (const std::string_view unit :
         {"Bytes", "Percent", "Milli", "Celsius", "Watts"})  // The cells say it.
        if (name.ends_with(unit) && name.size() > unit.size()) name.remove_suffix(unit.size());
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool capital = name[i] >= 'A' && name[i] <= 'Z';
        if (capital && i > 0 && !(name[i - 1] >= 'A' && name[i - 1] <= 'Z')) out += ' ';
        out += static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
    }
    return out;
}

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

std::string painted(const api::Property& property, std::string text, const Style& style) {
    if (!style.colour || property.schema->kind != Kind::enumeration || property.name != "state") return text;
    return fmt::format("{}{}\x1b[0m", colour_of(text), text);
}

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

// What rows that come later are likely to need.
std::size_t least_width(const api::Property& property) {
    constexpr std::size_t age_width = 4, name_width = 12, url_width = 40;  // "119m"; "i-7k2m9xqy4n"
    std::size_t width = 0;
    for (const std::string_view value : property.schema->values) width = std::max(width, value.size());
    if (property.schema->kind == Kind::time) width = age_width;
    if (property.schema->kind == Kind::text) width = name_width;
    if (property.name == "urls") width = url_width;
    return width;
}

}  // namespace

Table::Table(const api::Operation& list, const Style& style, More more) : style_(style), more_(more) {
    const api::Schema& item = list.stream ? list.response() : *list.response().find("items")->schema->element;
    std::string_view names = list.columns;
    while (!names.empty()) {
        const auto name = names.substr(0, names.find(' '));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        const api::Property* property = item.find(name);
        HOSTLER_ASSERT(property);
        const Kind kind = property->schema->kind;
        columns_.push_back({property, heading(*property), 0, kind == Kind::integer || kind == Kind::number});
    }
}

void Table::choose(const std::vector<std::vector<std::string>>& cells) {
    std::vector<Column> kept;
    std::size_t state = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        Column& column = columns_[i];
        if (column.property->name == "state") state = i;
        bool empty = true;
        bool echo = state < i && more_ == More::none;
        column.width =
            std::max(shown(column.head), more_ == More::follow ? least_width(*column.property) : 0);
        for (const auto& row : cells) {
            column.width = std::max(column.width, shown(row[i]));
            empty = empty && row[i].empty();
            echo = echo && row[i] == row[state];
        }
        // Rows that come later may fill what is empty now.
        if ((!empty && !echo) || i == 0 || more_ == More::follow) kept.push_back(column);
    }
    columns_ = std::move(kept);
    if (style_.columns > 0) fit(static_cast<std::size_t>(style_.columns));
}

// Words in the last column give way, down to what still reads; then whole columns, from the end.
void Table::fit(std::size_t room) {
    constexpr std::size_t words_min = 12;
    std::size_t total = 2 * (columns_.size() - 1);
    for (const Column& column : columns_) total += column.width;
    while (total > room) {
        Column& last = columns_.back();
        const std::size_t over = total - room;
        const bool words = last.property->schema->kind == Kind::text;
        if ((words && last.width >= over + words_min) || columns_.size() == 1) {
            last.width = std::max(last.width - std::min(last.width, over), words_min);
            return;
        }
        left_out_.insert(left_out_.begin(), last.head);
        total -= last.width + 2;
        columns_.pop_back();
    }
}

std::string Table::line(const std::vector<std::string>& cells, bool coloured) const {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Column& column = columns_[i];
        const bool last = i + 1 == columns_.size();
        std::string text = cells[i].empty() && coloured ? "-" : cells[i];
        const bool follows = more_ == More::follow && i > 0;  // Names are whole, also where they are longer.
        if ((last || follows) && style_.columns > 0)
            text = cut(std::move(text), std::max<std::size_t>(column.width, 2));
        const std::size_t wide = shown(text);
        const std::string pad(column.width > wide ? column.width - wide : 0, ' ');
        if (coloured) text = painted(*column.property, std::move(text), style_);
        if (i > 0) out += "  ";
        if (column.right)
            out += pad + text;
        else
            out += last ? text : text + pad;
    }
    return out + "\n";
}

std::string Table::rows(const json::array& items) {
    const auto cells_of = [&](const json::value& item) {
        std::vector<std::string> cells;
        for (const Column& column : columns_) {
            const json::value* value = field_of(item, column.property->name);
            cells.push_back(value ? cell(*column.property, *value, style_, false) : "");
        }
        return cells;
    };
    std::string out;
    if (!std::exchange(begun_, true)) {
        std::vector<std::vector<std::string>> all;
        for (const json::value& item : items) all.push_back(cells_of(item));
        choose(all);
        std::vector<std::string> head;
        for (const Column& column : columns_) head.push_back(column.head);
        out += line(head, false);
    }
    for (const json::value& item : items) out += line(cells_of(item), true);
    return out;
}

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
