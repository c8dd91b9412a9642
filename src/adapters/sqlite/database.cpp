#include "adapters/sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "sql/forms.h"

namespace hostler::sqlite {

namespace {

Code code_of(int code) {
    switch (code & 0xff) {
        case SQLITE_FULL: return Code::exhausted;
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return Code::conflict;
        case SQLITE_TOOBIG: return Code::invalid;
        default: return Code::unavailable;
    }
}

int bind(sqlite3_stmt* statement, int index, const sql::Value& value) {
    if (!value.is_text) return sqlite3_bind_int64(statement, index, value.number);
    const char* text = value.text.empty() ? "" : value.text.data();
    return sqlite3_bind_text64(statement, index, text, value.text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

class StepRow final : public sql::Row {
public:
    explicit StepRow(sqlite3_stmt* statement) : statement_(statement) {}

    std::uint64_t number(int column) const override {
        return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
    }
    std::string text(int column) const override {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return text ? std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))}
                    : std::string{};
    }

private:
    sqlite3_stmt* statement_;
};

}  // namespace

Result<std::unique_ptr<Database>> Database::open(std::string path, const std::string& vfs) {
    std::unique_ptr<Database> database{new Database{std::move(path)}};
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(database->path_.c_str(), &database->connection_, flags,
                                     vfs.empty() ? nullptr : vfs.c_str());
    if (code != SQLITE_OK) return database->error(code, "cannot be opened");
    return database;
}

Database::~Database() {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(connection_);
}

Result<> Database::run(std::string_view sql, std::span<const sql::Value> values, const RowSeen& seen) {
    auto found = statements_.find(sql);
    if (found == statements_.end()) {
        sqlite3_stmt* made = nullptr;
        const int code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                            SQLITE_PREPARE_PERSISTENT, &made, nullptr);
        if (code != SQLITE_OK) return error(code, "refused a statement");
        found = statements_.emplace(std::string{sql}, made).first;
    }
    sqlite3_stmt* statement = found->second;
    int index = 0;
    int code = SQLITE_OK;
    for (const sql::Value& value : values)
        if (code == SQLITE_OK) code = bind(statement, ++index, value);
    if (code == SQLITE_OK) {
        const StepRow row{statement};
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            if (seen) seen(row);
    }
    Result<> result{};
    if (code != SQLITE_OK && code != SQLITE_DONE) result = error(code, "failed");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return result;
}

Result<> Database::script(std::string_view sql) {
    const int code = sqlite3_exec(connection_, std::string{sql}.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(code, "failed");
    return {};
}

std::uint64_t Database::changes() const { return static_cast<std::uint64_t>(sqlite3_changes64(connection_)); }

Result<std::vector<sql::Form>> Database::forms() {
    return sql::read_forms(
        *this,
        "SELECT m.name, p.name, p.type, p.pk FROM sqlite_master m, pragma_table_info(m.name) p "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, p.cid",
        {"BIGINT", "INTEGER"});
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_) == 0; }

std::unexpected<Error> Database::error(int code, std::string_view what) const {
    if ((code & 0xff) == SQLITE_FULL)
        return fail(Code::exhausted, fmt::format("the disk of the store {} is full; make room on it", path_),
                    "disk_full");
    if ((code & 0xff) == SQLITE_BUSY)
        return fail(
            Code::conflict,
            fmt::format("the store {} is in use by another master; stop that one or use another file", path_),
            "store_in_use");
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
        return fail(Code::unavailable,
                    fmt::format("the store {} is damaged: {}; put a backup in its place", path_,
                                sqlite3_errstr(code)),
                    "store_damaged");
    const char* words = connection_ ? sqlite3_errmsg(connection_) : sqlite3_errstr(code);
    return fail(code_of(code), fmt::format("the store {} {}: {} (SQLite code {})", path_, what, words, code));
}

}  // namespace hostler::sqlite
