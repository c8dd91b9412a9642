// The number of a cloud beside its certificate authority (sql/cloud.h): the file `cloud` in that folder.
#pragma once

#include <filesystem>
#include <memory>

#include "core/random.h"
#include "sql/cloud.h"

namespace hostler::bin {

inline constexpr const char* cloud_mark_file = "cloud";

// As it stands there; an authority without one, that has sealing keys, has served a store of an older
// release. Errors: unavailable: the file is there and cannot be read or understood ("cloud_mark_damaged").
Result<std::shared_ptr<sql::Cloud>> read_cloud_mark(const std::filesystem::path& authority_folder,
                                                    Random& random);
// A folder that cannot be written to only warns: the cloud runs on, and has no guard.
void keep_cloud_mark(const std::filesystem::path& authority_folder, const sql::Cloud& cloud);

}  // namespace hostler::bin
