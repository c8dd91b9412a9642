// `hostler seal`: sealing keys on their way to another master, and what `hostler restore` says of them, by
// the program as it is shipped.
#include <sys/stat.h>

#include <fstream>

#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "cloud.h"
#include "core/testing/temp_folder.h"
#include "sql/rows.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class SealingKeyFiles : public ::testing::Test {
protected:
    SealingKeyFiles() {
        write("phrase", "correct horse battery\n");
        write("wrong", "incorrect horse\n");
        key_ = make("m-1");
    }
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    std::string ring(const std::string& master) const { return at(master) + "/authority/sealing.keys"; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream{at(name), std::ios::binary} << text;
    }
    std::string make(const std::string& master) const {
        fs::create_directories(at(master) + "/authority");
        return sodium::open_sealer(ring(master)).value()->make().value();
    }
    Ran seal(const std::string& verb, const std::string& file, const std::string& master,
             const std::string& phrase = "phrase") const {
        return run_program(
            {HOSTLER, "seal", verb, at(file), "--master-data", at(master), "--passphrase-file", at(phrase)});
    }
    std::string key_;
    testing::TempFolder folder_;
};

TEST_F(SealingKeyFiles, TravelSealedAndStandBesideWhatIsThere) {
    const Ran out = seal("export", "keys", "m-1");
    ASSERT_EQ(out.code, 0) << out.err;
    EXPECT_EQ(out.out, key_ + "\n");
    struct stat found{};
    ASSERT_EQ(::stat(at("keys").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_THAT(read_file(at("keys")), Not(HasSubstr(read_file(ring("m-1")).substr(40, 64))));
    EXPECT_EQ(seal("export", "keys", "m-1").code, 5) << "never over another file";
    EXPECT_EQ(seal("export", "none", "m-9").code, 3);
    EXPECT_EQ(seal("import", "keys", "m-2", "wrong").code, 4);
    EXPECT_FALSE(fs::exists(at("m-2")));
    for (int again = 0; again < 2; ++again) EXPECT_EQ(seal("import", "keys", "m-2").code, 0);
    EXPECT_EQ(read_file(ring("m-2")), read_file(ring("m-1")));
    ASSERT_EQ(::stat(ring("m-2").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    const std::string own = make("m-3");
    EXPECT_EQ(seal("import", "keys", "m-3").code, 0);
    EXPECT_EQ(sodium::ids_of_sealing_keys(read_file(ring("m-3"))).value(),
              (std::vector<std::string>{own, key_}));
    ASSERT_EQ(
        run_program({HOSTLER, "ca", "issue", "access/nj-1", "--master-data", at("m-1"), "--out", at("nj-1")})
            .code,
        0);
    ASSERT_EQ(run_program({HOSTLER, "ca", "export", at("ca"), "--master-data", at("m-1"), "--passphrase-file",
                           at("phrase")})
                  .code,
              0);
    EXPECT_EQ(seal("import", "ca", "m-2").code, 2) << "those are other keys";
}

TEST_F(SealingKeyFiles, ARestoreSaysWhichIsMissing) {
    {
        auto store = open_sqlite_alone(at("m-1") + "/store.db", IfMissing::make).value();
        ASSERT_TRUE(store->run("BEGIN"));
        sql::Rows rows{*store};
        ASSERT_TRUE(rows.migrate(false, "store"));
        Changes changes{.epoch = 1, .number = 1};
        changes.put.push_back({.kind = "sealing_key",
                               .id = key_,
                               .phase = "current",
                               .generation = 1,
                               .body = fmt::format(R"({{"id":"{}","phase":"current"}})", key_)});
        ASSERT_TRUE(rows.write(changes));
        ASSERT_TRUE(rows.set_meta("number", 1));
        ASSERT_TRUE(store->run("COMMIT"));
    }
    const Ran made = run_program({HOSTLER, "backup", at("backup"), "--from", at("m-1")});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(read_file(at("backup")), Not(HasSubstr(read_file(ring("m-1")).substr(40, 64))));
    const Ran without = run_program({HOSTLER, "restore", at("backup"), "--to", at("m-2")});
    EXPECT_EQ(without.code, 0) << without.err;
    EXPECT_THAT(without.err, HasSubstr(key_));
    EXPECT_THAT(without.err, HasSubstr("hostler seal import"));
    ASSERT_EQ(seal("export", "keys", "m-1").code, 0);
    ASSERT_EQ(seal("import", "keys", "m-3").code, 0);
    const Ran with = run_program({HOSTLER, "restore", at("backup"), "--to", at("m-3")});
    EXPECT_EQ(with.code, 0) << with.err;
    EXPECT_THAT(with.err, Not(HasSubstr("hostler seal import")));
}

}  // namespace
}  // namespace hostler::cloud
