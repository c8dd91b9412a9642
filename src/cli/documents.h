// What files and standard input say: JSON or YAML, one object or many.
#pragma once

#include "cli/world.h"
#include "cli/yaml.h"

namespace hostler::cli {

// Of a file, or of standard input for "-": several YAML documents, a JSON array, or one object; empty
// documents are left out. Errors: invalid (it cannot be read, is larger than 4 MiB, or says anything but
// objects), with the line.
// All of a file, or of standard input for "-". Errors: invalid (it cannot be read, or is larger than 4 MiB).
Result<std::string> read_text(const std::string& path, const CliWorld& world);
Result<std::vector<Document>> read_documents(const std::string& path, const CliWorld& world);

}  // namespace hostler::cli
