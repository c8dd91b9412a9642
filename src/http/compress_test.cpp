#include "http/compress.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"
#include "http/testing/gunzip.h"

namespace hostler::http {
namespace {

using hostler::testing::run;
using testing::gunzip;

bool takes(std::string value) { return takes_gzip({{"Accept-Encoding", std::move(value)}}); }

TEST(Compress, AClientSaysWhetherItTakesIt) {
    for (const char* value :
         {"gzip", "GZIP", "x-gzip", "deflate, gzip;q=1.0, *;q=0.5", "*", "br , gzip ; q=0.001", "gzip;q=0.5",
          "identity;q=0.5, gzip", "gzip;Q=1", "gzip;q=1.000", "*;q=0, gzip", "gzip;q=0.5, identity;q=0.5"})
        EXPECT_TRUE(takes(value)) << value;
    for (const char* value : {"", "br", "identity", "gzip;q=0", "gzip;q=0.", "gzip;q=0.000", "*;q=0",
                              "*, gzip;q=0", "gzip;q=1.001", "gzip;q=2", "gzip;q=", "gzip;q=x", "gzip;q=0.5x",
                              "gzip;q=0.1234", "gzip;level=9", "gzip;q=0.5, identity", "gzipped", "gzip q=1"})
        EXPECT_FALSE(takes(value)) << value;
    EXPECT_FALSE(takes_gzip({}));
    EXPECT_TRUE(takes_gzip({{"Accept-Encoding", "br"}, {"accept-encoding", "gzip"}}));
}

struct CompressTest : ::testing::Test {
    Response answer(std::string text, std::string type = "application/json", Headers more = {}) {
        Response response{.headers = std::move(more), .body = std::move(text)};
        if (!type.empty()) response.headers.set("Content-Type", std::move(type));
        return *run(loop, compressed(request, std::move(response)));
    }
    static bool is_gzip(const Response& response) {
        return response.headers.find("Content-Encoding") == "gzip";
    }

    Loop loop;
    Request request{.headers = {{"Accept-Encoding", "gzip"}}};
    const std::string body = std::string(2000, 'x');
};

TEST_F(CompressTest, ComesOutAsItWentIn) {
    std::string text;
    std::uint32_t dice = 7;
    while (text.size() < 700'000) {
        dice = dice * 1'664'525 + 1'013'904'223;
        text += static_cast<char>(dice >> 24);
        if (dice % 5 == 0) text += "\"state\":\"running\"";
    }
    for (const std::size_t size : {1025U, 65'535U, 65'536U, 65'537U, 131'072U, 700'000U}) {
        const std::string part = text.substr(0, size);
        const Response packed = answer(part);
        EXPECT_TRUE(is_gzip(packed));
        EXPECT_EQ(packed.headers.find("Vary"), "Accept-Encoding");
        EXPECT_LT(packed.body.size(), part.size());
        EXPECT_EQ(gunzip(packed.body), part) << size;
    }
}

TEST_F(CompressTest, OnlyTextOfSomeLengthIsMadeShort) {
    EXPECT_FALSE(is_gzip(answer(std::string(compressed_min, 'x'))));
    EXPECT_TRUE(is_gzip(answer(std::string(compressed_min + 1, 'x'))));
    EXPECT_TRUE(is_gzip(answer(std::string(compressed_max, 'x'))));
    EXPECT_FALSE(is_gzip(answer(std::string(compressed_max + 1, 'x'))));
    for (const char* type : {"application/json; charset=utf-8", "application/problem+json",
                             "text/csv; charset=utf-8", "text/html", "text/plain"})
        EXPECT_TRUE(is_gzip(answer(body, type))) << type;
    for (const char* type : {"text/event-stream", "application/octet-stream", "image/png", ""})
        EXPECT_FALSE(is_gzip(answer(body, type))) << type;
    const Response encoded = answer(body, "text/html", {{"Content-Encoding", "br"}});
    EXPECT_EQ(encoded.headers.find("Content-Encoding"), "br");
    EXPECT_EQ(encoded.body, body);
}

TEST_F(CompressTest, ACacheIsToldThatThereAreTwoForms) {
    request.headers = {};
    const Response plain = answer(body);
    EXPECT_EQ(plain.body, body);
    EXPECT_FALSE(plain.headers.has("Content-Encoding"));
    EXPECT_EQ(plain.headers.find("Vary"), "Accept-Encoding");
}

TEST_F(CompressTest, AnswersOfWritesStayPlain) {
    request.method = "HEAD";
    EXPECT_TRUE(is_gzip(answer(body)));
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        request.method = method;
        const Response plain = answer(body);
        EXPECT_EQ(plain.body, body) << method;
        EXPECT_TRUE(!plain.headers.has("Vary")) << method;
    }
}

// One piece of a long body at a time: whoever else has something to do comes in between.
TEST_F(CompressTest, LetsOthersGoFirst) {
    int turns = 0;
    TaskGroup group{loop};
    bool done = false;
    group.start("compress", [](const Request& asked, bool& over) -> Task<> {
        Response response{.body = std::string(10 * 65'536, 'x')};
        response.headers.set("Content-Type", "text/plain");
        CO_TRY(co_await compressed(asked, std::move(response)));
        over = true;
        co_return Result<>{};
    }(request, done));
    while (!done && turns < 1000) {
        loop.restart();
        loop.poll_one();
        ++turns;
    }
    EXPECT_GE(turns, 10);
    (void)hostler::testing::try_run(loop, group.close());
}

}  // namespace
}  // namespace hostler::http
