// What a wrong name was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostler::master {

// Of more names only these are compared: each costs some microseconds of the master's one thread.
inline constexpr std::size_t near_names_max = 256;

// "there is no spec h100-3; did you mean h100-2?" `known` are those that the caller may know of.
std::string no_such(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);

// Of a table whose ids are the names.
template <class Table>
std::string no_such_in(const Table& table, std::string_view kind, std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& [id, row] : table.all()) {
        if (known.size() == near_names_max) break;
        known.push_back(id);
    }
    return no_such(kind, name, known);
}

}  // namespace hostler::master
