#include "adapters/disk/logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/names.h"

namespace hostler::disk {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".log";

struct File {
    int descriptor;
    ~File() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

std::unexpected<Error> trouble(std::string_view what, const std::string& path) {
    const Code code = errno == ENOSPC || errno == EDQUOT ? Code::exhausted
                      : errno == ENOENT                  ? Code::not_found
                                                         : Code::unavailable;
    return fail(code, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// Written beside and renamed, so that a crash leaves the old text or the new one. Not synced: a comfort, not
// a promise.
Result<> write_file(const std::string& path, std::string_view text) {
    const std::string fresh = path + ".new";
    {
        const File file{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
        if (file.descriptor < 0) return trouble("write", fresh);
        while (!text.empty()) {
            const auto size = ::write(file.descriptor, text.data(), text.size());
            if (size < 0 && errno == EINTR) continue;
            if (size < 0) {
                auto wrong = trouble("write", fresh);
                ::unlink(fresh.c_str());
                return wrong;
            }
            text.remove_prefix(static_cast<std::size_t>(size));
        }
    }
    if (::rename(fresh.c_str(), path.c_str()) < 0) return trouble("rename", fresh);
    return {};
}

Result<std::string> read_end(const std::string& path, std::size_t bytes_max) {
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (file.descriptor < 0) return trouble("read", path);
    struct stat status{};
    if (::fstat(file.descriptor, &status) < 0) return trouble("read", path);
    const auto size = static_cast<std::size_t>(status.st_size);
    std::string text(std::min(size, bytes_max), '\0');
    std::size_t at = 0;
    while (at < text.size()) {
        const auto got = ::pread(file.descriptor, text.data() + at, text.size() - at,
                                 static_cast<off_t>(size - text.size() + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return trouble("read", path);
        if (got == 0) break;
        at += static_cast<std::size_t>(got);
    }
    text.resize(at);
    return text;
}

void drop_old(const std::string& folder, const LogLimits& limits) {
    std::error_code ignored;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    for (const auto& entry : fs::directory_iterator{folder, ignored})
        files.emplace_back(entry.last_write_time(ignored), entry.path());
    std::ranges::sort(files);
    const auto oldest = fs::file_time_type::clock::now() - limits.age_max;
    std::size_t left = files.size();
    for (const auto& [time, path] : files) {
        if (left <= limits.files_max && time >= oldest) break;
        fs::remove(path, ignored);
        --left;
    }
}

class Folder final : public LogStore {
public:
    Folder(Worker& worker, std::string folder, LogLimits limits)
        : worker_(worker), folder_(std::move(folder)), limits_(limits) {}

    Task<> keep(std::string instance, std::string text) override {
        if (!is_plain_name(instance))
            co_return fail(Code::invalid, fmt::format("'{}' is no instance's name", instance));
        if (text.size() > text_max) text.erase(0, text.size() - text_max);
        co_return co_await run_on<void>(worker_,
                                        [path = path(instance), folder = folder_, limits = limits_,
                                         text = std::move(text)]() -> Result<> {
                                            auto written = write_file(path, text);
                                            drop_old(folder, limits);
                                            return written;
                                        });
    }

    Task<std::string> read(std::string instance, std::size_t bytes_max) override {
        if (!is_plain_name(instance))
            co_return fail(Code::not_found, fmt::format("no logs of '{}' are kept", instance));
        auto text = co_await run_on<std::string>(
            worker_, [path = path(instance), bytes_max] { return read_end(path, bytes_max); });
        if (!text && text.error().code == Code::not_found)
            co_return fail(Code::not_found, fmt::format("no logs of {} are kept on this host", instance));
        co_return text;
    }

private:
    std::string path(const std::string& instance) const {
        return fmt::format("{}/{}{}", folder_, instance, suffix);
    }

    Worker& worker_;
    std::string folder_;
    LogLimits limits_;
};

}  // namespace

Result<std::unique_ptr<LogStore>> open_logs(Worker& worker, std::string folder, LogLimits limits) {
    std::error_code wrong;
    fs::create_directories(folder, wrong);
    if (!wrong) fs::permissions(folder, fs::perms::owner_all, wrong);
    if (wrong)
        return fail(Code::unavailable, fmt::format("cannot make the folder {}: {}", folder, wrong.message()));
    return std::make_unique<Folder>(worker, std::move(folder), limits);
}

}  // namespace hostler::disk
