// Stores of either kind, filled with something, to be copied, backed up and restored.
#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "adapters/net/digest.h"
#include "adapters/postgres/store.h"
#include "adapters/postgres/testing/server.h"
#include "adapters/sqlite/store.h"
#include "core/worker.h"
#include "ports/audit_chain.h"
#include "sql/copy.h"
#include "store_contract.h"

namespace hostler::contract {

struct CopyFolder {
    CopyFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "hostler-copy-XXXXXX";
        path = ::mkdtemp(pattern.data());
    }
    ~CopyFolder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

enum class Database { sqlite, postgres };

// A place for a store of this kind, in which there is none.
struct Place {
    explicit Place(Database of) : kind(of) {
        if (kind == Database::postgres)
            url = postgres::testing::shared().url(postgres::testing::shared().new_database());
    }
    Result<std::unique_ptr<Store>> open() {
        return kind == Database::sqlite ? open_sqlite(file(), *worker)
                                        : open_postgres(url, *worker, *lease_worker);
    }
    Result<std::unique_ptr<sql::Connection>> alone(IfMissing missing = IfMissing::make) {
        return kind == Database::sqlite ? open_sqlite_alone(file(), missing) : open_postgres_alone(url);
    }
    std::string file() const { return folder.path / "store.db"; }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop, std::move(task));
    }
    // Objects of three kinds, some ended, with what happened to them and who held what.
    void fill(int objects = 700) {
        auto store = open().value();
        const auto epoch = lead(*store, 6);
        const WallTime time{std::chrono::seconds{1'800'000'000}};
        std::uint64_t number = 0;
        AuditHead head;
        for (int i = 0; i < objects;) {
            Changes changes{.epoch = epoch, .number = ++number};
            for (int many = 0; many < 100 && i < objects; ++many, ++i) {
                const std::string id = fmt::format("{}-é{}", i, i % 7);
                changes.put.push_back(
                    {.kind = i % 3 == 0   ? "claim"
                             : i % 3 == 1 ? "instance"
                                          : "command",
                     .id = id,
                     .tenant = "acme",
                     .phase = "instance",
                     .generation = static_cast<std::uint64_t>(i),
                     .live = i % 5 != 0,
                     .body = fmt::format("{{\"text\":\"{}\"}}", std::string(i % 97, '\x01'))});
                changes.events.push_back(
                    {time, "instance", id, "acme", "test", "placed", "Ein Wort: \xc3\xa4."});
                if (i % 3 == 0)
                    changes.ledger.push_back(
                        {time, id, "h-1", "acme", i % 5 != 0 ? "instance" : "released", "{}"});
            }
            changes.audit.push_back(
                {time, "key/k-1", "::1", "createInstance", "instance/1", "acme", 200, "", "{}", "curl/8.1"});
            chain_lines(net::OpenSslDigest{}, number, changes.audit, head);
            changes.seals.push_back({head, time, epoch, "f00d", "CERTIFICATE", "c2lnbmF0dXJl"});
            EXPECT_TRUE(run(store->commit(std::move(changes))));
        }
        EXPECT_TRUE(run(store->resign()));
    }
    std::uint64_t lead(Store& store, std::uint64_t above = 0) {
        return run(store.lead({"m-1", "here"}, std::chrono::seconds{60}, above)).value().epoch;
    }
    Database kind;
    CopyFolder folder;
    std::string url;
    Loop loop;
    std::unique_ptr<Worker> worker = make_worker(loop, "store"), lease_worker = make_worker(loop, "lease");
};

inline const net::OpenSslDigest digest;

inline std::vector<sql::TableSum> sums_of(sql::Connection& connection) {
    std::vector<sql::TableSum> sums;
    for (const auto& form : connection.forms().value())
        sums.push_back(sql::sum_of(connection, form, digest).value());
    return sums;
}

inline std::string backup_of(sql::Connection& connection) {
    sql::BackupWriter writer{connection, digest, 1'700'000'000'000'000, "0.1.0"};
    std::string all;
    while (true) {
        const auto piece = writer.next();
        EXPECT_TRUE(piece) << piece.error().message;
        if (!piece || piece->empty()) return all;
        all += *piece;
    }
}

inline sql::Bytes bytes_of(std::string text) {
    return [text = std::move(text), at = std::size_t{0}]() mutable -> Result<std::string> {
        constexpr std::size_t step = 1000;
        const std::string part = text.substr(std::min(at, text.size()), step);
        at += part.size();
        return part;
    };
}

inline Result<sql::BackupHead> restored(const std::string& backup, sql::Connection& to,
                                        bool revoke_keys = false) {
    sql::BackupReader reader{bytes_of(backup), digest};
    return sql::restore(reader, to, digest, {.time = 1'800'000'000'000'000, .revoke_keys = revoke_keys});
}

}  // namespace hostler::contract
