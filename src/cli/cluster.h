// Nodes of a cluster as text for people.
#pragma once

#include <boost/json.hpp>

#include "api/schema.h"
#include "cli/text.h"

namespace hostler::cli {

// A table; below it the steps of each node that is not ready, with the seconds that each of them took, and
// what is wrong there.
std::string cluster_nodes(const api::Schema& node, const json::array& nodes, const Style& style,
                          std::size_t indent);

}  // namespace hostler::cli
