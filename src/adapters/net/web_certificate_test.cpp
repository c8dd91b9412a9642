#include "adapters/net/web_certificate.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "adapters/net/testing/web_certificates.h"
#include "core/log.h"
#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/metrics.h"
#include "core/testing/temp_folder.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string logged;

class WebCertificateTest : public ::testing::Test {
protected:
    WebCertificateTest() {
        logged.clear();
        set_log_sink([](Level, std::string_view line) { logged += std::string{line} + "\n"; });
    }
    ~WebCertificateTest() override {
        group.cancel();
        timers.settle();
        set_log_sink(nullptr);
    }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
    }
    void put(const Credentials& pair) const {
        write(certificate, pair.certificate);
        write(key, pair.key);
    }
    void open() {
        auto opened = WebCertificate::open(certificate, key, timers);
        ASSERT_TRUE(opened) << opened.error().message;
        shown = std::move(*opened);
        group.start("watch", shown->watch());
        timers.settle();
    }
    std::string error_of_opening() {
        const auto opened = WebCertificate::open(certificate, key, timers);
        return opened ? "" : opened.error().message;
    }
    double metric(const std::string& name) {
        MetricsPage page;
        shown->write_metrics(page, "hostler_gateway");
        return hostler::testing::parse_metrics(page.text())->at(name);
    }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    hostler::testing::TempFolder folder;
    const std::string certificate = folder.path() + "/certificate.pem", key = folder.path() + "/key.pem";
    testing::WebAuthority authority;
    std::unique_ptr<WebCertificate> shown;
    TaskGroup group{loop};
};

TEST_F(WebCertificateTest, IsReadAgainWhenItsFilesChange) {
    const Credentials first = authority.issue("DNS:api.test"),
                      second = authority.issue("DNS:api.test", 0, 7200);
    put(first);
    open();
    const auto before = shown->credentials();
    EXPECT_EQ(before->certificate, first.certificate);
    put(second);
    timers.advance(5s);
    EXPECT_EQ(shown->credentials()->certificate, second.certificate);
    EXPECT_EQ(before->certificate, first.certificate) << "those who have it keep it";
    EXPECT_THAT(logged, HasSubstr("it is read again, and good until "));
    timers.advance(1h);
    EXPECT_EQ(metric("hostler_gateway_tls_certificate_end_seconds"),
              static_cast<double>(
                  std::chrono::floor<std::chrono::seconds>(shown->ends()).time_since_epoch().count()));
    EXPECT_EQ(metric("hostler_gateway_tls_reload_failures_total"), 0);
}

// As certbot has it: names that lead to the newest pair.
TEST_F(WebCertificateTest, FollowsLinks) {
    const Credentials first = authority.issue("DNS:api.test"), second = authority.issue("DNS:api.test");
    for (const auto& [name, text] : {std::pair{"c1", first.certificate},
                                     {"k1", first.key},
                                     {"c2", second.certificate},
                                     {"k2", second.key}})
        write(folder.path() + "/" + name, text);
    std::filesystem::create_symlink("c1", certificate);
    std::filesystem::create_symlink("k1", key);
    open();
    std::filesystem::remove(certificate);
    std::filesystem::remove(key);
    std::filesystem::create_symlink("c2", certificate);
    std::filesystem::create_symlink("k2", key);
    timers.advance(5s);
    EXPECT_EQ(shown->credentials()->certificate, second.certificate);
}

TEST_F(WebCertificateTest, ABadPairIsToldOnceAndTheOneBeforeStays) {
    const Credentials first = authority.issue("DNS:api.test"), second = authority.issue("DNS:api.test");
    put(first);
    open();
    write(certificate, second.certificate);
    timers.advance(1min);
    EXPECT_EQ(shown->credentials()->certificate, first.certificate);
    EXPECT_THAT(logged, HasSubstr("the certificate stays unchanged until "));
    EXPECT_THAT(logged, HasSubstr(key + " is not the key of " + certificate));
    EXPECT_EQ(metric("hostler_gateway_tls_reload_failures_total"), 1);
    std::filesystem::remove(key);
    timers.advance(1min);
    EXPECT_EQ(shown->credentials()->certificate, first.certificate);
    EXPECT_EQ(metric("hostler_gateway_tls_reload_failures_total"), 2);
    write(key, second.key);
    timers.advance(5s);
    EXPECT_EQ(shown->credentials()->certificate, second.certificate);
    EXPECT_EQ(metric("hostler_gateway_tls_reload_failures_total"), 2);
}

// Whoever writes one file after the other is given the time for it.
TEST_F(WebCertificateTest, ThePairIsReadOnceItsFilesAreStill) {
    const Credentials first = authority.issue("DNS:api.test"), second = authority.issue("DNS:api.test");
    put(first);
    open();
    write(certificate, second.certificate);
    timers.advance(1s);
    write(key, second.key);
    timers.advance(5s);
    EXPECT_EQ(shown->credentials()->certificate, second.certificate);
    EXPECT_EQ(metric("hostler_gateway_tls_reload_failures_total"), 0) << logged;
}

TEST_F(WebCertificateTest, WhatCannotBeUsedIsNamedAtTheStart) {
    EXPECT_THAT(error_of_opening(), HasSubstr(certificate + ": No such file"));
    const Credentials pair = authority.issue("DNS:api.test");
    put({pair.certificate, authority.issue("DNS:api.test").key, ""});
    EXPECT_THAT(error_of_opening(), HasSubstr(key + " is not the key of " + certificate));
    put({pair.certificate + authority.pem(), pair.key, ""});
    EXPECT_EQ(error_of_opening(), "") << "a chain";
    put({authority.pem() + pair.certificate, pair.key, ""});
    EXPECT_THAT(error_of_opening(), HasSubstr("of a chain the server's own certificate stands first"));
    put({"hello", pair.key, ""});
    EXPECT_THAT(error_of_opening(), HasSubstr(certificate + ": this is not a certificate in PEM"));
    put({pair.certificate, "hello", ""});
    EXPECT_THAT(error_of_opening(), HasSubstr(key + ": this is not a private key in PEM"));
    put({std::string(70'000, 'a'), pair.key, ""});
    EXPECT_THAT(error_of_opening(), HasSubstr("larger than"));
}

}  // namespace
}  // namespace hostler::net
