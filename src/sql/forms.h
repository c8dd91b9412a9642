// The tables of a database, as it describes them.
#pragma once

#include <initializer_list>

#include "sql/connection.h"

namespace hostler::sql {

// Of a SELECT of table, column, type, and place in the key from 1 (0: it is not in it), in order of tables.
// `number_types`: those of numbers.
Result<std::vector<Form>> read_forms(Connection& connection, std::string_view select,
                                     std::initializer_list<std::string_view> number_types);

}  // namespace hostler::sql
