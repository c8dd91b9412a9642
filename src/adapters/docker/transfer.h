// Files in and out of containers, as tar archives over the engine's API.
#pragma once

#include <memory>

#include "core/task_group.h"
#include "http/client.h"
#include "ports/exec.h"

namespace hostler::docker {

// Between two pieces: whoever is at the other end may be slow.
inline constexpr Duration transfer_idle_time = std::chrono::minutes{10};

ProcessPtr archive_from(http::ReplyPtr reply);
// Begins at once.
ProcessPtr archive_to(Loop& loop, http::Client& client, http::Endpoint engine, std::string target,
                      std::function<Error(int status, std::string_view body)> refused);

}  // namespace hostler::docker
