// A file beside the store with the commits that its tables have not got yet. Pages of 4096 bytes for each row
// and index of a commit are many times what it says; here each is written once, and the tables are written
// when there are many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

struct sqlite3_file;

namespace hostler::sqlite {

// Frames that each were one sync: magic, length, checksum, payload. Errors of all calls: exhausted (the disk
// is full), unavailable.
class CommitLog {
public:
    CommitLog(std::string path, std::string vfs);
    ~CommitLog();
    CommitLog(const CommitLog&) = delete;
    CommitLog& operator=(const CommitLog&) = delete;

    Result<> open();  // Or makes it.
    void close();

    struct Content {
        std::vector<std::string> frames;  // Whole ones from the beginning, in order.
        std::uint64_t end = 0;            // Of them.
        std::vector<std::string> beyond;  // Whole ones behind bytes that are none: of former contents, or the
                                          // bytes are damaged.
    };
    Result<Content> read();
    // Durable when it returns. Errors: exhausted: nothing of it is there; unavailable: that is unknown.
    Result<> append(std::string_view payload);
    Result<> clear();  // Once the tables have all of it.
    std::uint64_t size() const { return size_; }
    const std::string& path() const { return path_; }

private:
    std::unexpected<Error> error(int code, std::string_view what) const;

    std::string path_;
    std::string vfs_;
    std::vector<std::max_align_t> room_;  // Of the file, as the file system wants it.
    sqlite3_file* file_ = nullptr;
    std::uint64_t size_ = 0;
};

}  // namespace hostler::sqlite
