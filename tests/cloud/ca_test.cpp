// `hostler ca`: the authority's keys on their way to another master, by the program as it is shipped.
#include <sys/stat.h>

#include <fstream>

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "cloud.h"
#include "core/testing/temp_folder.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CaKeys : public ::testing::Test {
protected:
    CaKeys() {
        write("phrase", "correct horse battery\n");
        write("wrong", "incorrect horse\n");
        EXPECT_EQ(ca({"issue", "access/nj-1", "--master-data", at("m-1"), "--out", at("nj-1")}).code, 0);
    }
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream{at(name), std::ios::binary} << text;
    }
    static Ran ca(std::vector<std::string> words) {
        words.insert(words.begin(), {HOSTLER, "ca"});
        return run_program(std::move(words));
    }
    Ran out(const std::string& file) {
        return ca({"export", at(file), "--master-data", at("m-1"), "--passphrase-file", at("phrase")});
    }
    Ran in(const std::string& file, const std::string& master, std::vector<std::string> more = {},
           const std::string& phrase = "phrase") {
        std::vector<std::string> words{"import",  at(file), "--master-data", at(master), "--passphrase-file",
                                       at(phrase)};
        words.insert(words.end(), more.begin(), more.end());
        return ca(words);
    }
    std::string shown(const std::string& master) { return ca({"keys", "--master-data", at(master)}).out; }
    std::string keys(const std::string& master) { return read_file(at(master) + "/authority/authority.pem"); }
    testing::TempFolder folder_;
};

TEST_F(CaKeys, TravelSealedAndAreTheSameThere) {
    ASSERT_EQ(out("keys").code, 0);
    struct stat found{};
    ASSERT_EQ(::stat(at("keys").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    const std::string sealed = read_file(at("keys"));
    EXPECT_FALSE(sealed.contains("PRIVATE"));
    EXPECT_EQ(out("keys").code, 5) << "never over another file";
    EXPECT_EQ(read_file(at("keys")), sealed);
    const Ran taken = in("keys", "m-2");
    ASSERT_EQ(taken.code, 0) << taken.err;
    EXPECT_EQ(keys("m-2"), keys("m-1"));
    EXPECT_EQ(shown("m-2"), shown("m-1"));
    EXPECT_THAT(shown("m-2"), HasSubstr("issues certificates\n    CN=Hostler authority, from 20"));
    ASSERT_EQ(::stat((at("m-2") + "/authority/authority.pem").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_EQ(in("keys", "m-2").code, 0) << "the same again changes nothing";
}

TEST_F(CaKeys, AWrongPassphraseOrATornFilePutsNothing) {
    ASSERT_EQ(out("keys").code, 0);
    EXPECT_EQ(in("keys", "m-2", {}, "wrong").code, 4);
    const std::string sealed = read_file(at("keys"));
    write("torn", sealed.substr(0, sealed.size() - 1));
    EXPECT_EQ(in("torn", "m-2").code, 4);
    write("short", sealed.substr(0, 40));
    EXPECT_EQ(in("short", "m-2").code, 2);
    EXPECT_EQ(in("absent", "m-2").code, 3);
    EXPECT_FALSE(fs::exists(at("m-2")));
    const Ran unasked = ca({"export", at("other"), "--master-data", at("m-1")});
    EXPECT_EQ(unasked.code, 2);
    EXPECT_THAT(unasked.err, HasSubstr("--passphrase-file")) << "without a terminal nobody is asked";
    EXPECT_FALSE(fs::exists(at("other")));
}

TEST_F(CaKeys, AnotherAuthorityStaysUnlessThatIsWished) {
    ASSERT_EQ(out("keys").code, 0);
    ASSERT_EQ(ca({"issue", "gateway/gw", "--master-data", at("m-2"), "--out", at("gw")}).code, 0);
    const std::string before = keys("m-2");
    const Ran refused = in("keys", "m-2");
    EXPECT_EQ(refused.code, 5);
    for (const char* master : {"m-1", "m-2"})
        EXPECT_THAT(refused.err, HasSubstr(shown(master).substr(0, 64))) << "it names both";
    EXPECT_EQ(keys("m-2"), before);
    EXPECT_EQ(in("keys", "m-2", {"--replace"}).code, 0);
    EXPECT_EQ(keys("m-2"), keys("m-1"));
}

TEST_F(CaKeys, EachStepOfARotationFollowsTheOneBeforeAndNoneGoesBack) {
    const auto random = net::make_random();
    const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
    const auto authority = net::open_authority(at("m-1") + "/authority", *random, now).value();
    ASSERT_EQ(out("first").code, 0);
    ASSERT_TRUE(authority->add(now));
    ASSERT_EQ(out("begun").code, 0);
    const std::string former = authority->all().front().fingerprint;
    const std::string newest = authority->all().back().fingerprint;
    ASSERT_TRUE(authority->keep({former, newest}, newest));
    ASSERT_EQ(out("issues").code, 0);
    ASSERT_TRUE(authority->keep({newest}, newest));
    ASSERT_EQ(out("withdrawn").code, 0);
    const std::vector<std::string> steps{"first", "begun", "issues", "withdrawn"};
    for (std::size_t step = 0; step < steps.size(); ++step) {
        EXPECT_EQ(in(steps[step], "m-2").code, 0) << steps[step];
        for (std::size_t older = 0; older < step; ++older)
            EXPECT_EQ(in(steps[older], "m-2").code, 5) << steps[older] << " over " << steps[step];
    }
    EXPECT_EQ(keys("m-2"), keys("m-1"));
}

}  // namespace
}  // namespace hostler::cloud
