// Templates as folders of files.
#pragma once

#include <filesystem>
#include <vector>

#include "domain/template/template.h"

namespace hostler::bin {

// Every folder of `folder` that has a template.toml, in the order of their names. Its image is what it says,
// or the one that the recipe beside it makes. Errors: invalid, naming each file and what is wrong with it.
Result<std::vector<InstanceTemplate>> read_templates(const std::filesystem::path& folder);

}  // namespace hostler::bin
