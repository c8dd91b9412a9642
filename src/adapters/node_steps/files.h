// Files that are whole whenever somebody reads them.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::node_steps {

// Replaces the file by a new one, which is on the disk when it returns; makes its parent folders. A link of
// that name is replaced, not followed. Whether the file had another text or mode before, or was not there.
// Errors: exhausted (disk_full), conflict (a folder has the name), unavailable. No message has the text.
Result<bool> write_whole(const std::string& path, std::string_view text, unsigned mode);

}  // namespace hostler::node_steps
