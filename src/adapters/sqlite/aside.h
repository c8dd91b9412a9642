// A copy of the store beside it, made while commits go on: what a backup is read from. Nobody else can open
// the file itself, and SQLite keeps such a copy in step with what its own connection writes meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "adapters/sqlite/database.h"
#include "sql/store.h"

struct sqlite3_backup;

namespace hostler::sqlite {

class CopyAside final : public sql::Reading {
public:
    // At `path` with "-backup" behind it; it goes with this. Errors: exhausted: "disk_full".
    static Result<std::shared_ptr<CopyAside>> begin(Database& of, const std::string& path,
                                                    const std::string& vfs);
    ~CopyAside() override;

    Result<bool> prepare() override;
    sql::Connection& connection() override { return *copy_; }
    void abandon();  // `of` is about to be closed.

private:
    CopyAside(std::string path, std::string vfs) : path_(std::move(path)), vfs_(std::move(vfs)) {}
    void remove() const;

    std::string path_;
    std::string vfs_;
    std::unique_ptr<Database> copy_;
    sqlite3_backup* backup_ = nullptr;
    std::uint64_t page_bytes_ = 0;
    bool whole_ = false;
};

}  // namespace hostler::sqlite
