#include "bin/program_options.h"

#include <fmt/format.h>

#include <charconv>

#include "adapters/program/holder.h"
#include "bin/program_devices.h"
#include "roles/agent/tenant_ids.h"

namespace hostler::bin {

namespace {

// Beside the users that containers of tenants have on this host.
Result<program::ProgramIds> parse_users(std::string_view text) {
    constexpr std::uint32_t count_max = 1 << 20, last_max = 4'000'000'000, lowest = 100'000;
    constexpr std::uint64_t others_first = agent::TenantIds::first;
    constexpr std::uint64_t others_end =
        others_first + std::uint64_t{agent::TenantIds::tenants_max} * IdRange::size;
    const auto number = [](std::string_view digits) -> std::uint32_t {
        std::uint32_t value = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() ? value : 0;
    };
    const auto colon = text.find(':');
    const std::uint32_t first = number(text.substr(0, colon));
    const std::uint32_t count = colon == text.npos ? 0 : number(text.substr(colon + 1));
    if (first < lowest || count < 2 || count > count_max || first > last_max - count)
        return fail(Code::invalid,
                    fmt::format("--program-users '{}': write FIRST:COUNT, as 1800000000:4096, from {} on, 2 "
                                "to {} of them",
                                text, lowest, count_max));
    if (first < others_end && others_first < std::uint64_t{first} + count)
        return fail(Code::invalid,
                    fmt::format("--program-users '{}': the users from {} to {} are those of containers", text,
                                others_first, others_end - 1));
    return program::ProgramIds{first, count};
}

}  // namespace

void ProgramOptions::add_to(CLI::App& app) {
    app.add_flag("--programs", allowed,
                 "Jobs of tenants that may do so run programs without containers, which read files of this "
                 "host (docs/operate/programs.md)");
    app.add_option("--program-users", users,
                   "FIRST:COUNT, numbers of users that programs have, which nothing else on this host uses")
        ->capture_default_str();
    app.add_option("--program-network", network,
                   "none: a program reaches nothing but itself; host: it shares the network of this host, "
                   "with all that listens on 127.0.0.1")
        ->check(CLI::IsMember({"none", "host"}))
        ->capture_default_str();
    app.add_option("--program-hide", hidden, "Folder that programs see empty; may be repeated")
        ->delimiter(',');
}

Result<> check(const ProgramOptions& options) {
    TRY(parse_users(options.users));
    for (const std::string& folder : options.hidden)
        if (!folder.starts_with('/') || folder == "/")
            return fail(Code::invalid,
                        fmt::format("--program-hide '{}': write an absolute path other than /", folder));
    return {};
}

program::ProgramSettings program_settings(const ProgramOptions& options, const std::filesystem::path& data,
                                          docker::EngineSettings devices) {
    const auto users = parse_users(options.users).value_or(program::ProgramIds{});
    program::ProgramSettings settings{.state_folder = data / program_state,
                                      .holder = {"/proc/self/exe", program::hold_command},
                                      .ids = {users.first + 1, users.count - 1},
                                      .devices = program_devices(std::move(devices)),
                                      .share_network = options.network == "host"};
    settings.hidden.push_back(data);
    settings.hidden.insert(settings.hidden.end(), options.hidden.begin(), options.hidden.end());
    settings.mount_owner = users.first;  // Of files in volumes, and of no program.
    return settings;
}

}  // namespace hostler::bin
