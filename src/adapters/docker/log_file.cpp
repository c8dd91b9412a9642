#include "adapters/docker/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hostler::docker {

namespace {

constexpr std::size_t window_min = 64 << 10, window_growth = 8;

struct Part {
    int descriptor = -1;
    std::size_t size = 0;
    struct statx status{};

    Part() = default;
    Part(Part&& from) noexcept
        : descriptor(std::exchange(from.descriptor, -1)), size(from.size), status(from.status) {}
    Part& operator=(Part&& from) noexcept {
        std::swap(descriptor, from.descriptor);
        size = from.size;
        status = from.status;
        return *this;
    }
    ~Part() {
        if (descriptor >= 0) ::close(descriptor);
    }
    bool is(const struct statx& other) const {
        return status.stx_ino == other.stx_ino && status.stx_dev_major == other.stx_dev_major &&
               status.stx_dev_minor == other.stx_dev_minor;
    }
};

std::unexpected<Error> trouble(const std::string& path) {
    return fail(errno == ENOENT ? Code::not_found : Code::unavailable,
                fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

Result<Part> open_part(const std::string& path) {
    Part part;
    part.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (part.descriptor < 0) return trouble(path);
    if (::statx(part.descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &part.status) != 0)
        return trouble(path);
    part.size = part.status.stx_size;
    return part;
}

// The oldest first. While an engine begins another file, the names change their files.
Result<std::vector<Part>> open_parts(const LogFile& file) {
    constexpr int tries_max = 10;
    const std::vector<std::string> others = file.format == LogFormat::k8s
                                                ? std::vector{held_path(file.path), before_path(file.path)}
                                                : std::vector{file.path + ".1"};
    std::vector<Part> parts;
    for (int tries = 0; tries < tries_max; ++tries) {
        parts.clear();
        parts.push_back(TRY(open_part(file.path)));
        for (const auto& path : others) {
            auto part = open_part(path);
            if (!part && part.error().code != Code::not_found) return std::unexpected(part.error());
            if (part && !part->is(parts.back().status)) parts.push_back(std::move(*part));
        }
        struct statx now{};
        if (::statx(AT_FDCWD, file.path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &now) == 0 &&
            parts.front().is(now))
            break;
        parts.erase(parts.begin() + 1, parts.end());
    }
    std::ranges::reverse(parts);
    return parts;
}

// Whether the engine has thrown away what was written before this file.
bool is_first(const Part& part, WallTime container) {
    if (container == WallTime{} || (part.status.stx_mask & STATX_BTIME) == 0) return true;
    const auto& birth = part.status.stx_btime;
    return WallTime{std::chrono::seconds{birth.tv_sec} + std::chrono::microseconds{birth.tv_nsec / 1000}} <=
           container;
}

Result<std::string> read_bytes(const Part& part, std::size_t from) {
    std::string bytes(part.size - from, '\0');
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto got =
            ::pread(part.descriptor, bytes.data() + at, bytes.size() - at, static_cast<off_t>(from + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(Code::unavailable, fmt::format("a log cannot be read: {}", std::strerror(errno)));
        if (got == 0) break;
        at += static_cast<std::size_t>(got);
    }
    bytes.resize(at);
    return bytes;
}

// ── Podman

// Most lines have the time of the line before them.
class TimeReader {
public:
    std::optional<WallTime> read(std::string_view text) {
        if (text == text_) return time_;
        const auto parsed = parse_rfc3339(text);
        if (!parsed) return std::nullopt;
        text_ = text;
        return time_ = *parsed;
    }

private:
    std::string_view text_;
    WallTime time_{};
};

// What is being written at the end of `bytes` is left out.
void read_k8s(std::string_view bytes, bool from_begin, std::vector<LogPiece>& pieces) {
    if (!from_begin) bytes.remove_prefix(std::min(bytes.find('\n'), bytes.size() - 1) + 1);
    TimeReader times;
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        if (end == bytes.npos) return;
        std::string_view line = bytes.substr(0, end + 1);
        bytes.remove_prefix(line.size());
        std::string_view words[3];
        for (auto& word : words) {
            word = line.substr(0, line.find(' '));
            line.remove_prefix(std::min(word.size() + 1, line.size()));
        }
        const auto time = times.read(words[0]);
        if (!time || line.empty()) continue;
        if (words[2].starts_with('P')) line.remove_suffix(1);
        pieces.push_back({*time, line, words[1] == "stderr"});
    }
}

// ── Docker

// As much of protobuf as the driver writes.
class Fields {
public:
    explicit Fields(std::string_view message) : rest_(message) {}
    // Errors: nullopt at the end, and where it is none.
    struct Field {
        std::uint64_t number = 0, value = 0;
        std::string_view bytes{};
    };
    std::optional<Field> next() {
        const auto key = varint();
        if (!key) return std::nullopt;
        const auto value = varint();
        if (!value) return std::nullopt;
        Field field{.number = *key >> 3, .value = *value};
        if ((*key & 7) == 0) return field;
        if ((*key & 7) != 2 || *value > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, *value);
        rest_.remove_prefix(*value);
        return field;
    }

private:
    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        return std::nullopt;
    }
    std::string_view rest_;
};

std::size_t big_endian(std::string_view bytes) {
    std::size_t value = 0;
    for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
}

constexpr std::size_t size_bytes = 4;  // Before each message, and behind it.

// `lines` gets the line with its break, which is not in the message.
void read_local_message(std::string_view message, std::string& lines, std::vector<LogPiece>& pieces) {
    std::int64_t nanoseconds = 0;
    std::string_view line;
    bool partial = false, last = false, error = false;
    Fields fields{message};
    while (const auto field = fields.next()) {
        if (field->number == 1) error = field->bytes == "stderr";
        if (field->number == 2) nanoseconds = static_cast<std::int64_t>(field->value);
        if (field->number == 3) line = field->bytes;
        if (field->number == 4) partial = field->value != 0;
        if (field->number != 5) continue;
        Fields inner{field->bytes};
        while (const auto of_partial = inner.next())
            if (of_partial->number == 1) last = of_partial->value != 0;
    }
    const std::size_t begin = lines.size();
    lines += line;
    if (!partial || last) lines += '\n';
    pieces.push_back({WallTime{std::chrono::microseconds{nanoseconds / 1000}},
                      std::string_view{lines}.substr(begin), error});
}

// The messages of `bytes`, the last first; none where the last is being written, as then nobody knows where
// it begins.
std::vector<std::string_view> messages_from_end(std::string_view bytes) {
    std::vector<std::string_view> messages;
    while (bytes.size() >= 2 * size_bytes) {
        const auto size = big_endian(bytes.substr(bytes.size() - size_bytes));
        if (size > bytes.size() - 2 * size_bytes) break;
        const auto begin = bytes.size() - size - 2 * size_bytes;
        if (big_endian(bytes.substr(begin)) != size) break;
        messages.push_back(bytes.substr(begin + size_bytes, size));
        bytes.remove_suffix(size + 2 * size_bytes);
    }
    std::ranges::reverse(messages);
    return messages;
}

std::vector<std::string_view> messages_from_begin(std::string_view bytes) {
    std::vector<std::string_view> messages;
    while (bytes.size() >= 2 * size_bytes) {
        const auto size = big_endian(bytes);
        if (size > bytes.size() - 2 * size_bytes) break;
        messages.push_back(bytes.substr(size_bytes, size));
        bytes.remove_prefix(size + 2 * size_bytes);
    }
    return messages;
}

void read_local(std::string_view bytes, bool from_begin, std::string& lines, std::vector<LogPiece>& pieces) {
    const auto messages = from_begin ? messages_from_begin(bytes) : messages_from_end(bytes);
    lines.reserve(bytes.size());  // Views into it stay: a message is longer than its line by its sizes.
    for (const auto message : messages) read_local_message(message, lines, pieces);
}

// ── Both

// What lies in the last `window` bytes of all parts.
struct Read {
    std::vector<std::string> bytes{}, lines{};
    std::vector<LogPiece> pieces{};
    bool whole = false;
};

Result<Read> read_window(const LogFile& file, std::span<const Part> parts, std::size_t window) {
    Read read;
    std::size_t first = parts.size();
    std::vector<std::size_t> from(parts.size());
    while (first > 0 && window > 0) {
        --first;
        from[first] = parts[first].size - std::min(parts[first].size, window);
        window -= parts[first].size - from[first];
    }
    read.whole = first == 0 && from[0] == 0 && is_first(parts[0], file.container);
    read.bytes.reserve(parts.size());
    read.lines.reserve(parts.size());
    for (std::size_t i = first; i < parts.size(); ++i) {
        const auto& bytes = read.bytes.emplace_back(TRY(read_bytes(parts[i], from[i])));
        if (file.format == LogFormat::k8s)
            read_k8s(bytes, from[i] == 0, read.pieces);
        else
            read_local(bytes, from[i] == 0, read.lines.emplace_back(), read.pieces);
    }
    return read;
}

}  // namespace

std::string held_path(std::string_view path) { return fmt::format("{}.held", path); }
std::string before_path(std::string_view path) { return fmt::format("{}.before", path); }

Result<LogPart> read_log(const LogFile& file, const LogsWanted& wanted) {
    const auto parts = TRY(open_parts(file));
    std::size_t all = 0;
    for (const Part& part : parts) all += part.size;
    for (std::size_t window = window_min;; window *= window_growth) {
        const Read read = TRY(read_window(file, parts, window));
        if (window >= all && read.pieces.empty() && all > 1 << 10)
            return fail(Code::unavailable, fmt::format("{} is no log of the form expected", file.path));
        if (window >= all || log_suffices(read.pieces, wanted))
            return log_part(read.pieces, read.whole, wanted);
    }
}

}  // namespace hostler::docker
