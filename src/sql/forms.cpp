#include "sql/forms.h"

#include <algorithm>

namespace hostler::sql {

Result<std::vector<Form>> read_forms(Connection& connection, std::string_view select,
                                     std::initializer_list<std::string_view> number_types) {
    std::vector<Form> forms;
    std::vector<std::pair<std::uint64_t, std::size_t>> key;  // Place in the key, place in the row.
    const auto finish = [&] {
        std::ranges::sort(key);
        for (const auto& [order, column] : key) forms.back().key.push_back(column);
        key.clear();
    };
    TRY(connection.run(select, {}, [&](const Row& row) {
        if (forms.empty() || forms.back().table != row.text(0)) {
            if (!forms.empty()) finish();
            forms.push_back({.table = row.text(0)});
        }
        if (row.number(3) != 0) key.emplace_back(row.number(3), forms.back().columns.size());
        forms.back().columns.push_back({row.text(1), std::ranges::count(number_types, row.text(2)) > 0});
    }));
    if (!forms.empty()) finish();
    return forms;
}

}  // namespace hostler::sql
