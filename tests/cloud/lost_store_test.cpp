// A master without its store, by the program as it is shipped: it does not begin a new cloud by itself.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/store.h"
#include "cloud.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"
#include "core/worker.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class LostStore : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    std::vector<std::string> master(const std::string& data, std::vector<std::string> more = {}) const {
        std::vector<std::string> words{HOSTLER,        "master",           "--data", at(data),
                                       "--api",        "127.0.0.1:0",      "--wire", "127.0.0.1:0",
                                       "--ready-file", at(data + "-ready")};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    // Starts it, waits until it answers, ends it; its mark.
    std::string serve(const std::string& data, const std::string& more = "") const {
        fs::remove(at(data + "-ready"));
        std::string line;
        for (const std::string& word : master(data)) line += word + " ";
        const std::string ended = shell(fmt::format(
            "{} {} >{} 2>&1 & m=$!; i=0; while [ ! -e {} ] && kill -0 $m 2>/dev/null && [ $i -lt 600 ]; do "
            "sleep 0.05; i=$((i+1)); done; kill $m; wait $m; echo $?",
            line, more, at("log"), at(data + "-ready")));
        EXPECT_EQ(ended, "0\n") << read_file(at("log"));
        return read_file(at(data) + "/authority/cloud");
    }
    void lose_store(const std::string& data) const {
        for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(at(data) + "/store.db" + suffix);
    }
    void expect_refused(const std::string& data, const std::vector<std::string>& words) {
        const Ran refused = run_program(master(data));
        EXPECT_EQ(refused.code, 1);
        for (const std::string& word : words) EXPECT_THAT(refused.err + refused.out, HasSubstr(word));
    }
    // The files of a master of a former release.
    void put_recorded(const fs::path& release, const std::string& data) const {
        constexpr auto only_ours = fs::perms::owner_read | fs::perms::owner_write;
        fs::create_directories(at(data) + "/authority");
        for (const char* name : {"authority.pem", "sealing.keys"}) {
            const std::string file = at(data) + "/authority/" + name;
            fs::copy_file(release / "authority" / name, file);
            fs::permissions(file, only_ours);
        }
        const auto store = sqlite::Database::open(at(data) + "/store.db", "").value();
        const auto made = store->script(read_file(release / "store.sql"));
        ASSERT_TRUE(made) << made.error().message;
    }
    testing::TempFolder folder_;
};

TEST_F(LostStore, AMasterRefusesUntilABackupIsRestoredOrANewCloudIsWished) {
    const std::string mark = serve("m");
    EXPECT_EQ(mark.size(), 17u) << mark;
    ASSERT_EQ(run_program({HOSTLER, "backup", at("backup"), "--from", at("m")}).code, 0);
    EXPECT_EQ(serve("m"), mark);
    lose_store("m");
    expect_refused("m", {at("m") + "/store.db", at("m") + "/authority", "hostler restore", "--new-store"});
    EXPECT_FALSE(fs::exists(at("m") + "/store.db"));
    std::ofstream{at("m") + "/store.db"};
    expect_refused("m", {at("m") + "/store.db"});
    EXPECT_EQ(fs::file_size(at("m") + "/store.db"), 0u);
    const Ran restored = run_program({HOSTLER, "restore", at("backup"), "--to", at("m")});
    ASSERT_EQ(restored.code, 0) << restored.err;
    EXPECT_EQ(serve("m"), mark);
    lose_store("m");
    const std::string next = serve("m", "--new-store");
    EXPECT_NE(next, mark);
    EXPECT_EQ(serve("m"), next);
    ASSERT_NE(serve("other"), next);
    fs::copy_file(at("other") + "/store.db", at("m") + "/store.db", fs::copy_options::overwrite_existing);
    expect_refused("m", {"another cloud", at("m") + "/store.db", at("m") + "/authority/cloud"});
    std::ofstream{at("m") + "/authority/cloud"} << "half";
    expect_refused("m", {at("m") + "/authority/cloud is damaged"});
}

TEST_F(LostStore, ACloudOnOneMachineSaysItAtOnce) {
    fs::create_directories(at("up/master/authority"));
    std::ofstream{at("up/master/authority/cloud")} << "00000000000000ab\n";
    const Ran refused = run_program({HOSTLER, "up", "--engine", "sim", "--data", at("up")});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err + refused.out, HasSubstr(at("up") + "/master/store.db is missing or empty"));
    EXPECT_FALSE(fs::exists(at("up/master/store.db")));
}

TEST_F(LostStore, ARefusedRestoreWritesNothing) {
    serve("m");
    ASSERT_EQ(run_program({HOSTLER, "backup", at("backup"), "--from", at("m")}).code, 0);
    const std::string whole = read_file(at("backup"));
    std::ofstream{at("torn"), std::ios::binary} << whole.substr(0, whole.size() / 2);
    EXPECT_NE(run_program({HOSTLER, "restore", at("torn"), "--to", at("new")}).code, 0);
    EXPECT_FALSE(fs::exists(at("new"))) << "nor the folder";
    fs::create_directories(at("there"));
    std::ofstream{at("there/store.db")};
    EXPECT_NE(run_program({HOSTLER, "restore", at("torn"), "--to", at("there")}).code, 0);
    EXPECT_EQ(fs::file_size(at("there/store.db")), 0u);
    EXPECT_EQ(std::distance(fs::directory_iterator{at("there")}, {}), 1);
    EXPECT_NE(run_program({HOSTLER, "store", "copy", at("torn"), at("copy")}).code, 0);
    EXPECT_FALSE(fs::exists(at("copy")));
}

// ── Folders

TEST_F(LostStore, FoldersOfARoleAreForItsOwnerAlone) {
    const auto mode = [](const fs::path& path) {
        return static_cast<unsigned>(fs::status(path).permissions() & fs::perms::mask);
    };
    // As a release before has made them.
    for (const char* name : {"m", "m/authority", "m/series"}) {
        fs::create_directory(at(name));
        fs::permissions(at(name), static_cast<fs::perms>(0755));
    }
    serve("m");
    EXPECT_EQ(mode(at("m")), 0700u);
    for (const auto& one : fs::recursive_directory_iterator{at("m")})
        if (one.is_directory()) EXPECT_EQ(mode(one.path()), 0700u) << one.path();
    EXPECT_TRUE(fs::is_directory(at("m/series")));
    // The other roles want credentials, and look for them in their folder.
    EXPECT_NE(
        run_program({HOSTLER, "access", "--data", at("access"), "--zone", "nj", "--master", "m:1"}).code, 0);
    EXPECT_EQ(mode(at("access")), 0700u);
    EXPECT_NE(run_program({HOSTLER, "gateway", "--data", at("gateway"), "--master", "m:1"}).code, 0);
    EXPECT_EQ(mode(at("gateway")), 0700u);
    if (::geteuid() != 0) return;
    fs::create_directory(at("theirs"));
    fs::permissions(at("theirs"), static_cast<fs::perms>(0755));
    ASSERT_EQ(::chown(at("theirs").c_str(), 12345, 12345), 0);
    serve("theirs");
    EXPECT_EQ(mode(at("theirs")), 0755u) << "another user's folder is not ours to mend";
}

// ── Files of keys

TEST_F(LostStore, AnOperatorsKeyThatIsNoneIsNamed) {
    const std::string file = at("m/operator.key"), key = "hk_an-operators-key-of-its-own-length-1";
    fs::create_directories(at("m"));
    for (const char* text : {"", "hk_an-operators-key-of", "\n", "an-operators-key-that-begins-otherwise"}) {
        std::ofstream{file} << text;
        expect_refused("m", {"the file " + file + " is damaged", "remove it"});
    }
    std::ofstream{file} << key << "\n";
    serve("m");
    EXPECT_THAT(read_file(at("log")), Not(HasSubstr("operator.key")));
    std::ofstream{file} << key.substr(0, key.size() - 1) << "2";
    serve("m");
    EXPECT_THAT(read_file(at("log")), HasSubstr(file + " holds another key than at the start before"));
    serve("m");
    EXPECT_THAT(read_file(at("log")), Not(HasSubstr("operator.key")));
    fs::remove(file);
    serve("m");
    EXPECT_THAT(read_file(at("log")), HasSubstr(file + " is gone"));
}

TEST_F(LostStore, AMasterWithoutItsOwnKeyIsIssuedAnother) {
    serve("m");
    const std::string before = read_file(at("m/key.pem")), certificate = read_file(at("m/certificate.pem"));
    serve("m");
    EXPECT_EQ(read_file(at("m/certificate.pem")), certificate) << "it lasts";
    fs::remove(at("m/key.pem"));
    serve("m");
    EXPECT_NE(read_file(at("m/certificate.pem")), certificate);
    std::ofstream{at("m/key.pem")} << before;  // Of another certificate.
    serve("m");
    EXPECT_NE(read_file(at("m/key.pem")), before);
    for (const char* name : {"key.pem", "certificate.pem", "authority.pem"}) {
        const std::string whole = read_file(at("m/") + name);
        std::ofstream{at("m/") + name} << whole.substr(0, whole.size() / 2);
        serve("m");
        EXPECT_GT(read_file(at("m/") + name).size(), whole.size() / 2 + 1) << name;
    }
}

TEST_F(LostStore, ADamagedLogOfTheStoreIsNamedAndCut) {
    serve("m");
    const std::string store = at("m") + "/store.db", log = store + "-wal";
    {
        // As a kill leaves it: copied while it is in use.
        Loop loop;
        const auto worker = make_worker(loop, "store");
        auto tables = open_sqlite(store, *worker).value();
        const auto run = [&](auto task) { return testing::run_real(loop, std::move(task)).value(); };
        const Lease lease = run(tables->lead({"m-1", "here"}, std::chrono::seconds{60}, 0));
        const std::uint64_t number = run(tables->load()).number;
        for (std::uint64_t i = 1; i <= 20; ++i) {
            Changes changes{.epoch = lease.epoch, .number = number + i};
            changes.events.push_back({.kind = "master", .id = "m-1", .actor = "test", .reason = "told"});
            ASSERT_TRUE(testing::run_real(loop, tables->commit(std::move(changes))));
        }
        fs::copy_file(store, at("store"));
        fs::copy_file(log, at("log-file"));
    }
    fs::rename(at("store"), store);
    fs::rename(at("log-file"), log);
    std::string bytes = read_file(log);
    bytes[bytes.size() / 2] ^= 0x10;
    std::ofstream{log, std::ios::binary} << bytes;
    expect_refused("m", {log, "hostler store cut " + store});
    std::vector<std::string> words{HOSTLER, "store", "cut", at("m")};
    const Ran shown = run_program(words);
    EXPECT_EQ(shown.code, 1);
    EXPECT_THAT(shown.err, HasSubstr("nothing was changed"));
    EXPECT_EQ(read_file(log), bytes);
    words.push_back("--yes");
    const Ran cut = run_program(words);
    EXPECT_EQ(cut.code, 0) << cut.err;
    EXPECT_THAT(cut.err, HasSubstr("are lost"));
    EXPECT_EQ(read_file(log + ".damaged"), bytes);
    EXPECT_EQ(run_program({HOSTLER, "store", "check", at("m")}).code, 0);
    EXPECT_EQ(run_program(words).code, 5) << "it is cut";
    serve("m");
}

// ── Stores of former releases

TEST_F(LostStore, AStoreOfEachReleaseIsOpenedWithAllThatIsInIt) {
    int releases = 0;
    for (const auto& release : fs::directory_iterator{HOSTLER_RECORDED}) {
        const std::string name = release.path().filename();
        SCOPED_TRACE(name);
        put_recorded(release.path(), name);
        const auto check = [&] { return run_program({HOSTLER, "store", "check", at(name)}); };
        const Ran found = check();
        EXPECT_EQ(found.code, 0) << found.out;
        EXPECT_THAT(found.err, HasSubstr("live objects: nothing is wrong"));
        serve(name);
        EXPECT_THAT(read_file(at("log")), HasSubstr("leads in epoch"));
        EXPECT_THAT(read_file(at("log")), Not(HasSubstr(" error ")));
        EXPECT_EQ(check().code, 0);
        ++releases;
    }
    EXPECT_GT(releases, 0);
}

TEST_F(LostStore, ADamagedRowOfEachKindIsNamed) {
    put_recorded(fs::path{HOSTLER_RECORDED} / "0.1", "m");
    std::vector<std::string> names;
    {
        auto store = open_sqlite_alone(at("m") + "/store.db", IfMissing::refuse).value();
        for (const char* table : {"objects", "commands"}) {
            std::vector<std::pair<std::string, std::string>> rows;
            ASSERT_TRUE(
                store->run(fmt::format("SELECT kind, max(id) FROM {} GROUP BY kind", table), {},
                           [&](const sql::Row& row) { rows.emplace_back(row.text(0), row.text(1)); }));
            for (const auto& [kind, id] : rows) {
                names.push_back(fmt::format("{}/{}: its checksum is not that of its contents\n", kind, id));
                ASSERT_TRUE(store->run(
                    fmt::format("UPDATE {} SET body = body || ' ' WHERE kind = ?1 AND id = ?2", table),
                    {kind, id}));
            }
        }
        for (const char* table : {"events", "ledger", "audit"}) {
            names.push_back(fmt::format("{}/12: the checksum of its line 0 is not that", table));
            ASSERT_TRUE(store->run(
                fmt::format("UPDATE {} SET time = time + 1 WHERE number = 12 AND line = 0", table)));
            ASSERT_EQ(store->changes(), 1u);
        }
    }
    EXPECT_GT(names.size(), 28u) << "nearly all kinds that there are";
    const Ran found = run_program({HOSTLER, "store", "check", at("m")});
    EXPECT_EQ(found.code, 1);
    for (const std::string& name : names) EXPECT_THAT(found.out, HasSubstr(name));
}

TEST_F(LostStore, ADamagedRowIsFoundAndTakenOut) {
    serve("m", "--zone nj:x");
    const auto check = [&] { return run_program({HOSTLER, "store", "check", at("m")}); };
    EXPECT_EQ(check().code, 0);
    {
        auto store = open_sqlite_alone(at("m") + "/store.db", IfMissing::refuse).value();
        ASSERT_TRUE(
            store->run("UPDATE objects SET body = '{\"id\":\"nj\"' WHERE kind = 'zone' AND id = 'nj'"));
    }
    const Ran found = check();
    EXPECT_EQ(found.code, 1);
    EXPECT_THAT(found.out, HasSubstr("zone/nj: its checksum is not that of its contents"));
    std::vector<std::string> words{HOSTLER, "store", "drop", at("m"), "zone", "nj"};
    const Ran shown = run_program(words);
    EXPECT_EQ(shown.code, 1);
    EXPECT_THAT(shown.out, HasSubstr("kind zone\nid nj\n"));
    EXPECT_THAT(shown.err, HasSubstr("--yes"));
    EXPECT_EQ(check().code, 1) << "it is still there";
    words.push_back("--yes");
    const Ran dropped = run_program(words);
    EXPECT_EQ(dropped.code, 0) << dropped.err;
    const std::string file = at("m") + "/store.db-dropped-zone-nj";
    EXPECT_TRUE(read_file(file).ends_with("\n\n{\"id\":\"nj\"")) << dropped.err;
    EXPECT_EQ(check().code, 0);
    EXPECT_EQ(run_program(words).code, 3);
}

}  // namespace
}  // namespace hostler::cloud
