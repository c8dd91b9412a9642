// Drivers of clusters: those within this program, and those of a folder.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "ports/drivers.h"

namespace hostler::bin {

struct EmbeddedDriver {
    std::string_view name, text;
};
// drivers/NAME/driver.toml of the repository, in the order of their names.
std::span<const EmbeddedDriver> embedded_drivers();

// `where` names the text in messages. Errors: invalid, naming each thing that is wrong with it.
Result<Driver> parse_driver(std::string_view text, const std::string& name, const std::string& where);

// The embedded ones, and each folder of `folder` that has a driver.toml, which counts before an embedded one
// of its name; empty: none. Errors: invalid, naming each file and what is wrong with it.
Result<Drivers> load_drivers(std::span<const EmbeddedDriver> embedded, const std::filesystem::path& folder,
                             const Digest& digest);

}  // namespace hostler::bin
