// libpq as a connection of src/sql: pipelined, and with a deadline for every wait.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sql/connection.h"

struct pg_conn;
struct pg_result;

namespace hostler::postgres {

class Connection final : public sql::Connection {
public:
    using Milliseconds = std::chrono::milliseconds;
    // Errors: invalid: not a connection string; unavailable.
    static Result<std::unique_ptr<Connection>> open(const std::string& url, Milliseconds connect_max,
                                                    Milliseconds call_max);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    using sql::Connection::run;
    Result<> run(std::string_view sql, std::span<const sql::Value> values, const RowSeen& seen) override;
    Result<> script(std::string_view sql) override;
    std::uint64_t changes() const override { return changes_; }
    Result<std::vector<sql::Form>> forms() override;
    void pipeline() override { waits_ = false; }
    Result<> settle() override;
    std::string_view name() const override { return name_; }

    bool lost() const { return lost_; }  // Nothing works any more.

private:
    Connection(pg_conn* connection, Milliseconds call_max);
    enum class Wanted { reading, reading_and_writing };
    Result<> wait(Wanted wanted, std::chrono::steady_clock::time_point deadline);
    Result<std::string> prepared(std::string_view sql);
    Result<> receive(const RowSeen& seen);  // Up to the answer to the last sync.
    Result<> read_results(const RowSeen& seen, bool until_sync);
    std::unexpected<Error> lose(std::string_view why);
    std::unexpected<Error> error_of(const pg_result* result) const;

    pg_conn* connection_;
    Milliseconds call_max_;
    std::string name_;
    std::map<std::string, std::string, std::less<>> statements_;  // Their names, by text.
    std::vector<std::string> fresh_;                              // Prepared since the last sync.
    std::uint64_t prepared_ = 0;
    std::uint64_t changes_ = 0;
    bool waits_ = true;
    bool lost_ = false;
};

}  // namespace hostler::postgres
