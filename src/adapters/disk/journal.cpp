#include "adapters/disk/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "adapters/disk/file.h"
#include "adapters/disk/journal_records.h"
#include "core/log.h"

namespace hostler::disk {

namespace {

using Entries = std::map<std::string, std::string>;

constexpr std::size_t backlog_bytes_max = 64 << 20;

struct Change {
    std::string key;
    std::optional<std::string> value;  // nullopt: erased.
};

void apply(Entries& entries, Change change) {
    if (change.value)
        entries.insert_or_assign(std::move(change.key), std::move(*change.value));
    else
        entries.erase(change.key);
}

Result<std::uint64_t> random_salt() {
    std::uint64_t salt = 0;
    if (::getrandom(&salt, sizeof salt, 0) != sizeof salt)
        return fail(Code::unavailable, "the kernel gives no random bytes");
    return salt;
}

// The file. Only the worker touches it, one job at a time.
struct File {
    std::string path;
    Descriptor lock;
    Descriptor folder;
    Descriptor file;
    std::size_t size = 0;     // Whole records, and a mark behind them.
    std::size_t durable = 0;  // Of them, on the disk for certain: all but the last mark.
    bool marked = false;      // It ends with a mark.
    std::uint64_t salt = 0;
    bool broken = false;  // A sync failed: what is on the disk is unknown until it is opened again.
    std::size_t reserve_bytes = 0;
    std::size_t reserved = 0;  // Up to here the disk has given blocks.

    std::string records(const std::vector<Change>& changes) const;
    Result<> append(std::string_view records);
    Result<> rewrite(const Entries& entries);
    void reserve();
    void mark();
};

// A disk without room, or a file system that cannot do it, gives nothing: then each write must find its own.
void File::reserve() {
    if (reserved > size + reserve_bytes / 2) return;
    const auto from = static_cast<off_t>(size);
    if (::fallocate(*file, FALLOC_FL_KEEP_SIZE, from, static_cast<off_t>(reserve_bytes)) == 0)
        reserved = size + reserve_bytes;
}

// What append() takes: each has a mark before it, the first perhaps in the file already.
std::string File::records(const std::vector<Change>& changes) const {
    std::string made;
    for (const auto& change : changes) {
        if (!made.empty() || !marked)
            add_mark(made, {.place = size + made.size(), .durable = durable, .salt = salt});
        add_record(made, change.key, change.value ? &*change.value : nullptr);
    }
    return made;
}

Result<> File::append(std::string_view records) {
    if (broken) return fail(Code::unavailable, fmt::format("{} can no longer be written: start again", path));
    if (auto written = write_whole(*file, records, path); !written) {
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
    size += records.size();
    durable = size;
    mark();
    reserve();
    return {};
}

// Tells that all before it is on the disk. It gets there with what is written next, or by itself.
void File::mark() {
    std::string bytes;
    add_mark(bytes, {.place = size, .durable = durable, .salt = salt});
    marked = write_whole(*file, bytes, path).has_value();
    if (marked) {
        size += bytes.size();
    } else {
        reserved = 0;
        broken = ::ftruncate(*file, static_cast<off_t>(size)) != 0 ||
                 ::lseek(*file, static_cast<off_t>(size), SEEK_SET) < 0;
    }
}

// Beside the old one, then in its place: a crash leaves the one or the other.
Result<> File::rewrite(const Entries& entries) {
    const std::uint64_t fresh_salt = TRY(random_salt());
    std::string bytes{journal_magic};
    const auto add_own_mark = [&] {
        add_mark(bytes, {.place = bytes.size(), .durable = bytes.size(), .salt = fresh_salt});
    };
    for (const auto& [key, value] : entries) {
        add_own_mark();
        add_record(bytes, key, &value);
    }
    add_own_mark();
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
    size = durable = bytes.size();
    salt = fresh_salt;
    marked = true;
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
    FileJournal(Worker& worker, std::shared_ptr<File> file, Entries entries, JournalLimits limits,
                std::string damage)
        : state_(std::make_shared<State>(worker, limits)), damage_(std::move(damage)) {
        state_->file = std::move(file);
        state_->entries = std::move(entries);
        for (const auto& [key, value] : state_->entries) state_->bytes += key.size() + value.size();
    }

    const std::map<std::string, std::string>& all() const override { return state_->entries; }
    std::string damage() const override { return damage_; }

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

    Task<> forget_past() override {
        const auto state = state_;
        co_return co_await suspend<void>([&state](WakerPtr<void> waker) {
            state->forgetting.push_back(std::move(waker));
            if (!state->writing) state->rewrite();
        });
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
        std::vector<WakerPtr<void>> forgetting;  // Who waits for the next rewriting.
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
    std::string damage_;
};

void FileJournal::State::write() {
    writing = true;
    const auto records = std::make_shared<const std::string>(file->records(waiting));
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
    if (!forgetting.empty() || file->size > 2 * bytes + limits.waste_bytes_max)
        rewrite();
    else if (!waiting.empty())
        write();
}

void FileJournal::State::rewrite() {
    writing = true;
    auto result = std::make_shared<Result<>>();
    worker.post(
        [to = file, entries = entries, result]() mutable {
            *result = to->rewrite(entries);
            if (!*result) log_warn("journal: {}", result->error().message);
            to.reset();
        },
        [self = shared_from_this(), sleepers = std::exchange(forgetting, {}), result] {
            self->writing = false;
            for (const auto& sleeper : sleepers) sleeper->wake(*result);
            if (!self->forgetting.empty())
                self->rewrite();
            else if (!self->waiting.empty())
                self->write();
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

std::string damage_of(const File& file, const JournalContent& content) {
    if (content.damaged_places == 0) return "";
    return fmt::format("{} bytes of {} were damaged on the disk, at {} place{}, and are lost",
                       content.damaged_bytes, file.path, content.damaged_places,
                       content.damaged_places == 1 ? "" : "s");
}

// false: a copy of the file as it is could not be made.
bool copy_aside(const File& file) {
    std::error_code failed;
    std::filesystem::copy_file(file.path, file.path + ".damaged",
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (failed)
        log_warn("journal: {} is not copied to {}.damaged: {}", file.path, file.path, failed.message());
    return !failed;
}

// Cuts off what was not written whole, and stands behind the rest.
Result<> settle(File& file, const JournalContent& content, std::size_t bytes) {
    if (content.size < bytes) {
        log_warn("journal: the last {} bytes of {} were not written whole and are dropped",
                 bytes - content.size, file.path);
        if (::ftruncate(*file.file, static_cast<off_t>(content.size)) != 0 || ::fsync(*file.file) != 0)
            return disk_error("repair", file.path);
    }
    if (::lseek(*file.file, static_cast<off_t>(content.size), SEEK_SET) < 0)
        return disk_error("open", file.path);
    file.size = content.size;
    file.durable = content.size - (content.marked ? journal_mark_bytes : 0);
    file.marked = content.marked;
    file.salt = content.salt ? *content.salt : TRY(random_salt());
    return {};
}

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(Worker& worker, std::string path, JournalLimits limits) {
    auto file = TRY(open_file(path));
    file->reserve_bytes = limits.reserve_bytes;
    const auto bytes = TRY(read_whole(*file->file, file->path));
    // A new file's first line may have been torn as well.
    if (bytes.size() < journal_magic.size() && journal_magic.starts_with(bytes)) {
        TRY(file->rewrite({}));
        return std::make_unique<FileJournal>(worker, std::move(file), Entries{}, limits, "");
    }
    if (!bytes.starts_with(journal_magic))
        return fail(Code::invalid,
                    fmt::format("{} is not a journal, or its first line is damaged", file->path));
    auto content = read_journal(bytes);
    auto damage = damage_of(*file, content);
    if (!damage.empty()) log_error("journal: {}", damage);
    const bool anew = damage.empty() ? !content.salt : copy_aside(*file);
    TRY(settle(*file, content, bytes.size()));
    if (const auto written = anew ? file->rewrite(content.entries) : Result<>{}; !written)
        log_warn("journal: {}", written.error().message);
    if (!file->marked) file->mark();
    file->reserve();
    return std::make_unique<FileJournal>(worker, std::move(file), std::move(content.entries), limits,
                                         std::move(damage));
}

}  // namespace hostler::disk
