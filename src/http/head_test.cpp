#include "http/head.h"

#include <fmt/format.h>

#include <fstream>

#include "http/served_test.h"
#include "http/testing/corpus.h"

namespace hostler::http {
namespace {

int verdict(const std::string& bytes, bool whole) {
    Served served{echo(), {}, 1 << 20};
    if (whole) {
        served.send(bytes);
    } else {
        for (const char c : bytes) served.send({&c, 1});
    }
    const auto heard = served.heard();
    if (!heard.starts_with("HTTP/1.1 ")) return 0;
    const int status = std::stoi(heard.substr(9, 3));
    // Whoever breaks the rules is not heard again.
    if (status >= 400 && heard.find("Connection: close\r\n") == std::string::npos) return -1;
    served.timers.advance(5s);
    if (served.over != (status >= 400 || bytes.find("HTTP/1.0") != std::string::npos)) return -2;
    return status;
}

TEST(Head, CorpusHasOneVerdictHoweverItArrives) {
    for (const auto& parts : {testing::heads(), testing::bodies()})
        for (const auto& part : parts)
            for (const auto& one : part.cases) {
                EXPECT_EQ(verdict(one.bytes, true), one.status) << one.name << ", whole";
                EXPECT_EQ(verdict(one.bytes, false), one.status) << one.name << ", byte by byte";
            }
}

TEST(Head, ABodyLargerThanTheServerTakesIsRefusedByItsHead) {
    EXPECT_EQ(verdict("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", true), 413);
}

TEST(Corpus, PageIsWhatTheTableSays) {
    std::ifstream file{HOSTLER_HTTP_CORPUS, std::ios::binary};
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(page, testing::corpus_page()) << "run ./dev gen";
}

// The parser below us is stricter with requests than with responses: these are our own checks.
TEST(Head, WhatIsDoubledIsRefusedInResponsesToo) {
    const auto refusal = [](std::string_view fields) -> std::string_view {
        ResponseHead head;
        const auto good = parse(fmt::format("HTTP/1.1 200 OK\r\n{}\r\n", fields), {}, "GET", head);
        return good ? "" : good.error().what;
    };
    constexpr std::string_view coding = "Transfer-Encoding: chunked\r\n", length = "Content-Length: 2\r\n";
    EXPECT_EQ(refusal(coding), "");
    EXPECT_EQ(refusal(length), "");
    EXPECT_EQ(refusal(fmt::format("{}{}", coding, coding)), "Transfer-Encoding comes twice");
    EXPECT_EQ(refusal(fmt::format("{}A: b\r\n{}", coding, "transfer-encoding: Chunked\r\n")),
              "Transfer-Encoding comes twice");
    EXPECT_NE(refusal(fmt::format("{}{}", length, length)), "");
    EXPECT_NE(refusal(fmt::format("{}{}", coding, length)), "");
}

}  // namespace
}  // namespace hostler::http
