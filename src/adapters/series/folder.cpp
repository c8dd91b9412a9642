#include "adapters/series/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace hostler::series {

namespace {

class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int operator*() const { return fd_; }
    bool open() const { return fd_ >= 0; }

private:
    int fd_;
};

std::unexpected<Error> disk_error(std::string_view what, std::string_view which) {
    const int error = errno;
    const bool full = error == ENOSPC || error == EDQUOT;
    return fail(full ? Code::exhausted : Code::unavailable,
                fmt::format("cannot {} {}: {}", what, which, std::strerror(error)), full ? "disk_full" : "");
}

class DiskFile final : public ReadFile {
public:
    DiskFile(Descriptor file, std::string path, std::uint64_t size)
        : file_(std::move(file)), path_(std::move(path)), size_(size) {}
    std::uint64_t size() const override { return size_; }
    Result<std::string> read(std::uint64_t at, std::size_t size) const override {
        if (at > size_ || size > size_ - at)
            return fail(Code::unavailable, path_ + " is shorter than it was");
        std::string bytes(size, '\0');
        std::size_t got = 0;
        while (got < size) {
            const auto n = ::pread(*file_, bytes.data() + got, size - got, static_cast<off_t>(at + got));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return disk_error("read", path_);
            if (n == 0) return fail(Code::unavailable, path_ + " is shorter than it was");
            got += static_cast<std::size_t>(n);
        }
        return bytes;
    }

private:
    Descriptor file_;
    std::string path_;
    std::uint64_t size_;
};

class DiskFolder final : public Folder {
public:
    DiskFolder(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}

    Result<std::vector<std::string>> list() override {
        std::vector<std::string> names;
        std::error_code error;
        for (std::filesystem::directory_iterator at{path_, error}, end; !error && at != end;
             at.increment(error))
            names.push_back(at->path().filename().string());
        if (error) return fail(Code::unavailable, fmt::format("cannot list {}: {}", path_, error.message()));
        return names;
    }
    Result<> create(const std::string& name) override {
        Descriptor file{::openat(*folder_, name.c_str(),
                                 O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)};
        if (!file.open()) return disk_error("make", path_ + "/" + name);
        files_.insert_or_assign(name, std::move(file));
        return sync_names();
    }
    std::optional<Volume> volume() const override {
        struct statvfs seen{};
        if (::fstatvfs(*folder_, &seen) != 0) return std::nullopt;
        return Volume{.bytes = seen.f_blocks * seen.f_frsize, .free_bytes = seen.f_bavail * seen.f_frsize};
    }
    Result<> append(const std::string& name, std::string_view bytes) override {
        const int file = TRY(writable(name));
        while (!bytes.empty()) {
            const auto n = ::write(file, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return disk_error("write", path_ + "/" + name);
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return {};
    }
    Result<> cut(const std::string& name, std::uint64_t size) override {
        if (::ftruncate(TRY(writable(name)), static_cast<off_t>(size)) != 0)
            return disk_error("cut", path_ + "/" + name);
        return {};
    }
    Result<> sync(const std::string& name) override {
        if (::fdatasync(TRY(writable(name))) != 0) return disk_error("sync", path_ + "/" + name);
        return {};
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        files_.erase(from);
        if (::renameat(*folder_, from.c_str(), *folder_, to.c_str()) != 0)
            return disk_error("rename", path_ + "/" + from);
        return sync_names();
    }
    Result<> remove(const std::string& name) override {
        files_.erase(name);
        if (::unlinkat(*folder_, name.c_str(), 0) != 0 && errno != ENOENT)
            return disk_error("remove", path_ + "/" + name);
        return sync_names();
    }
    Result<std::shared_ptr<const ReadFile>> open(const std::string& name) override {
        Descriptor file{::openat(*folder_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
        struct stat facts{};
        if (!file.open() || ::fstat(*file, &facts) != 0) return disk_error("open", path_ + "/" + name);
        return std::make_shared<const DiskFile>(std::move(file), path_ + "/" + name,
                                                static_cast<std::uint64_t>(facts.st_size));
    }

private:
    Result<int> writable(const std::string& name) {
        auto& file = files_[name];
        if (!file.open())
            file = Descriptor{::openat(*folder_, name.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW)};
        if (!file.open()) return disk_error("open", path_ + "/" + name);
        return *file;
    }
    Result<> sync_names() {
        if (::fsync(*folder_) != 0) return disk_error("sync", path_);
        return {};
    }
    std::string path_;
    Descriptor folder_;  // Locked.
    std::map<std::string, Descriptor> files_;
};

}  // namespace

Result<std::unique_ptr<Folder>> open_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return fail(Code::unavailable, fmt::format("cannot make {}: {}", path, error.message()));
    Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.open()) return disk_error("open", path);
    if (::flock(*folder, LOCK_EX | LOCK_NB) != 0)
        return fail(Code::conflict, fmt::format("another process uses {}", path));
    return std::make_unique<DiskFolder>(path, std::move(folder));
}

}  // namespace hostler::series
