// Messages that are to be sent, in files, in order; durable, bounded.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "adapters/remote_write/message.h"

namespace hostler::remote_write {

struct OutboxCount {
    std::uint64_t bytes = 0;            // On disk, of what is to be sent and of files that hold some of it.
    std::uint64_t samples = 0;          // To be sent.
    std::uint64_t samples_dropped = 0;  // Since it was opened: given up for want of room.
    std::uint64_t damaged = 0;          // Files of which a part could not be read and was left out.
};

struct OutboxLimits {
    std::uint64_t bytes_max = std::uint64_t{4} << 30;  // Beyond, the oldest file is given up.
    std::uint64_t file_bytes = 8 << 20;
};

// Blocks; one thread. A folder of files of records, and one named "cursor" that says up to where they are
// done.
class Outbox {
public:
    // Makes the folder when it is not there. A record that a crash cut short is taken off. Errors:
    // unavailable, exhausted.
    static Result<std::unique_ptr<Outbox>> open(const std::string& folder, OutboxLimits limits = {});
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    // All of them are durable when it returns, or none is kept. Errors: exhausted (the disk is full),
    // unavailable.
    Result<> append(std::span<const Message> messages);
    // The oldest that is not done, the same until done(). nullopt: all are. Errors: unavailable.
    Result<std::optional<Message>> first();
    // What first() gave will not be given again. A power cut may undo it. Errors: as append().
    Result<> done();

    const OutboxCount& count() const { return count_; }
    const OutboxLimits& limits() const { return limits_; }

private:
    struct File {
        std::uint64_t number = 0;
        std::uint64_t size = 0;
        std::uint64_t samples = 0;  // Of those in it that are not done.
    };
    struct Record {
        Message message;
        std::uint64_t size = 0;  // In the file.
    };
    Outbox(std::string folder, int at, OutboxLimits limits)
        : folder_(std::move(folder)), at_(at), limits_(limits) {}
    Result<> load();
    Result<> load_file(std::uint64_t number, bool last);
    void read_cursor();
    Result<> write_cursor();
    Result<> begin_file();
    Result<> make_room(std::uint64_t bytes);
    Result<> drop_front();
    std::string name(std::uint64_t number) const;

    const std::string folder_;
    const int at_;
    const OutboxLimits limits_;
    std::deque<File> files_;
    int writing_ = -1;  // The last of them, when it may grow.
    int reading_ = -1;  // The first of them.
    std::uint64_t cursor_file_ = 0;
    std::uint64_t cursor_at_ = 0;  // In the first.
    std::optional<Record> first_;
    OutboxCount count_;
};

}  // namespace hostler::remote_write
