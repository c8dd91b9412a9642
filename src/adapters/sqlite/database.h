// SQLite's C API with Results: a connection and its prepared statements.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hostler::sqlite {

// A row while it is being looked at; columns count from 0.
class Row {
public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
    std::uint64_t number(int column) const;
    std::string text(int column) const;  // Byte for byte what was put in.

private:
    sqlite3_stmt* statement_;
};

// A value for a `?N`: text is not copied and must live through the call.
struct Value {
    Value(std::string_view from) : text(from), is_text(true) {}
    Value(const std::string& from) : text(from), is_text(true) {}
    Value(const char* from) : text(from), is_text(true) {}
    template <std::integral T>
    Value(T from) : number(static_cast<std::int64_t>(from)) {}
    std::string_view text{};
    std::int64_t number = 0;
    bool is_text = false;
};

// Errors of every call: exhausted (the disk is full), conflict (another process has the file), invalid (a
// value is too large), unavailable (anything else: I/O, damage, memory).
class Database {
public:
    // `vfs` empty: the system's own.
    static Result<std::unique_ptr<Database>> open(std::string path, const std::string& vfs);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    using RowSeen = std::function<void(const Row&)>;
    // Runs one statement, prepared at its first use.
    Result<> run(std::string_view sql, std::span<const Value> values, const RowSeen& seen = {});
    Result<> run(std::string_view sql, std::initializer_list<Value> values = {}, const RowSeen& seen = {}) {
        return run(sql, std::span<const Value>{values.begin(), values.size()}, seen);
    }
    // Runs a text of many statements.
    Result<> script(std::string_view sql);
    std::uint64_t changes() const;  // Rows that the last run() changed.
    bool in_transaction() const;

private:
    explicit Database(std::string path) : path_(std::move(path)) {}
    std::unexpected<Error> error(int code, std::string_view what) const;

    std::string path_;
    sqlite3* connection_ = nullptr;
    std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace hostler::sqlite
