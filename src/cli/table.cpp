#include "cli/table.h"

#include <fmt/format.h>

#include <cctype>

#include "cli/client.h"

namespace hostler::cli {

using api::Kind;

namespace {

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

Table::Table(const api::Operation& list, const Style& style, More more)
    : Table(list.stream ? list.response() : *list.response().find("items")->schema->element, list.columns,
            style, more) {}

Table::Table(const api::Schema& item, std::string_view columns, const Style& style, More more)
    : style_(style), more_(more) {
    while (!columns.empty()) {
        const auto name = columns.substr(0, columns.find(' '));
        columns.remove_prefix(std::min(columns.size(), name.size() + 1));
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

// Cuts text in the last column, to 12 characters at least; then leaves out columns, the last first.
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

}  // namespace hostler::cli
