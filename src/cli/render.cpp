#include "cli/render.h"

#include <fmt/format.h>

#include <cctype>

#include "api/indent.h"
#include "cli/client.h"
#include "cli/report.h"
#include "cli/series.h"
#include "cli/yaml.h"
#include "core/base64.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

using api::Kind;
using api::Unit;

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

const json::value* field_of(const json::value& object, std::string_view name) {
    return object.is_object() ? object.get_object().if_contains(name) : nullptr;
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
            out += painted(*property, cell(*property, *value, style, true), style) + "\n";
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
        for (const api::Property& inner : property.schema->element->properties)
            if (const json::value* found = field_of(element, inner.name)) {
                auto text = cell(inner, *found, style, true);
                if (!text.empty() && text != "no") parts.push_back(fmt::format("{} {}", inner.name, text));
            }
        out += fmt::format("{:{}}{}\n", "", indent, fmt::join(parts, ", "));
    }
    return out;
}

std::string explanation(const json::value& object, const Style& style) {
    const auto text = [&](std::string_view name) {
        const json::value* value = field_of(object, name);
        return value && value->is_string() ? safe_line(value->get_string()) : std::string{};
    };
    std::string out = fmt::format("{} ({})\n", text("sentence"), text("token"));
    if (const json::value* blocking = field_of(object, "blocking"); blocking && blocking->is_array()) {
        std::size_t width = 0;
        for (const json::value& one : blocking->get_array())
            if (const auto* host = field_of(one, "host"); host && host->is_string())
                width = std::max(width, host->get_string().size());
        for (const json::value& one : blocking->get_array()) {
            const auto* host = field_of(one, "host");
            const auto* reason = field_of(one, "reason");
            if (host && reason && host->is_string() && reason->is_string())
                out += fmt::format("  {:<{}}  {}\n", safe_line(host->get_string()), width,
                                   safe_line(reason->get_string()));
        }
    }
    if (const auto help = text("wouldHelp"); !help.empty()) out += fmt::format("Would help: {}\n", help);
    return out;
}

std::string milli_percent(const json::value& object, std::string_view name) {
    const json::value* value = field_of(object, name);
    return value && value->is_number() ? fmt::format("{:.0f} %", value->to_number<double>() / 10) : "";
}

// "Expected start: 2026-01-01 12:00" for a field that is there.
std::string row_of(const api::Schema& schema, const json::value& object, std::string_view title,
                   std::string_view name, const Style& style) {
    const json::value* value = field_of(object, name);
    const api::Property* property = schema.find(name);
    if (!value || value->is_null() || !property) return {};
    return fmt::format("{}: {}\n", title, cell(*property, *value, style, true));
}

std::string job_explanation(const api::Schema& schema, const json::value& object, const Style& style) {
    std::string out = explanation(object, style);
    out += row_of(schema, object, "Before it", "position", style);
    out += row_of(schema, object, "Expected start", "expectedStart", style);
    if (const json::value* shares = field_of(object, "shares"); shares && shares->is_array())
        for (const json::value& one : shares->get_array())
            out +=
                fmt::format("Queue {}: {} of the cloud, entitled to {}\n", safe_line(text_of(one, "queue")),
                            milli_percent(one, "shareMilli"), milli_percent(one, "entitledMilli"));
    return out;
}

// The answer of a dry run.
std::string job_plan(const api::Schema& schema, const json::value& plan, const Style& style) {
    std::string out = safe_line(text_of(plan, "sentence")) + "\n";
    out += row_of(schema, plan, "Expected start", "expectedStart", style);
    const json::value* hosts = field_of(plan, "hosts");
    if (hosts && hosts->is_array() && !hosts->get_array().empty())
        out += row_of(schema, plan, "Hosts", "hosts", style);
    return out;
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

namespace {

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
    if (schema.name == "Explanation") return explanation(object, style);
    if (schema.name == "JobExplanation") return job_explanation(schema, object, style);
    if (const json::value* plan = schema.name == "Job" ? field_of(object, "plan") : nullptr;
        plan && plan->is_object())
        return job_plan(*schema.find("plan")->schema, *plan, style);
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
