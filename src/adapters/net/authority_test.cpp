#include "adapters/net/authority.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "adapters/net/certificate.h"
#include "adapters/net/net.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon{std::chrono::sys_days{std::chrono::year{2026} / 6 / 1} + std::chrono::hours{12}};

class AuthorityTest : public ::testing::Test {
protected:
    AuthorityTest() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
    ~AuthorityTest() override { std::filesystem::remove_all(folder_); }
    std::unique_ptr<Authority> open() {
        auto opened = open_authority(folder_, *random_, noon);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    // A request by another key, with a name and extensions that it would like to have.
    std::string request(EVP_PKEY* key, bool forged = false) {
        const RequestPtr made{X509_REQ_new()};
        X509_REQ_set_pubkey(made.get(), key);
        X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>("master/m-1"), -1, -1, 0);
        STACK_OF(X509_EXTENSION)* wishes = sk_X509_EXTENSION_new_null();
        sk_X509_EXTENSION_push(wishes,
                               X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "CA:TRUE"));
        sk_X509_EXTENSION_push(
            wishes, X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "URI:hostler://master/m-1"));
        X509_REQ_add_extensions(made.get(), wishes);
        sk_X509_EXTENSION_pop_free(wishes, X509_EXTENSION_free);
        const KeyPtr other{EVP_EC_gen("P-256")};
        X509_REQ_sign(made.get(), forged ? other.get() : key, EVP_sha256());
        return to_pem(*made);
    }

    std::string folder_ = ::testing::TempDir() + "authority-XXXXXX";
    std::unique_ptr<Random> random_ = make_random();
    std::unique_ptr<Keys> keys_ = make_keys();
};

TEST_F(AuthorityTest, IsCreatedOnceAndKeptForItself) {
    const auto first = open();
    struct stat found{};
    ASSERT_EQ(::stat((folder_ + "/authority.pem").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    EXPECT_EQ(first->fingerprint(), open()->fingerprint());
    EXPECT_EQ(first->fingerprint().size(), 64u);
    EXPECT_EQ(keys_->fingerprints(first->certificate()).value(), std::vector{first->fingerprint()});
    EXPECT_FALSE(first->certificate().contains("PRIVATE"));
    for (const auto& entry : std::filesystem::directory_iterator{folder_})
        EXPECT_EQ(entry.path().filename(), "authority.pem") << "a draft stayed behind";
}

TEST_F(AuthorityTest, RefusesAFileThatOthersMayReadOrThatIsDamaged) {
    open();
    const std::string path = folder_ + "/authority.pem";
    ::chmod(path.c_str(), 0640);
    EXPECT_EQ(open_authority(folder_, *random_, noon).error().code, Code::invalid);
    ::chmod(path.c_str(), 0600);
    std::filesystem::resize_file(path, 100);
    EXPECT_EQ(open_authority(folder_, *random_, noon).error().code, Code::invalid);
    EXPECT_EQ(std::filesystem::file_size(path), 100u)
        << "a damaged key was replaced: every host would be locked out";
    EXPECT_EQ(open_authority(folder_ + "/absent", *random_, noon).error().code, Code::unavailable);
}

TEST_F(AuthorityTest, SaysWhatWasAskedOfIt) {
    const auto authority = open();
    const auto key = keys_->make({"host", "h-4f2a"}).value();
    const auto made = authority->sign(key.csr_pem, {"host", "h-4f2a"}, {}, noon, 720h).value();
    const auto read = keys_->read(made.certificate).value();
    EXPECT_EQ(read.identity, (Identity{"host", "h-4f2a"}));
    EXPECT_EQ(read.not_before, noon);
    EXPECT_EQ(read.not_after, noon + 720h);
    EXPECT_EQ(read.serial, made.facts.serial);
    EXPECT_EQ(read.serial.size(), 32u);
    EXPECT_EQ(read.key_fingerprint, authority->key_fingerprint(key.csr_pem).value());
    EXPECT_EQ(authority->check(made.certificate).value().fingerprint, made.facts.fingerprint);
    EXPECT_NE(authority->sign(key.csr_pem, {"host", "h-4f2a"}, {}, noon, 720h).value().facts.serial,
              made.facts.serial);
}

TEST_F(AuthorityTest, ARenewalMayKeepItsKey) {
    const auto authority = open();
    const auto key = keys_->make({"host", "h-1"}).value();
    const auto again = keys_->renew(key.key_pem, {"host", "h-1"}).value();
    EXPECT_EQ(again.key_pem, key.key_pem);
    EXPECT_EQ(authority->key_fingerprint(again.csr_pem).value(),
              authority->key_fingerprint(key.csr_pem).value());
    EXPECT_NE(authority->key_fingerprint(keys_->make({"host", "h-1"}).value().csr_pem).value(),
              authority->key_fingerprint(key.csr_pem).value());
    EXPECT_EQ(keys_->renew("no key", {"host", "h-1"}).error().code, Code::invalid);
}

TEST_F(AuthorityTest, TakesOnlyTheKeyFromARequest) {
    const auto authority = open();
    const KeyPtr key{EVP_EC_gen("P-256")};
    const auto made = authority->sign(request(key.get()), {"host", "h-1"}, {}, noon, 1h).value();
    EXPECT_EQ(made.facts.identity, (Identity{"host", "h-1"}));
    const auto certificate = parse_certificate(made.certificate).value();
    EXPECT_EQ(X509_check_ca(certificate.get()), 0);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), 1);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0), 1);
}

TEST_F(AuthorityTest, RefusesARequestThatItsKeyDidNotSignAndOtherKeys) {
    const auto authority = open();
    const KeyPtr key{EVP_EC_gen("P-256")}, small{EVP_RSA_gen(1024)}, other{EVP_EC_gen("P-384")};
    for (const auto& csr : {request(key.get(), /*forged*/ true), request(small.get()), request(other.get()),
                            std::string{"no request"}, std::string{}, std::string(pem_size_max + 1, 'x')}) {
        EXPECT_EQ(authority->sign(csr, {"host", "h-1"}, {}, noon, 1h).error().code, Code::invalid);
        EXPECT_EQ(authority->key_fingerprint(csr).error().code, Code::invalid);
    }
}

// What lands in a certificate as text must not be able to say something else there.
TEST_F(AuthorityTest, RefusesOddIdentities) {
    const auto authority = open();
    const auto key = keys_->make({"host", "h-1"}).value();
    for (const std::string& id : {"", "a/b", "h,URI:hostler://master/m-1", "h 1", "h\n1", "hö"}) {
        EXPECT_EQ(authority->sign(key.csr_pem, {"host", id}, {}, noon, 1h).error().code, Code::invalid) << id;
        EXPECT_EQ(keys_->make({"host", id}).error().code, Code::invalid) << id;
        EXPECT_EQ(authority->sign(key.csr_pem, {id, "h-1"}, {}, noon, 1h).error().code, Code::invalid) << id;
    }
    EXPECT_FALSE(authority->sign(key.csr_pem, {"host", std::string(64, 'h')}, {}, noon, 1h));
    EXPECT_TRUE(authority->sign(key.csr_pem, {"host", std::string(63, 'h')}, {}, noon, 1h));
}

TEST_F(AuthorityTest, ClientsThatVerifyHostNamesFindThem) {
    const auto authority = open();
    const auto key = keys_->make({"gateway", "gw-1"}).value();
    const auto accepts = [&](const ServerNames& names, const std::string& host) {
        const auto made = authority->sign(key.csr_pem, {"gateway", "gw-1"}, names, noon, 1h).value();
        const auto certificate = parse_certificate(made.certificate).value();
        return X509_check_host(certificate.get(), host.data(), host.size(), 0, nullptr) == 1 ||
               X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1;
    };
    const ServerNames names{{"apps.example", "*.apps.example"}, {"10.0.0.1", "2001:db8::1"}};
    for (const char* host : {"apps.example", "x.apps.example", "10.0.0.1", "2001:db8:0::1"}) {
        EXPECT_TRUE(accepts(names, host)) << host;
        EXPECT_FALSE(accepts({}, host)) << host;
    }
    for (const char* host : {"example", "x.y.apps.example", "10.0.0.2", "gateway/gw-1", "gw-1"})
        EXPECT_FALSE(accepts(names, host)) << host;
}

TEST_F(AuthorityTest, KnowsItsOwnWork) {
    const auto authority = open();
    std::filesystem::remove(folder_ + "/authority.pem");
    const auto other = open();
    const auto key = keys_->make({"host", "h-1"}).value();
    const auto theirs = other->sign(key.csr_pem, {"host", "h-1"}, {}, noon, 1h).value();
    EXPECT_EQ(authority->check(theirs.certificate).error().code, Code::unauthenticated);
    EXPECT_TRUE(other->check(theirs.certificate));
    EXPECT_EQ(authority->check("no certificate").error().code, Code::invalid);
    EXPECT_EQ(keys_->read(authority->certificate()).error().code, Code::invalid) << "it names nobody";
}

TEST_F(AuthorityTest, ItsKeysAreReadAndPutAsOneText) {
    const auto first = open();
    const std::string keys = read_authority_keys(folder_).value();
    const auto facts = facts_of_keys(keys).value();
    ASSERT_EQ(facts.size(), 1U);
    EXPECT_EQ(facts[0].fingerprint, first->fingerprint());
    EXPECT_EQ(facts[0].name, "CN=Hostler authority");
    EXPECT_TRUE(facts[0].issues);
    EXPECT_EQ(facts[0].not_before, noon - 1h);
    std::filesystem::remove(folder_ + "/authority.pem");
    EXPECT_EQ(read_authority_keys(folder_).error().code, Code::not_found);
    const std::string other = open()->certificate();
    ASSERT_TRUE(put_authority_keys(folder_, keys, IfThere::replace));
    EXPECT_EQ(open()->fingerprint(), first->fingerprint());
    EXPECT_EQ(put_authority_keys(folder_, keys.substr(0, 200), IfThere::replace).error().code, Code::invalid);
    EXPECT_EQ(put_authority_keys(folder_, keys + other, IfThere::replace).error().code, Code::invalid)
        << "what does not go together";
    EXPECT_EQ(open()->fingerprint(), first->fingerprint());
    for (const auto& entry : std::filesystem::directory_iterator{folder_})
        EXPECT_EQ(entry.path().filename(), "authority.pem") << "a draft stayed behind";
}

}  // namespace
}  // namespace hostler::net
