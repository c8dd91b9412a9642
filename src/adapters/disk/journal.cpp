#include "adapters/disk/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <filesystem>
#include <optional>

#include "adapters/disk/file.h"
#include "core/log.h"

namespace hostler::disk {

namespace {

using Entries = std::map<std::string, std::string>;

constexpr std::size_t head_bytes = 8;  // Length and checksum.
constexpr std::size_t body_min = 5;    // Kind and the key's length.
constexpr std::size_t backlog_bytes_max = 64 << 20;

void add_number(std::string& to, std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(number >> shift);
}

std::uint32_t number_at(std::string_view bytes) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
        number |= std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    return number;
}

std::uint32_t checksum(std::string_view bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

struct Change {
    std::string key;
    std::optional<std::string> value;  // nullopt: erased.
};

void add_record(std::string& to, std::string_view key, const std::string* value) {
    std::string body{value ? 'p' : 'e'};
    add_number(body, static_cast<std::uint32_t>(key.size()));
    body.append(key);
    if (value) body.append(*value);
    add_number(to, static_cast<std::uint32_t>(body.size()));
    add_number(to, checksum(body));
    to.append(body);
}

// The record at the front of `bytes`; nullopt if it is not whole and right.
std::optional<Change> take_record(std::string_view& bytes) {
    if (bytes.size() < head_bytes) return std::nullopt;
    const auto size = number_at(bytes);
    if (size < body_min || bytes.size() - head_bytes < size) return std::nullopt;
    const auto body = bytes.substr(head_bytes, size);
    if (checksum(body) != number_at(bytes.substr(4))) return std::nullopt;
    const auto key_size = number_at(body.substr(1));
    if (key_size > body.size() - body_min) return std::nullopt;
    Change change{.key = std::string(body.substr(body_min, key_size))};
    if (body[0] == 'p') change.value = std::string(body.substr(body_min + key_size));
    bytes.remove_prefix(head_bytes + size);
    return change;
}

void apply(Entries& entries, Change change) {
    if (change.value)
        entries.insert_or_assign(std::move(change.key), std::move(*change.value));
    else
        entries.erase(change.key);
}

// The file. Only the worker touches it, one job at a time.
struct File {
    std::string path;
    Descriptor lock;
    Descriptor folder;
    Descriptor file;
    std::size_t size = 0;  // All of it is whole records on the disk.
    bool broken = false;   // A sync failed: what is on the disk is unknown until it is opened again.
    std::size_t reserve_bytes = 0;
    std::size_t reserved = 0;  // Up to here the disk has given blocks.

    Result<> append(std::string_view bytes);
    Result<> rewrite(std::string_view bytes);
    void reserve();
};

// A disk without room, or a file system that cannot do it, gives nothing: then each write must find its own.
void File::reserve() {
    if (reserved > size + reserve_bytes / 2) return;
    const auto from = static_cast<off_t>(size);
    if (::fallocate(*file, FALLOC_FL_KEEP_SIZE, from, static_cast<off_t>(reserve_bytes)) == 0)
        reserved = size + reserve_bytes;
}

Result<> File::append(std::string_view bytes) {
    if (broken) return fail(Code::unavailable, fmt::format("{} can no longer be written: start again", path));
    if (auto written = write_whole(*file, bytes, path); !written) {
        // Half a record in the middle would hide all that follow.
        reserved = 0;
        broken = ::ftruncate(*file, static_cast<off_t>(size)) != 0 ||
                 ::lseek(*file, static_cast<off_t>(size), SEEK_SET) < 0;
        return written;
    }
    if (::fdatasync(*file) != 0) {
        broken = true;
        return disk_error("sync", path);
    }
    size += bytes.size();
    reserve();
    return {};
}

// Beside the old one, then in its place: a crash leaves the one or the other.
Result<> File::rewrite(std::string_view bytes) {
    const auto name = std::filesystem::path(path).filename().string();
    const auto fresh_name = name + ".new";
    Descriptor fresh{
        ::openat(*folder, fresh_name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!fresh.open()) return disk_error("write", path + ".new");
    auto written = write_whole(*fresh, bytes, path + ".new");
    if (written && ::fsync(*fresh) != 0) written = disk_error("sync", path + ".new");
    if (written && ::renameat(*folder, fresh_name.c_str(), *folder, name.c_str()) != 0)
        written = disk_error("rename", path + ".new");
    if (!written) {
        ::unlinkat(*folder, fresh_name.c_str(), 0);
        return written;
    }
    file = std::move(fresh);
    size = bytes.size();
    reserved = 0;
    reserve();
    if (::fsync(*folder) != 0) {
        broken = true;
        return disk_error("sync the folder of", path);
    }
    return {};
}

class FileJournal final : public Journal {
public:
    FileJournal(Worker& worker, std::shared_ptr<File> file, Entries entries, JournalLimits limits)
        : state_(std::make_shared<State>(worker, limits)) {
        state_->file = std::move(file);
        state_->entries = std::move(entries);
        for (const auto& [key, value] : state_->entries) state_->bytes += key.size() + value.size();
    }

    const std::map<std::string, std::string>& all() const override { return state_->entries; }

    Task<> put_all(std::vector<Entry> entries) override {
        const auto& limits = state_->limits;
        std::vector<Change> changes;
        std::size_t bytes = 0;
        for (auto& [key, value] : entries) {
            if (key.empty() || key.size() > limits.key_bytes_max || value.size() > limits.value_bytes_max)
                co_return fail(Code::invalid, fmt::format("journal entry '{}' of {} bytes is too large",
                                                          key.substr(0, 64), value.size()));
            bytes += key.size() + value.size();
            changes.push_back({std::move(key), std::move(value)});
        }
        if (state_->bytes + state_->waiting_bytes + bytes > limits.bytes_max)
            co_return fail(Code::exhausted,
                           fmt::format("{} has reached its {} bytes", state_->file->path, limits.bytes_max));
        co_return co_await add(std::move(changes));
    }

    Task<> erase(std::string key) override {
        if (key.empty() || key.size() > state_->limits.key_bytes_max)
            co_return fail(Code::invalid, "a journal's key is neither empty nor that long");
        std::vector<Change> changes;
        changes.push_back({std::move(key), std::nullopt});
        co_return co_await add(std::move(changes));
    }

private:
    // Changes gather while a write is on its way, and share the next sync.
    struct State : std::enable_shared_from_this<State> {
        State(Worker& of, JournalLimits bounds) : worker(of), limits(bounds) {}
        Worker& worker;
        JournalLimits limits;
        std::shared_ptr<File> file;
        Entries entries;
        std::size_t bytes = 0;          // Of all entries.
        std::size_t waiting_bytes = 0;  // Of the changes that are not on the disk yet.
        std::vector<Change> waiting;
        std::vector<WakerPtr<void>> wakers;
        bool writing = false;

        void write();
        void written(std::vector<Change> changes, std::vector<WakerPtr<void>> sleepers, Result<> result);
        void rewrite();
    };

    Task<> add(std::vector<Change> changes) {
        const auto state = state_;
        if (state->waiting_bytes > backlog_bytes_max)
            co_return fail(Code::unavailable, "the journal is slow: too much waits to be written");
        co_return co_await suspend<void>([&state, &changes](WakerPtr<void> waker) {
            for (auto& change : changes) {
                state->waiting_bytes += change.key.size() + (change.value ? change.value->size() : 0);
                state->waiting.push_back(std::move(change));
            }
            state->wakers.push_back(std::move(waker));
            if (!state->writing) state->write();
        });
    }

    std::shared_ptr<State> state_;
};

void FileJournal::State::write() {
    writing = true;
    auto records = std::make_shared<std::string>();
    for (const auto& change : waiting)
        add_record(*records, change.key, change.value ? &*change.value : nullptr);
    auto result = std::make_shared<Result<>>();
    worker.post(
        [to = file, records, result]() mutable {
            *result = to->append(*records);
            to.reset();  // Whoever opens the journal next does not wait for this thread to let go.
        },
        [self = shared_from_this(), changes = std::move(waiting), sleepers = std::move(wakers),
         result]() mutable { self->written(std::move(changes), std::move(sleepers), std::move(*result)); });
    waiting.clear();
    wakers.clear();
}

void FileJournal::State::written(std::vector<Change> changes, std::vector<WakerPtr<void>> sleepers,
                                 Result<> result) {
    writing = false;
    for (const auto& change : changes)
        waiting_bytes -= change.key.size() + (change.value ? change.value->size() : 0);
    if (result) {
        for (auto& change : changes) {
            if (const auto old = entries.find(change.key); old != entries.end())
                bytes -= old->first.size() + old->second.size();
            if (change.value) bytes += change.key.size() + change.value->size();
            apply(entries, std::move(change));
        }
    }
    for (const auto& sleeper : sleepers) sleeper->wake(result);
    if (file->size > 2 * bytes + limits.waste_bytes_max)
        rewrite();
    else if (!waiting.empty())
        write();
}

void FileJournal::State::rewrite() {
    writing = true;
    auto records = std::make_shared<std::string>(journal_magic);
    for (const auto& [key, value] : entries) add_record(*records, key, &value);
    worker.post(
        [to = file, records]() mutable {
            if (auto done = to->rewrite(*records); !done) log_warn("journal: {}", done.error().message);
            to.reset();
        },
        [self = shared_from_this()] {
            self->writing = false;
            if (!self->waiting.empty()) self->write();
        });
}

Result<std::shared_ptr<File>> open_file(const std::string& given) {
    auto file = std::make_shared<File>();
    const auto path = std::filesystem::absolute(given).lexically_normal();
    file->path = path.string();
    file->folder = TRY(make_folder(path.parent_path().string()));
    const auto name = path.filename().string();
    file->lock = Descriptor{
        ::openat(*file->folder, (name + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file->lock.open()) return disk_error("open", file->path + ".lock");
    if (::flock(*file->lock, LOCK_EX | LOCK_NB) != 0)
        return fail(Code::conflict, fmt::format("another process uses {}", file->path));
    file->file =
        Descriptor{::openat(*file->folder, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file->file.open()) return disk_error("open", file->path);
    ::unlinkat(*file->folder, (name + ".new").c_str(), 0);
    return file;
}

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(Worker& worker, std::string path, JournalLimits limits) {
    auto file = TRY(open_file(path));
    file->reserve_bytes = limits.reserve_bytes;
    const auto content = TRY(read_whole(*file->file, file->path));
    Entries entries;
    // A new file's first line may have been torn as well.
    if (content.size() < journal_magic.size() && journal_magic.starts_with(content)) {
        TRY(file->rewrite(journal_magic));
        return std::make_unique<FileJournal>(worker, std::move(file), std::move(entries), limits);
    }
    std::string_view left = content;
    if (!left.starts_with(journal_magic))
        return fail(Code::invalid, fmt::format("{} is not a journal", file->path));
    left.remove_prefix(journal_magic.size());
    while (auto change = take_record(left)) apply(entries, std::move(*change));
    file->size = content.size() - left.size();
    if (!left.empty()) {
        log_warn("journal: the last {} bytes of {} were not written whole and are dropped", left.size(),
                 file->path);
        if (::ftruncate(*file->file, static_cast<off_t>(file->size)) != 0 || ::fsync(*file->file) != 0)
            return disk_error("repair", file->path);
    }
    if (::lseek(*file->file, static_cast<off_t>(file->size), SEEK_SET) < 0)
        return disk_error("open", file->path);
    file->reserve();
    return std::make_unique<FileJournal>(worker, std::move(file), std::move(entries), limits);
}

}  // namespace hostler::disk
