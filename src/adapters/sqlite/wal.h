// SQLite's write-ahead log as bytes (sqlite.org/fileformat2.html, section 4). SQLite takes the commits from
// its beginning up to the first frame that is not as it was written, and drops what follows without a word:
// after a power cut that is a commit that nobody was told of, after a changed byte it is what was durable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/result.h"

namespace hostler::sqlite {

// A file as it lies there.
struct FileBytes {
    std::uint64_t size = 0;
    // Fewer than `count` only at the end of the file.
    std::function<Result<std::string>(std::uint64_t at, std::size_t count)> read;
    // The last frame of a commit is repeated up to the end of its sector.
    bool pads = false;
};

struct Wal {
    enum class State {
        whole,       // Behind its commits is nothing, or what SQLite will write over.
        unfinished,  // One commit behind them is not whole. It was never durable, unless its bytes changed.
        damaged,     // Commits that were durable are behind the damage.
    };
    enum class Behind {
        only_here,     // Without what is behind the damage the store is of an earlier moment.
        in_the_store,  // Everything had been copied into the store's file: it is whole without the log.
        half_copied,   // Copying had begun: without what is behind the damage the store is of no moment.
    };
    struct Changed {
        std::uint64_t at = 0;
        char is = 0, was = 0;
    };
    State state = State::whole;
    std::uint64_t whole_bytes = 0;  // Up to the end of the last commit before the damage,
    std::uint64_t whole_commits = 0;
    std::uint64_t bad_at = 0;           // where the frame or header begins that is not as it was written,
    std::uint64_t lost_commits = 0;     // and commits that can be recognized there and behind.
    Behind behind = Behind::only_here;  // Looked at only where `state` is damaged.
    // The one byte of the log's header that is not as it was written: with it put right the log is whole up
    // to its first frame at least. Of other bytes the checksums do not tell which one it is.
    std::optional<Changed> changed{};
};

// `store`: the file that the log belongs to. Errors: of reading.
Result<Wal> look_at_wal(const FileBytes& wal, const FileBytes& store);

}  // namespace hostler::sqlite
