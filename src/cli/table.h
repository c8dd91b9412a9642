// Lists as tables.
#pragma once

#include "api/operation.h"
#include "cli/cell.h"

namespace hostler::cli {

// A table whose columns keep their widths for rows that come later (--watch).
class Table {
public:
    enum class More { none, follow };
    Table(const api::Operation& list, const Style& style, More more = More::none);
    // `columns`: names of properties, with spaces.
    Table(const api::Schema& item, std::string_view columns, const Style& style, More more = More::none);
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

}  // namespace hostler::cli
