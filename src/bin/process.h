// What every role's process has: one loop, the real world on it, a clean end on SIGTERM and SIGINT.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/net/net.h"
#include "core/task_group.h"
#include "ports/certified.h"

namespace hostler::bin {

struct Process {
    Process();
    Loop loop{1};
    std::unique_ptr<Timers> timers;
    std::unique_ptr<Net> net;
    std::unique_ptr<Random> random;
    // What is to end in order before all of it is cancelled.
    std::function<Task<>()> leave;
};

// Runs `body` to its end; the first SIGTERM or SIGINT calls `leave`, if there is any, and then cancels it,
// the second ends the process at once. Gives
// the exit code: 0, or 1 with the error on standard error.
int run_until_signalled(Process& process, Task<> body);

std::string read_file(const std::filesystem::path& path);  // Empty when there is none.
// Whole or not at all, for the owner alone. Errors: unavailable.
Result<> write_file(const std::filesystem::path& path, std::string_view text);
// Makes a folder for its owner alone (0700), and what is missing above it. One that is there becomes so,
// unless it is another user's or everybody's (sticky, as /tmp). Errors: unavailable.
Result<> make_own_folder(const std::filesystem::path& path);
std::filesystem::path program_folder();  // Where this executable lies.
// Of instance templates and recipes of images: beside this executable, or where packages put them; empty:
// nowhere.
std::filesystem::path template_folder();

// Puts a renewed certificate, and whom to believe, in the place of those in `folder`.
Certified::Keep keep_certificate(std::filesystem::path folder);
// Credentials as a role finds them: certificate.pem, key.pem, authority.pem in `folder`. Errors: not_found.
Result<std::shared_ptr<const Credentials>> load_credentials(const std::filesystem::path& folder);
// Has them made by the authority in `authority_folder`, unless there are some that last, key and certificate.
// `names` are those that it shall have; none: those of the certificate that was there. Errors: invalid, with
// each wrong name.
Result<> issue_credentials(Process& process, const std::filesystem::path& authority_folder,
                           const std::filesystem::path& folder, const std::string& role,
                           const std::string& id, const ServerNames& names = {});

}  // namespace hostler::bin
