// Instances from templates.
#pragma once

#include "domain/template/template.h"

namespace hostler::api {
struct CreateInstance;
}  // namespace hostler::api

namespace hostler::master {

const InstanceTemplate* find_template(const std::vector<InstanceTemplate>& known, std::string_view name);

// The request with everything filled in that it leaves to its template: image, ports, command, variables, and
// where storageID's volume goes. What the request says itself counts more. One without a template is given
// back as it is. Errors: invalid, naming the fields: no such template, wrong parameters, a volume that has no
// place.
Result<api::CreateInstance> filled_in(const std::vector<InstanceTemplate>& known,
                                      api::CreateInstance request);

}  // namespace hostler::master
