// For tests: the indexes of the estate's tables are compared with indexes that are rebuilt from the rows.
#pragma once

#include <fmt/format.h>

#include <string>

#include "roles/master/state/estate.h"

namespace hostler::master::testing {

// What is wrong with those of one table; empty: nothing.
template <HasIndexes T>
std::string index_is_wrong(const Table<T>& table) {
    Indexes<T> anew;
    IndexedRows<T> rows;
    for (const auto& [id, row] : table.all())
        Indexes<T>::each(anew, [entry = &rows.note(id, &row)](auto& index) { index.put(*entry); });
    std::vector<const void*> known;
    Indexes<T>::each(table.by(), [&](const auto& index) { known.push_back(&index); });
    std::string wrong;
    std::size_t at = 0;
    Indexes<T>::each(anew, [&]<class One>(One& index) {
        if (!index.same_as(*static_cast<const One*>(known[at++])))
            wrong = fmt::format("index {} of {} is not as its rows are", at, Kind<T>::name);
    });
    return wrong;
}

// Of all.
inline std::string index_is_wrong(const Estate& estate) {
    std::string wrong;
    estate.each_table_of([&]<class T>(const Table<T>& table) {
        if constexpr (HasIndexes<T>)
            if (std::string of_it = index_is_wrong(table); !of_it.empty()) wrong = std::move(of_it);
    });
    return wrong;
}

}  // namespace hostler::master::testing
