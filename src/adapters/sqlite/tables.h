// The blocking side of the store: transactions on the tables of schema/. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/reserve.h"
#include "adapters/sqlite/store.h"

namespace hostler::sqlite {

class Tables {
public:
    static Result<std::unique_ptr<Tables>> open(std::string path, SqliteOptions options);

    Result<std::uint64_t> lead(std::uint64_t above);
    // One answer for each, in order; one transaction and one sync for all.
    std::vector<Result<>> commit(const std::vector<Changes>& batch);
    Result<Snapshot> load();
    Result<Page> list(const ListQuery& query);
    Result<Object> find(const std::string& kind, const std::string& id);
    Result<std::vector<EventRecord>> events(const EventQuery& query);
    // Takes out a bounded part of what prune() promises; true: there is more.
    Result<bool> prune(WallTime before);

private:
    Tables(std::string path, SqliteOptions options);
    Result<> connect();
    Result<> migrate();
    Result<> check_usable() const;
    // Runs `body` in a transaction. A full disk leaves nothing written, proven by a commit after it.
    Result<> transact(const std::function<Result<>()>& body);
    Result<> transact_with_reserve(const std::function<Result<>()>& body);
    Result<> after_full(Error error);
    Result<std::uint64_t> meta(std::string_view name);
    Result<> set_meta(std::string_view name, std::uint64_t value);

    Result<> apply_in_savepoint(const Changes& changes);
    Result<> apply(const Changes& changes);
    Result<> put(const Object& object, std::uint64_t number);
    Result<> erase(const std::string& kind, const std::string& id);
    Result<> append_events(const Changes& changes);
    Result<> append_ledger(const Changes& changes);
    Result<> append_audit(const Changes& changes);
    Result<std::uint64_t> last_number_before(WallTime before);

    std::string path_;
    SqliteOptions options_;
    Reserve reserve_;
    std::unique_ptr<Database> database_;
    bool broken_ = false;  // A commit's outcome is unknown: nothing more before lead().
};

}  // namespace hostler::sqlite
