// A connection to a database, whichever it is: statements in, rows out. One thread at a time; every call
// blocks.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::sql {

// A row while it is being looked at; columns count from 0.
class Row {
public:
    virtual std::uint64_t number(int column) const = 0;
    virtual std::string text(int column) const = 0;  // Byte for byte what was put in.

protected:
    ~Row() = default;
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

// A table as the database has it, which a newer release may have given more columns.
struct Form {
    struct Column {
        std::string name;
        bool is_number = false;  // Else text or bytes.
        bool operator==(const Column&) const = default;
    };
    std::string table;
    std::vector<Column> columns;
    std::vector<std::size_t> key;  // Of its rows: places in `columns`.
    bool operator==(const Form&) const = default;
};

// Errors of every call: exhausted (the disk is full), conflict (somebody else has the store), invalid (a
// value that the database cannot hold), unavailable (anything else: I/O, damage, a lost connection).
class Connection {
public:
    virtual ~Connection() = default;

    using RowSeen = std::function<void(const Row&)>;
    // Runs one statement with its values `?1` `?2` …, every one of them named; it is prepared at its first
    // use.
    virtual Result<> run(std::string_view sql, std::span<const Value> values, const RowSeen& seen = {}) = 0;
    Result<> run(std::string_view sql, std::initializer_list<Value> values = {}, const RowSeen& seen = {}) {
        return run(sql, std::span<const Value>{values.begin(), values.size()}, seen);
    }
    virtual Result<> script(std::string_view sql) = 0;  // A text of many statements.
    virtual std::uint64_t changes() const = 0;          // Rows that the last run() changed.
    virtual Result<std::vector<Form>> forms() = 0;      // Of all tables, in order of their names.

    // Until settle() what runs may be sent together, unless its rows are looked at: the first failure is
    // settle()'s, and what came after it was not run.
    virtual void pipeline() {}
    virtual Result<> settle() { return {}; }
    // Whether this is said for the first time: what is met again with each read is logged once.
    bool first_time(std::string subject) {
        constexpr std::size_t subjects_max = 1000;
        return told_.size() < subjects_max && told_.insert(std::move(subject)).second;
    }
    // For people, without a password: a path, or "postgresql://db:5432/hostler".
    virtual std::string_view name() const = 0;

private:
    std::set<std::string> told_;
};

}  // namespace hostler::sql
