#include "adapters/net/issued.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace hostler::net {

namespace {

constexpr std::streamoff bytes_max = 1 << 20;  // That are read, from the end.
constexpr std::size_t fingerprint_digits = 64;

// "gateway/gw-1 <fingerprint>"
bool is_whole(const IssuedKey& one) {
    return one.name.contains('/') && one.key_fingerprint.size() == fingerprint_digits &&
           one.key_fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::vector<IssuedKey> FolderOfIssuedKeys::all() const {
    std::vector<IssuedKey> keys;
    std::ifstream file{path_, std::ios::binary | std::ios::ate};
    if (!file) return keys;
    file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - bytes_max));
    for (std::string line; std::getline(file, line);) {
        const auto space = std::min(line.find(' '), line.size());
        IssuedKey one{line.substr(0, space), line.substr(std::min(space + 1, line.size()))};
        if (is_whole(one)) keys.push_back(std::move(one));
    }
    return keys;
}

Result<> FolderOfIssuedKeys::note(const IssuedKey& issued) {
    if (std::ranges::count(all(), issued)) return {};
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    // Ends a line before it that a crash has torn.
    const std::string line = fmt::format("\n{} {}\n", issued.name, issued.key_fingerprint);
    const bool written = fd >= 0 &&
                         ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                         ::fsync(fd) == 0;
    const int error = errno;
    if (fd >= 0) ::close(fd);
    if (!written)
        return fail(Code::unavailable,
                    fmt::format("writing {}: {}", path_, std::generic_category().message(error)));
    return {};
}

}  // namespace hostler::net
