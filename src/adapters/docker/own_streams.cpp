#include "adapters/docker/own_streams.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "adapters/docker/oci_hook.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

// The host's number of user 0 in this map; nullopt: it maps no user 0.
std::optional<std::uint32_t> root_of(const std::string& map) {
    std::ifstream file{map};
    for (std::uint32_t inside = 0, outside = 0, count = 0; file >> inside >> outside >> count;)
        if (inside == 0 && count > 0) return outside;
    return std::nullopt;
}

}  // namespace

std::string streams_hook_file(const std::string& agent) {
    return oci_hook_file(agent, {streams_command}, streams_annotation, "createRuntime");
}

Result<> own_streams(std::string_view state) {
    boost::system::error_code wrong;
    const auto value = json::parse({state.data(), state.size()}, wrong);
    const auto* pid = wrong || !value.is_object() ? nullptr : value.get_object().if_contains("pid");
    if (!pid || !pid->is_int64() || pid->get_int64() <= 0)
        return fail(Code::invalid, "the input is not the state of a container with a process");
    const auto process = fmt::format("/proc/{}", pid->get_int64());
    const auto user = root_of(process + "/uid_map"), group = root_of(process + "/gid_map");
    if (!user || !group) return fail(Code::unavailable, fmt::format("{} has no user 0", process));
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
        const auto path = fmt::format("{}/fd/{}", process, number);
        struct stat seen{};
        if (::stat(path.c_str(), &seen) != 0 || !S_ISFIFO(seen.st_mode) || seen.st_uid != 0) continue;
        if (::chown(path.c_str(), *user, *group) != 0)
            return fail(Code::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
    }
    return {};
}

int streams_main() {
    const std::string state{std::istreambuf_iterator<char>{std::cin}, {}};
    if (const auto owned = own_streams(state); !owned)
        fmt::print(stderr, "hostler-agent: output of a container: {}\n", owned.error().message);
    return 0;
}

}  // namespace hostler::docker
