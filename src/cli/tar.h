// tar archives (POSIX ustar with pax and GNU's long names), as container engines write and read them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/result.h"

namespace hostler::cli {

struct TarEntry {
    enum class Kind { file, folder, link, hard_link, other };
    Kind kind = Kind::file;
    std::string name;  // As the archive has it.
    std::string link;  // Where it leads.
    std::uint32_t mode = 0;
    std::uint64_t size = 0;
    std::int64_t time = 0;  // Seconds since 1970.
};

// The head of an entry; its bytes follow, filled up to tar_padding().
std::string tar_head(const TarEntry& entry);
std::size_t tar_padding(std::uint64_t size);
std::string tar_end();

// Takes an archive as it comes.
class TarReader {
public:
    struct Sink {
        std::function<Result<>(const TarEntry&)> begin;
        std::function<Result<>(std::string_view)> bytes;  // Of the entry that has begun.
        std::function<Result<>()> end;
    };
    explicit TarReader(Sink sink) : sink_(std::move(sink)) {}
    // Errors: the sink's; invalid (no tar archive).
    Result<> feed(std::string_view bytes);
    bool ended() const { return ended_ || (block_.empty() && left_ == 0 && padding_ == 0); }

private:
    Result<> head(std::string_view block);
    Result<> finish_entry();
    Result<> apply_pax(std::string_view records);

    Sink sink_;
    std::string block_;  // Of a head that is not whole.
    std::uint64_t left_ = 0;
    std::size_t padding_ = 0;
    enum class Content { entry, pax, long_name, long_link, skipped };
    Content content_ = Content::skipped;
    std::string special_;                                   // What a head before the entry's own says.
    std::map<std::string, std::string, std::less<>> next_;  // Of the entry to come: path, linkpath, size.
    bool ended_ = false;
};

}  // namespace hostler::cli
