// The console's files (console/dist), as cmake/embed_console.cmake makes them a part of the program.
#pragma once

#include "http/static_files.h"

namespace hostler {

std::span<const http::StaticFile> console_files();  // Empty: the program was built without them.

}  // namespace hostler
