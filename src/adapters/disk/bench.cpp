#include "adapters/disk/bench.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "adapters/disk/file.h"

namespace hostler::disk {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t piece = std::size_t{4} << 20;
constexpr std::size_t alignment = 4096;  // Of memory and of places in a file, for reading past the cache.

struct Buffer {
    Buffer() : at(static_cast<char*>(std::aligned_alloc(alignment, piece))) {
        HOSTLER_ASSERT(at);
        // What no disk makes smaller.
        std::uint64_t word = 0x9e3779b97f4a7c15;
        for (std::size_t i = 0; i < piece; i += sizeof(word)) {
            word ^= word << 13, word ^= word >> 7, word ^= word << 17;
            std::memcpy(at + i, &word, sizeof(word));
        }
    }
    ~Buffer() { std::free(at); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    char* const at;
};

std::string words(std::string_view what) { return fmt::format("{}: {}.", what, std::strerror(errno)); }

// Bytes a second by so many calls of `step`, each of a piece; nullopt: one failed.
template <class Step>
Metric speed(std::size_t pieces, std::chrono::milliseconds time_max, Step step, std::size_t& done) {
    const auto begun = Clock::now();
    for (done = 0; done < pieces && (done == 0 || Clock::now() - begun < time_max); ++done)
        if (!step(done)) return std::nullopt;
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    return static_cast<std::int64_t>(static_cast<double>(done * piece) / 1e6 / std::max(seconds, 1e-6));
}

DiskFigures measure_in(const std::string& folder, const BenchLimits& limits) {
    DiskFigures found;
    struct statvfs room{};
    if (::statvfs(folder.c_str(), &room) == 0 && room.f_bavail * room.f_frsize < limits.free_bytes_min) {
        found.skipped = "The disk was not measured: there is too little room left.";
        return found;
    }
    const std::string path = folder + "/speed";
    const auto open = [&](int how) { return Descriptor{::open(path.c_str(), how | O_CLOEXEC, 0600)}; };
    constexpr int writing = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW;
    Descriptor file = open(writing | O_DIRECT);
    const bool direct = file.open();
    if (!direct) file = open(writing);  // A file system without it.
    if (!file.open()) {
        found.skipped = words("The disk was not measured");
        return found;
    }
    (void)::unlink(path.c_str());
    const Buffer buffer;
    const auto at = [](std::size_t number) { return static_cast<off_t>(number * piece); };
    std::size_t written = 0, read = 0;
    const auto pieces = std::max<std::size_t>(limits.bytes_max / piece, 1);
    found.write_mb_s = speed(
        pieces, limits.time_max,
        [&](std::size_t number) {
            return ::pwrite(*file, buffer.at, piece, at(number)) == static_cast<ssize_t>(piece) &&
                   (direct || ::fdatasync(*file) == 0);
        },
        written);
    if (!found.write_mb_s || ::fdatasync(*file) != 0) {
        found.write_mb_s.reset();
        found.skipped = words("The disk takes no file of this size");
        return found;
    }
    if (!direct) {
        found.skipped = "Reading was not measured: this file system has no way past its cache.";
        return found;
    }
    found.read_mb_s = speed(
        written, limits.time_max,
        [&](std::size_t number) {
            return ::pread(*file, buffer.at, piece, at(number)) == static_cast<ssize_t>(piece);
        },
        read);
    if (!found.read_mb_s) found.skipped = words("The disk does not give back what was written");
    return found;
}

class FileBench final : public DiskBench {
public:
    FileBench(Worker& worker, std::string folder, BenchLimits limits)
        : worker_(worker), folder_(std::move(folder)), limits_(limits) {}
    Task<DiskFigures> measure() override {
        co_return co_await run_on<DiskFigures>(worker_,
                                               [folder = folder_, limits = limits_]() -> Result<DiskFigures> {
                                                   return measure_in(folder, limits);
                                               });
    }

private:
    Worker& worker_;
    std::string folder_;
    BenchLimits limits_;
};

}  // namespace

std::unique_ptr<DiskBench> make_bench(Worker& worker, std::string folder, BenchLimits limits) {
    return std::make_unique<FileBench>(worker, std::move(folder), limits);
}

}  // namespace hostler::disk
