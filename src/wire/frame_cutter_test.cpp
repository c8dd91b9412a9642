#include "wire/frame_cutter.h"

#include <gtest/gtest.h>

namespace hostler::wire {
namespace {

std::string frame(std::string_view body) {
    std::string out;
    const std::size_t begin = append_header(out);
    out += body;
    complete_header(out, begin);
    return out;
}

struct Cut {
    Result<> result;
    std::vector<std::string> bodies;
};

Cut cut(FrameCutter& cutter, std::string_view bytes) {
    std::vector<std::string> bodies;
    const auto result = cutter.feed(bytes, [&](std::string_view body) -> Result<> {
        bodies.emplace_back(body);
        return {};
    });
    return {result, bodies};
}

TEST(FrameCutter, WritesTheLengthHighestByteFirst) {
    EXPECT_EQ(frame("abc"), std::string("\0\0\0\3abc", 7));
    EXPECT_EQ(frame(std::string(0x010203, 'x')).substr(0, 4), std::string("\0\1\2\3", 4));
}

TEST(FrameCutter, CutsTheSameWhereverTheBytesAreSplit) {
    const std::vector<std::string> bodies = {"a", std::string(300, 'b'), "ccc"};
    std::string bytes;
    for (const auto& body : bodies) bytes += frame(body);
    for (std::size_t first = 0; first <= bytes.size(); ++first) {
        for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
            FrameCutter cutter{300};
            auto got = cut(cutter, bytes.substr(0, first)).bodies;
            for (std::size_t at = first; at < bytes.size(); at += step)
                for (auto& body : cut(cutter, bytes.substr(at, step)).bodies) got.push_back(body);
            ASSERT_EQ(got, bodies) << first << " " << step;
            ASSERT_TRUE(cutter.between_frames());
        }
    }
}

TEST(FrameCutter, RefusesEmptyAndLargeFramesAtTheirHeader) {
    for (const std::size_t step : {1, 4}) {
        FrameCutter exact{8}, large{8}, empty{8}, huge{8};
        EXPECT_TRUE(cut(exact, frame("12345678")).result);
        const auto feed = [&](FrameCutter& cutter, std::string_view bytes) {
            Result<> result{};
            for (std::size_t at = 0; at < bytes.size() && result; at += step)
                result = cut(cutter, bytes.substr(at, step)).result;
            return result;
        };
        const auto refused = feed(large, std::string_view("\0\0\0\x09", 4));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::invalid);
        EXPECT_EQ(refused.error().message, "the peer announced a frame of 9 bytes; at most 8 are taken");
        EXPECT_EQ(feed(empty, std::string_view("\0\0\0\0", 4)).error().code, Code::invalid);
        EXPECT_EQ(feed(huge, "\xff\xff\xff\xff").error().code, Code::invalid);
    }
}

// A peer that announces much and sends little costs little.
TEST(FrameCutter, KeepsOnlyWhatHasCome) {
    FrameCutter cutter{4 << 20};
    ASSERT_TRUE(cut(cutter, std::string_view("\0\x3f\xff\xff"
                                             "abc",
                                             7))
                    .result);
    EXPECT_EQ(cutter.kept(), 7u);
    EXPECT_FALSE(cutter.between_frames());
}

TEST(FrameCutter, StopsAtTheFirstErrorOfWhoeverTakesTheFrames) {
    FrameCutter cutter{8};
    int calls = 0;
    const auto result = cutter.feed(frame("a") + frame("b"), [&](std::string_view) -> Result<> {
        ++calls;
        return fail(Code::forbidden, "no");
    });
    EXPECT_EQ(result.error().code, Code::forbidden);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hostler::wire
