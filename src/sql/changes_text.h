// Changes as bytes, for a log of commits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ports/store.h"

namespace hostler::sql {

// About as many bytes as put_changes() makes.
std::size_t size_of(const Changes& changes);
// Without the epoch: they were admitted. Later releases only add behind what is there.
void put_changes(std::string& into, const Changes& changes);
// Takes one from the front. Errors: invalid: it is not whole.
Result<Changes> take_changes(std::string_view& from);

}  // namespace hostler::sql
