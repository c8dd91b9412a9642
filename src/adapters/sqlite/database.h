// SQLite's C API as a connection of src/sql.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sql/connection.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hostler::sqlite {

// Errors of every call: exhausted (the disk is full), conflict (another process has the file), invalid (a
// value is too large), unavailable (anything else: I/O, damage, memory).
class Database final : public sql::Connection {
public:
    // `vfs` empty: the system's own.
    static Result<std::unique_ptr<Database>> open(std::string path, const std::string& vfs);
    ~Database() override;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    using Connection::run;
    Result<> run(std::string_view sql, std::span<const sql::Value> values, const RowSeen& seen) override;
    Result<> script(std::string_view sql) override;
    std::uint64_t changes() const override;
    Result<std::vector<sql::Form>> forms() override;
    std::string_view name() const override { return path_; }
    bool in_transaction() const;
    sqlite3* raw() const { return connection_; }

private:
    explicit Database(std::string path) : path_(std::move(path)) {}
    std::unexpected<Error> error(int code, std::string_view what) const;

    std::string path_;
    sqlite3* connection_ = nullptr;
    std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace hostler::sqlite
