#include "roles/master/state/near.h"

#include <fmt/format.h>

#include "api/schema.h"

namespace hostler::master {

std::string no_such(std::string_view kind, std::string_view name,
                    const std::vector<std::string_view>& known) {
    const auto meant = api::nearest(name, known);
    return fmt::format("there is no {} {}{}", kind, name,
                       meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

}  // namespace hostler::master
