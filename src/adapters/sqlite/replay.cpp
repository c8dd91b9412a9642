#include "adapters/sqlite/replay.h"

#include <fmt/format.h>

#include "core/log.h"
#include "sql/changes_text.h"
#include "sql/pieces.h"
#include "sql/rows.h"

namespace hostler::sqlite {

namespace {

struct Frame {
    std::uint64_t before = 0;  // The commit that it follows.
    std::vector<Changes> changes{};
};

Result<Frame> frame_of(std::string_view bytes) {
    Frame frame{.before = TRY(sql::take_number(bytes))};
    while (!bytes.empty()) frame.changes.push_back(TRY(sql::take_changes(bytes)));
    return frame;
}

std::unexpected<Error> damaged(const CommitLog& log, std::string_view why) {
    return fail(
        Code::unavailable,
        fmt::format("the store's log {} is damaged: {}; put a backup in the store's place, or remove the "
                    "log to go on without what is in it only",
                    log.path(), why),
        "store_damaged");
}

}  // namespace

Result<> replay(Database& database, CommitLog& log) {
    const auto content = TRY(log.read());
    sql::Rows rows{database};
    const std::uint64_t first = TRY(rows.meta("number"));
    std::uint64_t number = first;
    std::size_t written = 0;
    for (const std::string& bytes : content.frames) {
        const Frame frame = TRY(frame_of(bytes));
        if (frame.before > number)
            return damaged(log, fmt::format("it goes on behind commit {}, and the store {} ends with {}",
                                            frame.before, database.name(), number));
        for (const Changes& changes : frame.changes) {
            if (changes.number <= number) continue;  // The tables were written, and the log was not emptied.
            TRY(rows.write(changes));
            number = changes.number;
            ++written;
        }
    }
    // The last frame may be torn: nobody was told that it was written. One behind it was begun after its
    // sync.
    for (const std::string& bytes : content.beyond) {
        const Frame frame = TRY(frame_of(bytes));
        if (!frame.changes.empty() && frame.changes.back().number > number)
            return damaged(
                log, fmt::format("behind its byte {} are the commits after {}, which cannot be read, and "
                                 "whole ones up to {}",
                                 content.end, number, frame.changes.back().number));
    }
    if (content.end < log.size())
        log_warn(
            "the store's log {} ends with {} bytes that are no whole commit: one was under way when the "
            "master ended, "
            "and nobody was told that it was written",
            log.path(), log.size() - content.end);
    if (number != first) TRY(rows.set_meta("number", number));
    if (written > 0) log_info("the store {}: {} commits of its log", database.name(), written);
    return {};
}

Result<> take_log(Database& database, const std::string& path, const std::string& vfs) {
    sql::Rows rows{database};
    std::uint64_t tables = 0;
    TRY(database.run("SELECT count(*) FROM sqlite_master WHERE name = 'meta'", {},
                     [&](const sql::Row& row) { tables = row.number(0); }));
    if (tables == 0 || TRY(rows.meta("floor_without_log")) == 0) return {};
    TRY(rows.check_schema(path));
    CommitLog log{log_of(path), vfs};
    TRY(log.open());
    TRY(database.run("BEGIN IMMEDIATE"));
    Result<> taken = replay(database, log);
    if (taken) taken = rows.lower_floor_after_log();
    if (taken) taken = database.run("COMMIT");
    if (taken) return log.clear();
    if (database.in_transaction()) (void)database.run("ROLLBACK");
    return taken;
}

}  // namespace hostler::sqlite
