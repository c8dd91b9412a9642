#include "adapters/remote_write/outbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace hostler::remote_write {

namespace {

// Before each body, in the machine's byte order: the files are this machine's alone.
struct Head {
    std::uint32_t sum = 0;  // Of the rest of the head, and the body.
    std::uint32_t size = 0;
    std::uint64_t samples = 0;
    series::Millis newest = 0;
};
static_assert(sizeof(Head) == 24);
constexpr std::uint32_t body_max = 64 << 20;

std::uint32_t sum_of(const Head& head, std::string_view body) {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
    crc.process_bytes(reinterpret_cast<const char*>(&head) + sizeof head.sum, sizeof head - sizeof head.sum);
    crc.process_bytes(body.data(), body.size());
    return crc.checksum();
}

std::unexpected<Error> trouble(std::string_view what, const std::string& which) {
    const int error = errno;
    return fail(error == ENOSPC || error == EDQUOT ? Code::exhausted : Code::unavailable,
                fmt::format("cannot {} {}: {}", what, which, std::strerror(error)));
}

bool read_all(int fd, std::uint64_t at, void* into, std::size_t size) {
    auto* to = static_cast<char*>(into);
    while (size > 0) {
        const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        at += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

// nullopt: there is no whole record.
std::optional<Message> read_record(int fd, std::uint64_t at) {
    Head head;
    if (!read_all(fd, at, &head, sizeof head) || head.size > body_max) return std::nullopt;
    Message message{std::string(head.size, '\0'), head.samples, head.newest};
    if (!read_all(fd, at + sizeof head, message.body.data(), head.size)) return std::nullopt;
    if (sum_of(head, message.body) != head.sum) return std::nullopt;
    return message;
}

std::uint64_t size_of(const Message& message) { return sizeof(Head) + message.body.size(); }

void close_fd(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

Result<std::unique_ptr<Outbox>> Outbox::open(const std::string& folder, OutboxLimits limits) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return trouble("open", folder);
    auto outbox = std::unique_ptr<Outbox>{new Outbox{folder, at, limits}};
    TRY(outbox->load());
    return outbox;
}

Outbox::~Outbox() {
    close_fd(writing_);
    close_fd(reading_);
    ::close(at_);
}

std::string Outbox::name(std::uint64_t number) const { return fmt::format("{:016}", number); }

Result<> Outbox::load() {
    std::vector<std::uint64_t> numbers;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder_, error})
        if (const auto number = number_of(entry.path().filename().string())) numbers.push_back(*number);
    if (error) return fail(Code::unavailable, "cannot read " + folder_);
    std::ranges::sort(numbers);
    read_cursor();
    for (const std::uint64_t number : numbers) {
        if (number < cursor_file_) {  // Done, and not taken away before a crash.
            ::unlinkat(at_, name(number).c_str(), 0);
            continue;
        }
        TRY(load_file(number, number == numbers.back()));
    }
    if (files_.empty() || files_.front().number != cursor_file_) cursor_at_ = 0;
    for (const File& file : files_) count_.bytes += file.size, count_.samples += file.samples;
    return {};
}

// Counts what is in it. Behind what cannot be read nothing can be found: it is cut off.
Result<> Outbox::load_file(std::uint64_t number, bool last) {
    const int fd = ::openat(at_, name(number).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return trouble("open", folder_ + "/" + name(number));
    File file{number, 0, 0};
    const std::uint64_t from = number == cursor_file_ ? cursor_at_ : 0;
    while (const auto message = read_record(fd, file.size)) {
        if (file.size >= from) file.samples += message->samples;
        file.size += size_of(*message);
    }
    struct stat is{};
    ::fstat(fd, &is);
    if (static_cast<std::uint64_t>(is.st_size) > file.size) {
        if (!last) ++count_.damaged;
        if (::ftruncate(fd, static_cast<off_t>(file.size)) != 0) {
            ::close(fd);
            return trouble("cut", folder_ + "/" + name(number));
        }
    }
    ::close(fd);
    if (number == cursor_file_ && cursor_at_ > file.size) cursor_at_ = file.size;
    files_.push_back(file);
    return {};
}

// "7 4096": in the seventh file what stands before 4096 is done.
void Outbox::read_cursor() {
    const int fd = ::openat(at_, "cursor", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    char text[64];
    const ssize_t size = ::read(fd, text, sizeof text);
    ::close(fd);
    const std::string_view all{text, size > 0 ? static_cast<std::size_t>(size) : 0};
    const auto space = all.find(' ');
    if (space == std::string_view::npos) return;
    const auto file = number_of(all.substr(0, space)), at = number_of(all.substr(space + 1));
    if (file && at) cursor_file_ = *file, cursor_at_ = *at;
}

Result<> Outbox::write_cursor() {
    const int fd = ::openat(at_, "cursor.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return trouble("write", folder_ + "/cursor");
    const bool written = write_all(fd, fmt::format("{} {}", cursor_file_, cursor_at_));
    ::close(fd);
    if (!written || ::renameat(at_, "cursor.new", at_, "cursor") != 0)
        return trouble("write", folder_ + "/cursor");
    return {};
}

Result<> Outbox::begin_file() {
    close_fd(writing_);
    const std::uint64_t number = std::max(files_.empty() ? 0 : files_.back().number, cursor_file_) + 1;
    writing_ = ::openat(at_, name(number).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (writing_ < 0 || ::fsync(at_) != 0) {
        close_fd(writing_);
        return trouble("make", folder_ + "/" + name(number));
    }
    files_.push_back({number, 0, 0});
    return {};
}

Result<> Outbox::append(std::span<const Message> messages) {
    std::string bytes;
    std::uint64_t samples = 0;
    for (const Message& message : messages) {
        HOSTLER_ASSERT(message.body.size() <= body_max);
        Head head{0, static_cast<std::uint32_t>(message.body.size()), message.samples, message.newest};
        head.sum = sum_of(head, message.body);
        bytes.append(reinterpret_cast<const char*>(&head), sizeof head).append(message.body);
        samples += message.samples;
    }
    if (bytes.empty()) return {};
    TRY(make_room(bytes.size()));
    if (writing_ < 0 || files_.back().size >= limits_.file_bytes) TRY(begin_file());
    File& file = files_.back();
    if (!write_all(writing_, bytes) || ::fdatasync(writing_) != 0) {
        const auto error = trouble("write", folder_);
        // Whatever is there of it now, nothing is written behind it.
        static_cast<void>(::ftruncate(writing_, static_cast<off_t>(file.size)));
        close_fd(writing_);
        return error;
    }
    file.size += bytes.size();
    file.samples += samples;
    count_.bytes += bytes.size();
    count_.samples += samples;
    return {};
}

Result<> Outbox::make_room(std::uint64_t bytes) {
    while (!files_.empty() && count_.bytes + bytes > limits_.bytes_max) {
        count_.samples_dropped += files_.front().samples;
        TRY(drop_front());
    }
    return {};
}

// The first file goes, done or not.
Result<> Outbox::drop_front() {
    const File file = files_.front();
    close_fd(reading_);
    first_.reset();
    if (files_.size() == 1) close_fd(writing_);
    files_.pop_front();
    count_.bytes -= file.size;
    count_.samples -= file.samples;
    cursor_file_ = file.number + 1;
    cursor_at_ = 0;
    TRY(write_cursor());
    ::unlinkat(at_, name(file.number).c_str(), 0);
    return {};
}

Result<std::optional<Message>> Outbox::first() {
    while (!first_ && !files_.empty()) {
        const File& file = files_.front();
        if (file.number != cursor_file_) cursor_file_ = file.number, cursor_at_ = 0;
        if (cursor_at_ < file.size) {
            if (reading_ < 0) reading_ = ::openat(at_, name(file.number).c_str(), O_RDONLY | O_CLOEXEC);
            if (reading_ < 0) return trouble("open", folder_ + "/" + name(file.number));
            if (auto message = read_record(reading_, cursor_at_)) {
                const std::uint64_t size = size_of(*message);
                first_ = Record{std::move(*message), size};
                break;
            }
            ++count_.damaged;
            count_.samples_dropped += file.samples;
        } else if (files_.size() == 1 && writing_ >= 0) {
            return std::nullopt;  // It may grow.
        }
        TRY(drop_front());
    }
    if (!first_) return std::nullopt;
    return first_->message;
}

Result<> Outbox::done() {
    if (!first_) return {};  // Its file was given up meanwhile.
    const Record record = std::move(*std::exchange(first_, std::nullopt));
    cursor_at_ += record.size;
    files_.front().samples -= record.message.samples;
    count_.samples -= record.message.samples;
    return write_cursor();
}

}  // namespace hostler::remote_write
