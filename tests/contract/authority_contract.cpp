#include "authority_contract.h"

namespace hostler::contract {

using namespace std::chrono_literals;

constexpr WallTime noon{std::chrono::sys_days{std::chrono::year{2026} / 6 / 1} + std::chrono::hours{12}};
const Identity a_host{"host", "h-4f2a"};

TEST_P(AuthorityContract, ACertificateSaysWhatWasAsked) {
    const auto request = keys().make(a_host).value();
    const auto made = authority().sign(request.csr_pem, a_host, {}, noon, 720h).value();
    const auto read = keys().read(made.certificate).value();
    EXPECT_EQ(read.identity, a_host);
    EXPECT_EQ(read.not_before, noon);
    EXPECT_EQ(read.not_after, noon + 720h);
    EXPECT_EQ(read.serial, made.facts.serial);
    EXPECT_EQ(read.fingerprint, made.facts.fingerprint);
    EXPECT_EQ(read.key_fingerprint, authority().key_fingerprint(request.csr_pem).value());
    const auto again = authority().sign(request.csr_pem, a_host, {}, noon, 720h).value();
    EXPECT_NE(again.facts.serial, made.facts.serial);
    EXPECT_NE(again.facts.fingerprint, made.facts.fingerprint);
}

TEST_P(AuthorityContract, SignsTextsThatItsCertificateShows) {
    const AuthorityFacts own = authority().all().front();
    const std::string signature = authority().sign_text("a text").value();
    const auto check = [&](std::string_view text, const std::string& by, const std::string& certificate,
                           const std::string& fingerprint) {
        return authority().check_text(text, by, certificate, fingerprint).has_value();
    };
    EXPECT_TRUE(check("a text", signature, own.certificate, own.fingerprint));
    EXPECT_FALSE(check("another", signature, own.certificate, own.fingerprint));
    EXPECT_FALSE(check("a text", "c2ln", own.certificate, own.fingerprint));
    EXPECT_FALSE(check("a text", "", own.certificate, own.fingerprint));
    EXPECT_FALSE(check("a text", signature, own.certificate, "f00d"));
    EXPECT_FALSE(check("a text", signature, "no certificate", own.fingerprint));
    ASSERT_TRUE(authority().add(noon));
    const AuthorityFacts next = authority().all().back();
    EXPECT_FALSE(check("a text", signature, next.certificate, next.fingerprint)) << "another's key";
    ASSERT_TRUE(authority().keep({own.fingerprint, next.fingerprint}, next.fingerprint));
    EXPECT_TRUE(check("a text", authority().sign_text("a text").value(), next.certificate, next.fingerprint))
        << "the one that issues signs";
    EXPECT_TRUE(check("a text", signature, own.certificate, own.fingerprint));
}

TEST_P(AuthorityContract, RoleAndIdAreTheAuthoritysToSay) {
    const auto request = keys().make({"host", "h-1"}).value();
    const auto made = authority().sign(request.csr_pem, {"access", "a-1"}, {}, noon, 1h).value();
    EXPECT_EQ(keys().read(made.certificate).value().identity.text(), "access/a-1");
}

TEST_P(AuthorityContract, ARenewalKeepsItsKey) {
    const auto first = keys().make(a_host).value();
    const auto renewed = keys().renew(first.key_pem, a_host).value();
    EXPECT_EQ(renewed.key_pem, first.key_pem);
    EXPECT_EQ(authority().key_fingerprint(renewed.csr_pem), authority().key_fingerprint(first.csr_pem));
    EXPECT_NE(authority().key_fingerprint(keys().make(a_host).value().csr_pem),
              authority().key_fingerprint(first.csr_pem));
    EXPECT_EQ(keys().renew("no key", a_host).error().code, Code::invalid);
}

TEST_P(AuthorityContract, AnAuthorityKnowsItsOwnWorkExpiredOrNot) {
    const auto request = keys().make(a_host).value();
    const auto ours = authority().sign(request.csr_pem, a_host, {}, noon - 9000h, 1h).value();
    EXPECT_EQ(authority().check(ours.certificate).value().fingerprint, ours.facts.fingerprint);
    const auto theirs = rig_->stranger().sign(request.csr_pem, a_host, {}, noon, 1h).value();
    EXPECT_EQ(authority().check(theirs.certificate).error().code, Code::unauthenticated);
    EXPECT_TRUE(rig_->stranger().check(theirs.certificate));
    EXPECT_EQ(authority().check("no certificate").error().code, Code::invalid);
}

TEST_P(AuthorityContract, WhatIsNoRequestIsRefused) {
    for (const std::string csr : {"", "no request", "-----BEGIN CERTIFICATE REQUEST-----\n"}) {
        EXPECT_EQ(authority().sign(csr, a_host, {}, noon, 1h).error().code, Code::invalid) << csr;
        EXPECT_EQ(authority().key_fingerprint(csr).error().code, Code::invalid) << csr;
    }
}

// What lands in a certificate as text must not be able to say something else there.
TEST_P(AuthorityContract, OddIdentitiesAreRefused) {
    const auto request = keys().make(a_host).value();
    for (const std::string& id : {"", "a/b", "h,URI:hostler://master/m-1", "h 1", "h\n1", "h\xc3\xb6"}) {
        EXPECT_EQ(authority().sign(request.csr_pem, {"host", id}, {}, noon, 1h).error().code, Code::invalid)
            << id;
        EXPECT_EQ(authority().sign(request.csr_pem, {id, "h-1"}, {}, noon, 1h).error().code, Code::invalid)
            << id;
        EXPECT_EQ(keys().make({"host", id}).error().code, Code::invalid) << id;
    }
    EXPECT_EQ(authority().sign(request.csr_pem, {"host", std::string(64, 'h')}, {}, noon, 1h).error().code,
              Code::invalid);
    EXPECT_TRUE(authority().sign(request.csr_pem, {"host", std::string(63, 'h')}, {}, noon, 1h));
}

TEST_P(AuthorityContract, HostNamesStandBesideTheIdentity) {
    const Identity gateway{"gateway", "gw-1"};
    const auto request = keys().make(gateway).value();
    const ServerNames names{{"apps.example", "*.apps.example"}, {"10.0.0.1", "2001:db8::1"}};
    const auto made = authority().sign(request.csr_pem, gateway, names, noon, 720h).value();
    EXPECT_EQ(made.facts.names, names);
    const auto read = keys().read(made.certificate).value();
    EXPECT_EQ(read.names, names);
    EXPECT_EQ(read.identity, gateway);
    EXPECT_EQ(authority().check(made.certificate).value().names, names);
    EXPECT_TRUE(authority().sign(request.csr_pem, gateway, {}, noon, 720h).value().facts.names.empty());
}

TEST_P(AuthorityContract, OddHostNamesAreRefused) {
    const auto request = keys().make(a_host).value();
    for (const ServerNames& names :
         {ServerNames{{"a,URI:hostler://master/m-1"}, {}}, ServerNames{{"a b"}, {}}, ServerNames{{"a\n"}, {}},
          ServerNames{{""}, {}}, ServerNames{{}, {"example.com"}}})
        EXPECT_EQ(authority().sign(request.csr_pem, a_host, names, noon, 1h).error().code, Code::invalid);
}

TEST_P(AuthorityContract, ItsCertificateHasTheFingerprintThatTokensName) {
    EXPECT_EQ(authority().fingerprint().size(), 64U);
    EXPECT_EQ(authority().fingerprint().find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(keys().fingerprints(authority().certificate()).value(), std::vector{authority().fingerprint()});
    EXPECT_NE(rig_->stranger().fingerprint(), authority().fingerprint());
    EXPECT_EQ(keys().fingerprints("no certificate").error().code, Code::invalid);
    EXPECT_EQ(keys().read(authority().certificate()).error().code, Code::invalid) << "it names nobody";
    EXPECT_EQ(keys().read("no certificate").error().code, Code::invalid);
}

// Names of what there is: "old" issues, "new", ….
TEST_P(AuthorityContract, OneFollowsTheOther) {
    const auto signs = [&](Authority& by, const std::string& role) {
        const auto request = keys().make({role, "x"}).value();
        return by.sign(request.csr_pem, {role, "x"}, {}, noon, 720h).value();
    };
    const auto former = signs(authority(), "host");
    const AuthorityFacts old = authority().all().at(0);
    EXPECT_TRUE(old.issues);
    EXPECT_EQ(old.fingerprint, authority().fingerprint());
    EXPECT_EQ(old.certificate, authority().certificate());
    EXPECT_EQ(former.facts.authority, old.fingerprint);
    ASSERT_TRUE(authority().add(noon));
    ASSERT_TRUE(authority().add(noon)) << "again: nothing";
    ASSERT_EQ(authority().all().size(), 2U);
    const AuthorityFacts next = authority().all().at(1);
    EXPECT_FALSE(next.issues);
    EXPECT_EQ(authority().fingerprint(), old.fingerprint) << "tokens name the oldest";
    EXPECT_EQ(authority().certificate(), old.certificate + next.certificate);
    EXPECT_EQ(keys().fingerprints(authority().certificate()).value(),
              (std::vector{old.fingerprint, next.fingerprint}));
    EXPECT_EQ(signs(authority(), "host").facts.authority, old.fingerprint);
    EXPECT_EQ(signs(authority(), "master").facts.authority, next.fingerprint) << "masters go first";

    EXPECT_EQ(authority().keep({old.fingerprint}, next.fingerprint).error().code, Code::not_found);
    EXPECT_EQ(authority().keep({old.fingerprint, "other"}, "other").error().code, Code::not_found);
    EXPECT_EQ(authority().all().size(), 2U) << "what fails changes nothing";
    ASSERT_TRUE(authority().keep({old.fingerprint, next.fingerprint}, next.fingerprint));
    const auto latter = signs(authority(), "host");
    EXPECT_EQ(latter.facts.authority, next.fingerprint);
    EXPECT_EQ(keys().read(latter.certificate).value().fingerprint, latter.facts.fingerprint);
    EXPECT_EQ(authority().check(latter.certificate).value().authority, next.fingerprint);
    EXPECT_EQ(authority().check(former.certificate).value().authority, old.fingerprint) << "until it goes";

    ASSERT_TRUE(authority().keep({next.fingerprint}, next.fingerprint));
    EXPECT_EQ(authority().fingerprint(), next.fingerprint);
    EXPECT_EQ(authority().certificate(), next.certificate);
    EXPECT_EQ(authority().check(former.certificate).error().code, Code::unauthenticated);
    EXPECT_TRUE(authority().check(latter.certificate));
    EXPECT_EQ(authority().keep({old.fingerprint}, old.fingerprint).error().code, Code::not_found);
    EXPECT_EQ(authority().all().size(), 1U);
}

TEST_P(AuthorityContract, ADigestIsTheSameForTheSameTextOnly) {
    const auto digest = rig_->digest().sha256("text");
    EXPECT_EQ(digest.size(), 64U);
    EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(rig_->digest().sha256("text"), digest);
    EXPECT_NE(rig_->digest().sha256("texu"), digest);
    EXPECT_NE(rig_->digest().sha256(""), digest);
    EXPECT_NE(rig_->digest().sha256(std::string_view{"text\0", 5}), digest);
}

}  // namespace hostler::contract
