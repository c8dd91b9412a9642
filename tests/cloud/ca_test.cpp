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

class CaNames : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    Ran issue(const std::string& identity, const std::string& out, std::vector<std::string> more = {},
              const std::string& master = "m-1") {
        std::vector<std::string> words{HOSTLER,         "ca",       "issue", identity,
                                       "--master-data", at(master), "--out", at(out)};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(std::move(words));
    }
    // As openssl reads them.
    std::string alternative_names(const std::string& folder) {
        const Ran read = run_program(
            {"openssl", "x509", "-in", at(folder) + "/certificate.pem", "-noout", "-ext", "subjectAltName"});
        EXPECT_EQ(read.code, 0) << read.err;
        const auto shown = lines(read.out);
        EXPECT_EQ(shown.size(), 2U) << read.out;
        return shown.empty() ? "" : shown.back().substr(shown.back().find_first_not_of(' '));
    }
    std::string key(const std::string& folder) { return read_file(at(folder) + "/key.pem"); }
    std::string certificate(const std::string& folder) { return read_file(at(folder) + "/certificate.pem"); }
    // What a command says while a master serves its API with its own certificate at $PORT.
    std::string beside_master(const std::string& command) {
        const std::string own = at("m-1"), ready = at("ready");
        fs::remove(ready);
        return shell(fmt::format(
            "{0} master --data {1} --api 127.0.0.1:0 --wire 127.0.0.1:0 --tls-cert {1}/certificate.pem "
            "--tls-key {1}/key.pem --ready-file {2} >{3} 2>&1 & m=$!; i=0; while [ ! -e {2} ] && kill -0 $m "
            "2>/dev/null && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done; "
            "PORT=$(sed -n 's/.*\"api\": *\"[^\"]*:\\([0-9]*\\)\".*/\\1/p' {2}); {4} kill $m; wait $m",
            HOSTLER, own, ready, at("log"), command));
    }
    testing::TempFolder folder_;
};

TEST_F(CaNames, StandBesideTheIdentityAndOnlyWhereTheyAreAskedFor) {
    ASSERT_EQ(issue("access/nj-1", "nj-1").code, 0);
    EXPECT_EQ(alternative_names("nj-1"), "URI:hostler://access/nj-1");
    const Ran made = issue("gateway/gw-1", "gw-1",
                           {"--dns", "apps.example", "--dns", "*.apps.example", "--address", "10.0.0.1",
                            "--address", "2001:db8::1", "--dns", "apps.example"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(alternative_names("gw-1"),
              "URI:hostler://gateway/gw-1, DNS:apps.example, DNS:*.apps.example, IP Address:10.0.0.1, "
              "IP Address:2001:DB8:0:0:0:0:0:1");

    const std::string before = certificate("gw-1"), its_key = key("gw-1");
    ASSERT_EQ(issue("gateway/gw-1", "gw-1").code, 0);
    EXPECT_EQ(certificate("gw-1"), before) << "the same again changes nothing";
    ASSERT_EQ(issue("gateway/gw-1", "gw-1", {"--dns", "other.example"}).code, 0);
    EXPECT_EQ(alternative_names("gw-1"), "URI:hostler://gateway/gw-1, DNS:other.example");
    EXPECT_EQ(key("gw-1"), its_key) << "a gateway that runs goes on with it";
    ASSERT_EQ(issue("gateway/gw-1", "gw-1", {}, "m-2").code, 0);
    EXPECT_EQ(alternative_names("gw-1"), "URI:hostler://gateway/gw-1, DNS:other.example")
        << "another authority vouches for the same";
    EXPECT_NE(key("gw-1"), its_key);
}

TEST_F(CaNames, EveryWrongOneIsNamedAndNothingIsWritten) {
    const Ran refused = issue(
        "gateway/gw-1", "gw-1",
        {"--dns", "a_b.example", "--dns", "apps.example", "--dns", "10.0.0.1", "--address", "localhost"});
    EXPECT_EQ(refused.code, 2);
    for (const char* wrong :
         {"'a_b.example' is no host name", "'10.0.0.1' is no host name", "'localhost' is no IP address"})
        EXPECT_THAT(refused.err, HasSubstr(wrong));
    EXPECT_FALSE(fs::exists(at("gw-1")) || fs::exists(at("m-1")));
    EXPECT_EQ(issue("host/h-1", "h-1").code, 2);
}

TEST_F(CaNames, ClientsThatVerifyThemAcceptTheListener) {
    ASSERT_EQ(issue("master/any", "m-1", {"--dns", "api.test", "--address", "127.0.0.1"}).code, 0);
    const auto curl = [&](const std::string& host) {
        return fmt::format(
            "curl -s --max-time 10 --cacert {}/authority.pem --resolve {}:$PORT:127.0.0.1 "
            "https://{}:$PORT/healthz -o /dev/null -w '%{{http_code}} '; echo $?; ",
            at("m-1"), host, host);
    };
    const auto s_client = [&](const std::string& host) {
        return fmt::format(
            "openssl s_client -connect 127.0.0.1:$PORT -CAfile {}/authority.pem -verify_hostname "
            "{} -verify_return_error </dev/null >/dev/null 2>&1; echo $?; ",
            at("m-1"), host);
    };
    const std::string said = beside_master(curl("api.test") + curl("127.0.0.1") + curl("other.test") +
                                           s_client("api.test") + s_client("other.test"));
    constexpr const char* unverified = "000 60";  // CURLE_PEER_FAILED_VERIFICATION
    EXPECT_EQ(lines(said), (std::vector<std::string>{"200 0", "200 0", unverified, "0", "1"}))
        << read_file(at("log"));
    EXPECT_EQ(alternative_names("m-1"), "URI:hostler://master/master, DNS:api.test, IP Address:127.0.0.1")
        << "a master of another name makes its own, for the same clients";
}

}  // namespace
}  // namespace hostler::cloud
