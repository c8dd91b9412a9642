#include "adapters/sqlite/integrity.h"

#include <fmt/format.h>

#include <filesystem>

namespace hostler::sqlite {

namespace {

std::unexpected<Error> damaged(const std::string& path, std::string_view why) {
    return fail(Code::unavailable,
                fmt::format("the store {} is damaged: {}; put a backup in its place", path, why),
                "store_damaged");
}

}  // namespace

Result<Look> look_for(const std::string& path, const std::string& vfs) {
    constexpr std::uintmax_t smallest_page = 512;
    if (!vfs.empty()) return Look::everywhere;
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (!missing && size > 0 && size < smallest_page)
        return damaged(path, fmt::format("it is cut off after {} bytes", size));
    if (missing || size < quick_look_from_bytes) return Look::everywhere;
    const auto log = std::filesystem::file_size(path + "-wal", missing);
    return missing || log == 0 ? Look::everywhere : Look::quickly;
}

Result<> check_file(Database& database, const std::string& path, Look look) {
    std::string wrong;
    const std::string_view check =
        look == Look::everywhere ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)";
    TRY(database.run(check, {}, [&](const sql::Row& row) { wrong = row.text(0); }));
    if (wrong == "ok") return {};
    // It begins with a line that says in which database, of which there is one.
    if (const auto line = wrong.rfind('\n'); line != std::string::npos) wrong.erase(0, line + 1);
    return damaged(path, wrong);
}

}  // namespace hostler::sqlite
