#include "adapters/postgres/connection.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sql/forms.h"

namespace hostler::postgres {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int binary = 1;

struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, Clear>;

class ResultRow final : public sql::Row {
public:
    ResultRow(const PGresult* result, int row) : result_(result), row_(row) {}

    std::uint64_t number(int column) const override {
        const char* bytes = PQgetvalue(result_, row_, column);
        std::uint64_t value = 0;
        if (PQgetlength(result_, row_, column) == 8) {
            std::memcpy(&value, bytes, 8);
            return be64toh(value);
        }
        std::uint32_t small = 0;
        std::memcpy(&small, bytes, 4);
        return ntohl(small);
    }
    std::string text(int column) const override {
        return {PQgetvalue(result_, row_, column),
                static_cast<std::size_t>(PQgetlength(result_, row_, column))};
    }

private:
    const PGresult* result_;
    int row_;
};

// "a = ?1" as PostgreSQL writes it: "a = $1". No statement of ours has a question mark elsewhere.
std::string with_dollars(std::string_view sql) {
    std::string text{sql};
    for (char& c : text)
        if (c == '?') c = '$';
    return text;
}

// The two words of the schema that differ: names are sorted by their bytes in every database, bodies are
// bytes.
std::string in_dialect(std::string_view script) {
    std::string text;
    std::size_t at = 0;
    while (at < script.size()) {
        const auto is = [&](std::string_view word) { return script.substr(at).starts_with(word); };
        if (is(" TEXT ")) {
            text += R"( TEXT COLLATE "C" )";
            at += 6;
        } else if (is(" BLOB ")) {
            text += " BYTEA ";
            at += 6;
        } else {
            text += script[at++];
        }
    }
    return text;
}

std::string first_line(const char* words) {
    std::string_view text{words ? words : ""};
    while (text.ends_with('\n')) text.remove_suffix(1);
    return std::string{text.substr(0, text.find('\n'))};
}

std::string shown(PGconn* connection) {
    const auto text = [](const char* value) { return std::string_view{value ? value : ""}; };
    return fmt::format("postgresql://{}:{}/{}", text(PQhost(connection)), text(PQport(connection)),
                       text(PQdb(connection)));
}

}  // namespace

Connection::Connection(pg_conn* connection, Milliseconds call_max)
    : connection_(connection), call_max_(call_max), name_(shown(connection)) {}

Connection::~Connection() { PQfinish(connection_); }

Result<std::unique_ptr<Connection>> Connection::open(const std::string& url, Milliseconds connect_max,
                                                     Milliseconds call_max) {
    char* words = nullptr;
    PQconninfoOption* parsed = PQconninfoParse(url.c_str(), &words);
    if (!parsed) {
        const std::string why = first_line(words);
        PQfreemem(words);
        return fail(Code::invalid, fmt::format("the store's URL is not one: {}", why));
    }
    PQconninfoFree(parsed);
    // The last word of a name wins: what the URL says of these holds.
    const std::array<const char*, 5> names{"application_name", "connect_timeout", "tcp_user_timeout",
                                           "dbname", nullptr};
    const std::string user_timeout = std::to_string(call_max.count());
    const std::array<const char*, 5> values{"hostler", "5", user_timeout.c_str(), url.c_str(), nullptr};
    PGconn* raw = PQconnectStartParams(names.data(), values.data(), /*expand_dbname=*/1);
    if (!raw) return fail(Code::unavailable, "the store: out of memory");
    std::unique_ptr<Connection> made{new Connection{raw, call_max}};
    const auto deadline = Clock::now() + connect_max;
    auto state = PQstatus(raw) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        TRY(made->wait(state == PGRES_POLLING_READING ? Wanted::reading : Wanted::reading_and_writing,
                       deadline));
        state = PQconnectPoll(raw);
    }
    if (state != PGRES_POLLING_OK)
        return fail(Code::unavailable, fmt::format("the store {} cannot be reached: {}", made->name_,
                                                   first_line(PQerrorMessage(raw))));
    made->name_ = shown(raw);
    PQsetnonblocking(raw, 1);
    PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
    PQenterPipelineMode(raw);
    return made;
}

// While it waits to write it also reads: a server that cannot get rid of its answers takes no more questions.
Result<> Connection::wait(Wanted wanted, Clock::time_point deadline) {
    pollfd watched{.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
    if (wanted == Wanted::reading_and_writing) watched.events |= POLLOUT;
    while (true) {
        const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return lose("it did not answer in time");
        const int ready = ::poll(&watched, 1, static_cast<int>(left));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return lose(std::strerror(errno));
    }
}

Result<std::string> Connection::prepared(std::string_view sql) {
    if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
    std::string name = fmt::format("s{}", ++prepared_);
    if (!PQsendPrepare(connection_, name.c_str(), with_dollars(sql).c_str(), 0, nullptr))
        return lose(first_line(PQerrorMessage(connection_)));
    statements_.emplace(std::string{sql}, name);
    fresh_.emplace_back(sql);
    return name;
}

Result<> Connection::run(std::string_view sql, std::span<const sql::Value> values, const RowSeen& seen) {
    if (lost_) return lose("it was lost");
    const std::string name = TRY(prepared(sql));
    std::vector<std::uint64_t> numbers(values.size());
    std::vector<const char*> parameters(values.size());
    std::vector<int> lengths(values.size()), formats(values.size(), binary);
    for (std::size_t i = 0; i < values.size(); ++i) {
        numbers[i] = htobe64(static_cast<std::uint64_t>(values[i].number));
        const bool text = values[i].is_text;
        parameters[i] = !text                    ? reinterpret_cast<const char*>(&numbers[i])
                        : values[i].text.empty() ? ""
                                                 : values[i].text.data();
        lengths[i] = text ? static_cast<int>(values[i].text.size()) : 8;
    }
    if (!PQsendQueryPrepared(connection_, name.c_str(), static_cast<int>(values.size()), parameters.data(),
                             lengths.data(), formats.data(), binary))
        return lose(first_line(PQerrorMessage(connection_)));
    if (!waits_ && !seen) return {};
    return receive(seen);
}

Result<> Connection::settle() {
    waits_ = true;
    if (lost_) return lose("it was lost");
    return receive({});
}

Result<> Connection::receive(const RowSeen& seen) {
    if (!PQpipelineSync(connection_)) return lose(first_line(PQerrorMessage(connection_)));
    const auto outcome = read_results(seen, /*until_sync=*/true);
    // Behind a failure nothing was prepared either.
    if (!outcome)
        for (const std::string& sql : fresh_) statements_.erase(sql);
    fresh_.clear();
    return outcome;
}

Result<> Connection::read_results(const RowSeen& seen, bool until_sync) {
    const auto deadline = Clock::now() + call_max_;
    Result<> outcome{};
    while (true) {
        while (true) {
            const int unsent = PQflush(connection_);
            if (unsent < 0) return lose(first_line(PQerrorMessage(connection_)));
            if (unsent == 0 && !PQisBusy(connection_)) break;
            TRY(wait(unsent ? Wanted::reading_and_writing : Wanted::reading, deadline));
            if (!PQconsumeInput(connection_)) return lose(first_line(PQerrorMessage(connection_)));
        }
        const ResultPtr result{PQgetResult(connection_)};
        if (!result) {
            if (PQstatus(connection_) == CONNECTION_BAD) return lose(first_line(PQerrorMessage(connection_)));
            if (!until_sync) return outcome;
            continue;  // The end of one statement's results.
        }
        switch (PQresultStatus(result.get())) {
            case PGRES_PIPELINE_SYNC: return outcome;
            case PGRES_TUPLES_OK:
                if (seen && outcome)
                    for (int row = 0; row < PQntuples(result.get()); ++row)
                        seen(ResultRow{result.get(), row});
                [[fallthrough]];
            case PGRES_COMMAND_OK: changes_ = std::strtoull(PQcmdTuples(result.get()), nullptr, 10); break;
            case PGRES_PIPELINE_ABORTED: break;  // What came before it has failed.
            default:
                if (outcome) outcome = error_of(result.get());
        }
    }
}

Result<> Connection::script(std::string_view sql) {
    if (lost_) return lose("it was lost");
    // The simple protocol alone takes many statements, and not in a pipeline.
    if (!PQexitPipelineMode(connection_) || !PQsendQuery(connection_, in_dialect(sql).c_str()))
        return lose(first_line(PQerrorMessage(connection_)));
    const auto outcome = read_results({}, /*until_sync=*/false);
    if (!lost_) PQenterPipelineMode(connection_);
    return outcome;
}

Result<std::vector<sql::Form>> Connection::forms() {
    return sql::read_forms(
        *this,
        "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, -1), "
        "coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)::bigint FROM pg_class c "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        "LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary WHERE c.relkind = 'r' AND "
        "c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) "
        "ORDER BY c.relname COLLATE \"C\", a.attnum",
        {"bigint", "integer"});
}

std::unexpected<Error> Connection::lose(std::string_view why) {
    lost_ = true;
    return fail(Code::unavailable, fmt::format("the store {}: {}", name_, why));
}

// Classes of https://www.postgresql.org/docs/15/errcodes-appendix.html.
std::unexpected<Error> Connection::error_of(const pg_result* result) const {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view code{state ? state : ""};
    const std::string words = first_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    if (code == "53100")
        return fail(Code::exhausted, fmt::format("the disk of the store {} is full; make room on it", name_),
                    "disk_full");
    if (code == "25006")
        return fail(
            Code::unavailable,
            fmt::format("the store {} takes no changes: it is a standby, or set to be read only", name_),
            "store_read_only");
    const bool of_the_value = code.starts_with("22") || code.starts_with("54");
    return fail(of_the_value ? Code::invalid : Code::unavailable,
                fmt::format("the store {} refused a statement: {} ({})", name_, words, code));
}

}  // namespace hostler::postgres
