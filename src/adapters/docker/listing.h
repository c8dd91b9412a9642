// All containers of a label, also where the engine cannot look at one of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"

namespace hostler::docker {

// Those with `label` ("name" or "name=value"), whether they run or not; those that have ended with their exit
// codes. Podman lists none at all when it cannot look at one, as when somebody removed the mount of its
// network namespace: that one is looked at by itself. If that fails too it comes with its id and an error
// only, as ports/engine.h has it. `told`: ids of those that the log has named already. Errors: unavailable,
// timeout.
Task<std::vector<Inspected>> list_containers(Api& api, std::string label, Duration call_time,
                                             std::set<std::string>& told);

// GET /containers/x/json; nullopt: there is none. `root`: as of parse_inspect(). Errors: unavailable,
// timeout.
Task<std::optional<Inspected>> inspect_container(Api& api, std::string name, Duration call_time,
                                                 std::string root = {});

// The id of the container that an engine's error is about; empty: it names none.
std::string container_named(std::string_view words);
// A regular expression for ids that begin as none of these do. The expressions of engines know no negation.
std::string all_ids_but(const std::set<std::string>& ids);

}  // namespace hostler::docker
