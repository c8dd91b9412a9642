// Answers as text: for people, for programs.
#pragma once

#include <boost/json.hpp>

#include "api/operation.h"
#include "api/schema.h"
#include "core/timers.h"

namespace hostler::cli {

namespace json = boost::json;

enum class Format { table, json, yaml, csv, name, html };
// Errors: invalid.
Result<Format> parse_format(std::string_view text);

// With "…" for what a terminal has no room for in so many columns, one for each character.
std::string cut(std::string text, std::size_t width);

// Between the clock of the machine that wrote a time and ours.
inline constexpr std::chrono::seconds clock_skew{5};

struct Style {
    Format format = Format::table;
    bool colour = false;
    bool terminal = false;
    int columns = 0;  // Of the terminal; 0: as wide as need be.
    WallTime now;     // For ages.
};

// A table whose columns keep their widths for rows that come later (--watch).
class Table {
public:
    enum class More { none, follow };
    Table(const api::Operation& list, const Style& style, More more = More::none);
    // With a head the first time. When no rows follow, columns that are empty in all of these first rows are
    // left out, and those that say in each row what its state says.
    std::string rows(const json::array& items);
    // Heads of the columns for which the terminal has no room; known from the first rows on.
    const std::vector<std::string>& left_out() const { return left_out_; }

private:
    struct Column {
        const api::Property* property = nullptr;
        std::string head;
        std::size_t width = 0;
        bool right = false;
    };
    void choose(const std::vector<std::vector<std::string>>& cells);
    void fit(std::size_t room);
    std::string line(const std::vector<std::string>& cells, bool coloured) const;

    Style style_;
    More more_;
    std::vector<Column> columns_;
    std::vector<std::string> left_out_;
    bool begun_ = false;
};

std::string render_list(const api::Operation& list, const json::array& items, const Style& style);
// Objects that are no answer of the API, with the same fields each; not as a table.
std::string render_results(const json::array& results, Format format);
std::string render_object(const api::Operation& operation, const json::value& object, const Style& style);

// How its kind is called by people: "notebook-1" of an instance.
std::string name_of(const api::Schema& schema, const json::value& object);
// One field for people: ages, GiB, colours left out.
std::string cell(const api::Property& property, const json::value& value, const Style& style, bool long_form);
// "3m", "in 29d". What lies ahead by no more than clocks may differ is now: "0s".
std::string age(WallTime then, WallTime now);
// Indented, with a line break; it steers no terminal.
std::string json_text(const json::value& value);
std::string bytes_text(std::int64_t bytes);  // "80 GiB"
// What an answer to get_instance_logs has, byte for byte.
std::string log_bytes(const json::value& logs);

}  // namespace hostler::cli
