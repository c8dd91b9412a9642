#include "adapters/net/issued.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "adapters/net/digest.h"
#include "core/log.h"

namespace hostler::net {

namespace {

constexpr std::streamoff bytes_max = 1 << 20;  // That are read, from the end.
constexpr std::size_t fingerprint_digits = 64;

bool is_whole(const IssuedKey& one) {
    return one.name.contains('/') && one.key_fingerprint.size() == fingerprint_digits &&
           one.key_fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "gateway/gw-1 <fingerprint>"
IssuedKey key_of(const std::string& line) {
    const auto space = std::min(line.find(' '), line.size());
    return {line.substr(0, space), line.substr(std::min(space + 1, line.size()))};
}

// Is written behind the line of a key. Older releases write none, and pass over it.
std::string sum_of(const std::string& line) {
    constexpr std::size_t digits = 16;
    return "# " + OpenSslDigest{}.sha256(line).substr(0, digits);
}

}  // namespace

std::vector<IssuedKey> FolderOfIssuedKeys::all() const {
    std::vector<IssuedKey> keys;
    std::ifstream file{path_, std::ios::binary | std::ios::ate};
    if (!file) return keys;
    const std::streamoff begin =
        std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - bytes_max);
    file.seekg(begin);
    struct {
        std::string text;
        std::streamoff at = 0;
    } before;  // The line of a key whose sum comes next.
    std::streamoff at = begin;
    for (std::string line; std::getline(file, line); at += static_cast<std::streamoff>(line.size()) + 1) {
        if (line.empty() || (at == begin && begin > 0)) continue;  // The first one may begin before that.
        if (line.starts_with('#')) {
            if (!before.text.empty() && line != sum_of(before.text)) tell_of_damage(before.at);
            before = {};
            continue;
        }
        IssuedKey one = key_of(line);
        before = {};
        if (!is_whole(one)) {
            tell_of_damage(at);
            continue;
        }
        keys.push_back(std::move(one));
        before = {line, at};
    }
    return keys;
}

void FolderOfIssuedKeys::tell_of_damage(std::int64_t at) const {
    constexpr std::size_t told_max = 1000;
    if (told_.size() == told_max || !told_.insert(at).second) return;
    log_error(
        "{}: the line at byte {} is torn or was changed. If an access point or a gateway is refused now, "
        "issue its certificate again (hostler ca issue) or admit its key (hostler ca admit)",
        path_, at);
}

Result<> FolderOfIssuedKeys::note(const IssuedKey& issued) {
    if (std::ranges::count(all(), issued)) return {};
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    // Ends a line before it that a crash has torn.
    const std::string key = fmt::format("{} {}", issued.name, issued.key_fingerprint);
    const std::string line = fmt::format("\n{}\n{}\n", key, sum_of(key));
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
