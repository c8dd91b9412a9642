// A backup: everything that a store holds, as a file that knows whether it is whole. docs/operate/backup.md
// has its form.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sql/pieces.h"

namespace hostler::sql {

struct BackupHead {
    std::int64_t taken_at = 0;  // Microseconds since 1970.
    std::string release;        // That made it.
    std::uint64_t schema = 0;   // Of the store.
    std::uint64_t epoch = 0;
    std::uint64_t number = 0;  // Of the last commit in it.
};

// Writes the file, piece by piece, from a connection that shows one consistent state for as long as this
// lives.
class BackupWriter {
public:
    BackupWriter(Connection& connection, const Digest& digest, std::int64_t taken_at, std::string release)
        : connection_(connection), digest_(digest), head_{taken_at, std::move(release)} {}
    Result<std::string> next();  // Empty: that was all. Errors: the connection's.

private:
    Result<std::string> begin();
    std::string frame(char kind, std::string_view payload);

    Connection& connection_;
    const Digest& digest_;
    BackupHead head_;
    std::vector<Form> forms_;
    std::size_t table_ = 0;
    std::optional<PieceReader> reader_;
    TableSum sum_;
    std::string chain_;  // Digest of all frames so far.
    enum class At { begin, tables, over } at_ = At::begin;
};

// Some more bytes of a file; empty: it has ended.
using Bytes = std::function<Result<std::string>()>;

// Goes through a backup. Errors: invalid ("backup_damaged": torn, changed, or no backup at all), those of
// `bytes`.
class BackupReader {
public:
    BackupReader(Bytes bytes, const Digest& digest) : bytes_(std::move(bytes)), digest_(digest) {}
    Result<BackupHead> head();  // First of all.
    // Each table in turn; nullopt: that was all, and the file is whole.
    Result<std::optional<Form>> table();
    Result<Piece> piece();  // Of that table; without rows: it has no more, and had as many as it should.
    const TableSum& sum() const { return sum_; }

private:
    struct Frame {
        char kind = 0;
        std::string payload;
    };
    Result<std::string> take(std::size_t size);
    Result<Frame> frame();

    Bytes bytes_;
    const Digest& digest_;
    std::string ahead_;
    std::string chain_;
    TableSum sum_;
    std::uint64_t tables_ = 0;
};

// Reads it to its end. Errors: as the reader's.
Result<BackupHead> verify(BackupReader backup);

}  // namespace hostler::sql
