// `hostler store`: copies, checks and migrates stores that no master uses. `hostler restore`.
#include <CLI/CLI.hpp>

#include <fstream>

#include "adapters/net/digest.h"
#include "adapters/postgres/store.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "bin/arguments.h"
#include "bin/process.h"
#include "bin/roles.h"
#include "bin/stores.h"
#include "core/log.h"
#include "core/version.h"
#include "roles/master/state/consistency.h"
#include "roles/master/state/kinds.h"
#include "sql/check.h"
#include "sql/copy.h"
#include "sql/drop.h"
#include "sql/rows.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

bool is_url(const std::string& where) {
    return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

int exit_code(const Error& error) {
    return error.code == Code::not_found   ? 3
           : error.code == Code::conflict  ? 5
           : error.code == Code::exhausted ? 6
                                           : 1;
}

int told(const Result<>& result) {
    if (result) return 0;
    fmt::print(stderr, "hostler: {}\n", result.error().message);
    return exit_code(result.error());
}

// The file that a store of this name is in.
fs::path file_of(const std::string& where) {
    std::error_code wrong;
    const fs::path path{where};
    const bool folder = fs::is_directory(path, wrong) || (!path.has_extension() && !fs::exists(path, wrong));
    return folder ? path / "store.db" : path;
}

// What a copy or restore that fails must leave as it was: nothing, or an empty file. To be declared before
// the target is opened, so that it is closed by then.
class NewStore {
public:
    explicit NewStore(const std::string& where) {
        if (is_url(where)) return;
        path_ = file_of(where);
        std::error_code missing;
        folder_was_there_ = fs::exists(path_.parent_path(), missing);
        const auto size = fs::file_size(path_, missing);
        was_ = missing ? Was::missing : size == 0 ? Was::empty : Was::used;
    }
    ~NewStore() {
        if (kept_ || was_ == Was::used) return;
        std::error_code wrong;
        for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(path_.string() + suffix, wrong);
        if (was_ == Was::empty)
            fs::resize_file(path_, 0, wrong);
        else
            fs::remove(path_, wrong);
        if (!folder_was_there_) fs::remove(path_.parent_path(), wrong);
    }
    NewStore(const NewStore&) = delete;
    NewStore& operator=(const NewStore&) = delete;
    void keep() { kept_ = true; }

private:
    enum class Was { missing, empty, used };
    fs::path path_;
    Was was_ = Was::used;
    bool folder_was_there_ = true;
    bool kept_ = false;
};

Result<> copy(const std::string& from, const std::string& to) {
    const auto source = TRY(open_alone(from, Opened::there));
    NewStore made{to};
    const auto target = TRY(open_alone(to, Opened::new_too));
    const auto sums = TRY(sql::copy(*source, *target, net::OpenSslDigest{}));
    made.keep();
    for (const auto& sum : sums) fmt::print("{:<10} {:>10}  {}\n", sum.table, sum.rows, sum.digest);
    fmt::print(stderr, "{} is in {} now, and the same in both.\n", source->name(), target->name());
    return {};
}

Result<bool> check(const std::string& where) {
    const auto store = TRY(open_alone(where, Opened::there));
    sql::Rows rows{*store};
    // In this release's form meanwhile: nothing of it is committed.
    TRY(store->run("BEGIN"));
    const bool made = !TRY(store->forms()).empty();
    const std::uint64_t schema = made ? TRY(rows.meta("schema")) : 0;
    if (made) TRY(rows.migrate(true, store->name()));
    auto findings = TRY(sql::check(*store));
    const Snapshot snapshot = TRY(rows.load());
    for (auto& [subject, message] : master::contradictions(snapshot.live))
        findings.push_back({std::move(subject), std::move(message)});
    TRY(sql::each_ended(*store, [&](const Object& object) {
        if (auto wrong = master::unreadable_body(object))
            findings.push_back({std::move(wrong->subject), std::move(wrong->message)});
    }));
    for (const auto& [subject, message] : findings) fmt::print("{}: {}\n", subject, message);
    fmt::print(stderr, "{}: schema {} (this release knows {}), commit {}, {} live objects: {}\n",
               store->name(), schema, sql::newest_schema(), snapshot.number, snapshot.live.size(),
               findings.empty() ? "nothing is wrong" : fmt::format("{} things are wrong", findings.size()));
    return findings.empty();
}

// Its schema before.
Result<std::uint64_t> to_this_release(sql::Connection& store) {
    sql::Rows rows{store};
    if (TRY(store.forms()).empty())
        return fail(Code::conflict, fmt::format("there is no store in {}", store.name()), "store_not_made");
    const std::uint64_t before = TRY(rows.meta("schema"));
    TRY(store.run("BEGIN"));
    TRY(rows.migrate(true, store.name()));
    TRY(store.run("COMMIT"));
    return before;
}

// The row goes into a file of its own first.
Result<> drop(const std::string& where, const std::string& kind, const std::string& id, std::string file,
              bool yes) {
    const auto store = TRY(open_alone(where, Opened::there));
    TRY(to_this_release(*store));
    const std::string row = TRY(sql::text_of_row(*store, kind, id));
    if (file.empty() && is_url(where))
        return fail(Code::invalid, "name the file that the row is written to: --out FILE");
    if (file.empty()) {
        std::string name = fmt::format("dropped-{}-{}", kind, id);
        std::ranges::replace(name, '/', '_');
        file = fmt::format("{}-{}", file_of(where).string(), name);
    }
    if (!yes) {
        fmt::print("{}\n", row);
        return fail(Code::invalid,
                    fmt::format("{} {} is still in {}: nothing was changed. --yes moves it into {}", kind, id,
                                store->name(), file));
    }
    std::error_code error;
    if (fs::exists(file, error))
        return fail(Code::conflict, fmt::format("{} exists already; name another file with --out", file));
    TRY(write_file(file, row));
    Process process;
    TRY(store->run("BEGIN"));
    TRY(sql::drop_row(*store, kind, id, process.timers->wall()));
    TRY(store->run("COMMIT"));
    fmt::print(
        stderr,
        "{} {} is no longer in {}; its former content is in {}. See the effects: hostler store check {}\n",
        kind, id, store->name(), file, where);
    return {};
}

// A log of SQLite's that is damaged in the middle. It is kept as it was.
Result<> cut(const std::string& where, std::string file, bool yes) {
    if (is_url(where))
        return fail(Code::invalid, "only a store of SQLite has such a log; PostgreSQL looks after its own");
    const std::string path = file_of(where).string();
    const SqliteCut found = TRY(look_for_sqlite_cut(path));
    if (file.empty()) file = found.log + ".damaged";
    const std::string what =
        found.nothing_lost ? fmt::format("{} was taken away, and {} has all of its commits", found.log, path)
                           : fmt::format("{} was cut behind {} commits, and {} or more behind that are lost",
                                         found.log, found.kept, found.dropped);
    if (!yes)
        return fail(Code::invalid,
                    fmt::format("nothing was changed. With --yes: {}; the present log is then kept in {}",
                                what, file));
    std::error_code error;
    if (fs::exists(file, error))
        return fail(Code::conflict, fmt::format("{} exists already; name another file with --out", file));
    const std::string log = read_file(found.log);
    if (log.empty()) return fail(Code::unavailable, fmt::format("{} cannot be read", found.log));
    TRY(write_file(file, log));
    TRY(cut_sqlite_log(path));
    fmt::print(stderr, "{}. As it was it is in {}.\n", what, file);
    const auto store = TRY(open_alone(where, Opened::there));
    TRY(to_this_release(*store));
    Process process;
    TRY(store->run("BEGIN"));
    TRY(sql::note_cut(*store, fmt::format("{}.", what), process.timers->wall()));
    TRY(store->run("COMMIT"));
    fmt::print(stderr,
               "See what is left, start the master, and see what hosts know and the store does not:\n"
               "    hostler store check {}\n    hostler reconcile review\n",
               where);
    return {};
}

Result<> migrate(const std::string& where) {
    const auto store = TRY(open_alone(where, Opened::there));
    const std::uint64_t before = TRY(to_this_release(*store));
    fmt::print(stderr, "{}: schema {}, was {}\n", store->name(), TRY(sql::Rows{*store}.meta("schema")),
               before);
    return {};
}

// Without them no master leads with this store.
Result<> tell_sealing_keys(sql::Connection& store, const std::string& to) {
    const Page page = TRY(sql::Rows{store}.list({.kind = std::string{master::Kind<SealingKey>::name}}));
    const fs::path ring = fs::path{to} / "authority" / sealing_keys_file;
    std::error_code wrong;
    const bool looked = !is_url(to) && fs::is_directory(to, wrong);
    const auto there = looked ? sodium::open_sealer(ring) : Result<std::unique_ptr<Sealer>>{nullptr};
    std::string needed;
    for (const Object& object : page.objects) {
        const auto key = TRY(master::decode_body<SealingKey>(object.body));
        const bool seals = key.phase == SealingPhase::current || key.phase == SealingPhase::former;
        if (!seals || (looked && there && std::ranges::count((*there)->keys(), key.id) > 0)) continue;
        needed += (needed.empty() ? "" : ", ") + key.id;
    }
    if (!needed.empty())
        fmt::print(
            stderr,
            "Secrets in it are sealed by {}{}. No master leads without: bring the file of `hostler seal "
            "export`\n"
            "    hostler seal import FILE --master-data DIR\n",
            needed, looked ? ", which is not in " + ring.string() : "");
    return {};
}

Result<> restore(const std::string& file, const std::string& to, bool revoke_keys) {
    std::ifstream stream{file, std::ios::binary};
    if (!stream) return fail(Code::not_found, fmt::format("{} cannot be read", file));
    const net::OpenSslDigest digest;
    sql::BackupReader backup{file_bytes(stream), digest};
    NewStore made{to};
    const auto target = TRY(open_alone(to, Opened::new_too));
    Process process;
    const auto head = TRY(sql::restore(
        backup, *target, digest,
        {.time = process.timers->wall().time_since_epoch().count(), .revoke_keys = revoke_keys}));
    made.keep();
    fmt::print(stderr,
               "{} holds the backup of {} now. Start the master, and see what has happened since:\n"
               "    hostler reconcile review\n"
               "{}\n",
               target->name(), rfc3339(WallTime{std::chrono::microseconds{head.taken_at}}),
               revoke_keys
                   ? "The API keys of the backup are revoked; only the operator's own key is valid."
                   : "API keys that were revoked since that time are valid again: see `hostler key list`.");
    return tell_sealing_keys(*target, to);
}

}  // namespace

Result<std::unique_ptr<sql::Connection>> open_alone(const std::string& where, Opened which) {
    if (is_url(where)) return open_postgres_alone(where);
    fs::path path{where};
    std::error_code wrong;
    if (which == Opened::new_too && !path.has_extension() && !fs::exists(path, wrong) &&
        fs::create_directories(path, wrong))
        fs::permissions(path, fs::perms::owner_all, wrong);
    if (wrong) return fail(Code::unavailable, fmt::format("{} cannot be made: {}", where, wrong.message()));
    if (fs::is_directory(path, wrong)) path /= "store.db";
    return open_sqlite_alone(path, which == Opened::there ? IfMissing::refuse : IfMissing::make);
}

sql::Bytes file_bytes(std::istream& stream) {
    return [&stream]() -> Result<std::string> {
        std::string bytes(std::size_t{1} << 20, '\0');
        stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes.resize(static_cast<std::size_t>(stream.gcount()));
        if (stream.bad()) return fail(Code::unavailable, "the file cannot be read");
        return bytes;
    };
}

int store_main(int argc, const char* const* argv) {
    CLI::App app{
        "Look after a store that no master uses. A store is named by its file, by the --data folder of its "
        "master, or as postgresql://USER@HOST/DATABASE.",
        "hostler store"};
    app.require_subcommand(1);
    std::string from, to, where;
    CLI::App* copies = app.add_subcommand("copy", "Copy a store into a new one, of either kind");
    copies->add_option("from", from, "The store")->required();
    copies->add_option("to", to, "A new file or an empty database")->required();
    CLI::App* checks = app.add_subcommand("check", "Tell what in a store is wrong; 1 if something is");
    checks->add_option("store", where, "The store")->required();
    std::string kind, id, file;
    bool yes = false;
    CLI::App* drops =
        app.add_subcommand("drop", "Move an object that cannot be read out of a store, into a file");
    drops->add_option("store", where, "The store")->required();
    drops->add_option("kind", kind, "Its kind, as `check` shows it: instance, claim, volume")->required();
    drops->add_option("id", id, "Its id")->required();
    drops->add_option("--out", file, "The new file. Default: next to store.db");
    drops->add_flag("--yes", yes, "Do it; else it is only shown");
    CLI::App* cuts = app.add_subcommand(
        "cut", "Cut a log of SQLite's that is damaged at the last commit that can be read, and keep a copy");
    cuts->add_option("store", where, "The store")->required();
    cuts->add_option("--out", file, "Copy of the present log. Default: next to it");
    cuts->add_flag("--yes", yes, "Do it; else it only says what would be lost");
    CLI::App* migrates = app.add_subcommand("migrate", "Bring the tables of a store to this release");
    migrates->add_option("store", where, "The store")->required();
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (*copies) return told(copy(from, to));
    if (*migrates) return told(migrate(where));
    if (*cuts) return told(cut(where, file, yes));
    if (*drops) return told(drop(where, kind, id, file, yes));
    const auto good = check(where);
    return good ? (*good ? 0 : 1) : told(std::unexpected(good.error()));
}

int restore_main(int argc, const char* const* argv) {
    CLI::App app{
        "Make a new store of a backup. Keys of the certificate authority, and those that seal secrets, "
        "are not in it: put them back first.",
        "hostler restore"};
    std::string file, to;
    bool revoke_keys = false;
    app.add_option("file", file, "The backup")->required();
    app.add_option("--to", to,
                   "The new store: its file, the --data folder of its master, or an empty database as "
                   "postgresql://USER@HOST/DATABASE")
        ->required();
    app.add_flag("--revoke-keys", revoke_keys, "Let no API key of the backup open anything");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    return told(restore(file, to, revoke_keys));
}

}  // namespace hostler::bin
