// Answers as text: for people, for programs.
#pragma once

#include <boost/json.hpp>

#include "api/operation.h"
#include "api/schema.h"
#include "cli/cell.h"

namespace hostler::cli {

namespace json = boost::json;

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
// Indented, with a line break; it steers no terminal.
std::string json_text(const json::value& value);
// What an answer to get_instance_logs has, byte for byte.
std::string log_bytes(const json::value& logs);

}  // namespace hostler::cli
