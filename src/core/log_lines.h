// What a container wrote, in pieces with the time of each. A line comes as one piece or as several: engines
// cut long ones, and write down at once what has no line break yet.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.h"

namespace hostler {

struct LogPiece {
    WallTime time;
    std::string_view text;  // Any bytes. Its line break is the last of them; without one, the line continues.
    bool error = false;     // Of standard error.
    bool operator==(const LogPiece&) const = default;
};

// Where a reader stands: behind the `count`-th of the pieces that have this time. As text:
// "1763725229000123.1".
struct LogPlace {
    WallTime time{};
    std::size_t count = 0;
    bool operator==(const LogPlace&) const = default;
};
std::string to_text(LogPlace place);
// Errors: invalid.
Result<LogPlace> parse_log_place(std::string_view text);

// Pieces one after another: "1763725229000123 F hello\n", with P instead of F where the line continues, and
// of standard error E and e.
void append_piece(std::string& log, const LogPiece& piece);
// Views into `log`; what is no piece is passed over.
std::vector<LogPiece> log_pieces(std::string_view log);
// For readers that know F and P only.
std::string without_streams(std::string log);
// All that was written, without the times.
std::string text_of(std::span<const LogPiece> pieces);

struct LogsWanted {
    std::size_t bytes_max = 0;         // Of the answer's pieces.
    std::size_t lines_max = SIZE_MAX;  // The last ones,
    WallTime since{};                  // none from before this time.
    std::optional<LogPlace> after{};   // Those behind it, and then the first ones.
};

struct LogPart {
    std::string pieces{};
    bool truncated = false;  // Something that is wanted is left out before it.
    bool inside = false;     // It begins within a line.
    LogPlace next{};         // Behind its last piece.
};

// `whole`: nothing was written before the first of `log`.
LogPart log_part(std::span<const LogPiece> log, bool whole, const LogsWanted& wanted);
// Whether more from before the first of `log` could not change log_part().
bool log_suffices(std::span<const LogPiece> log, const LogsWanted& wanted);

// As engines answer, and older agents told: "2026-11-21T11:40:29.000123Z hello". Lines before the first
// with a time are left out, since the beginning of such a text may be cut off; a later line without one has
// the time of the line before it.
std::vector<LogPiece> log_lines(std::string_view timed);
std::string with_time(WallTime time, std::string_view line);

}  // namespace hostler
