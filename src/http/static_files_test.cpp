#include "http/static_files.h"

#include <gtest/gtest.h>

#include "http/testing/gunzip.h"

namespace hostler::http {
namespace {

constexpr StaticFile script{"assets/main-1.js", "plain", "zipped", "\"e1\""};

TEST(StaticFiles, AreCompressedForThoseWhoReadThat) {
    const auto zipped = file_response(script, {{"Accept-Encoding", "br, gzip"}}, true);
    EXPECT_EQ(zipped.status, 200);
    EXPECT_EQ(zipped.body, "zipped");
    EXPECT_EQ(zipped.headers.find("Content-Encoding"), "gzip");
    EXPECT_EQ(zipped.headers.find("Content-Type"), "text/javascript; charset=utf-8");
    EXPECT_EQ(zipped.headers.find("Cache-Control"), "public, max-age=31536000, immutable");
    const auto plain = file_response(script, {}, false);
    EXPECT_EQ(plain.body, "plain");
    EXPECT_FALSE(plain.headers.has("Content-Encoding"));
    EXPECT_EQ(plain.headers.find("Cache-Control"), "no-cache");
}

TEST(StaticFiles, AreNotSentAgainToThoseWhoHaveThem) {
    for (const char* known : {"\"e1\"", "\"e0\", \"e1\"", "W/\"e1\"", "*"}) {
        const auto kept = file_response(script, {{"If-None-Match", known}}, true);
        EXPECT_EQ(kept.status, 304) << known;
        EXPECT_EQ(kept.body, "");
    }
    EXPECT_EQ(file_response(script, {{"If-None-Match", "\"e2\""}}, true).status, 200);
}

TEST(StaticFiles, AMadeOneIsCompressedAndNamedByItsBytes) {
    const std::string text(100'000, 'x');
    const MadeFile made{"made.json", text}, same{"made.json", text}, other{"made.json", text + "y"};
    EXPECT_EQ(made.file().plain, text);
    EXPECT_EQ(testing::gunzip(std::string{made.file().gzip}), text);
    EXPECT_EQ(made.file().etag, same.file().etag);
    EXPECT_NE(made.file().etag, other.file().etag);
    EXPECT_EQ(file_response(made.file(), {{"If-None-Match", std::string{made.file().etag}}}, false).status,
              304);
}

}  // namespace
}  // namespace hostler::http
