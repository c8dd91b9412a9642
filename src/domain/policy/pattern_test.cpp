#include "domain/policy/pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hostler {
namespace {

TEST(Patterns, MatchTheWholeText) {
    EXPECT_TRUE(pattern_matches("h100-2", "h100-2"));
    EXPECT_FALSE(pattern_matches("h100-2", "h100-20"));
    EXPECT_FALSE(pattern_matches("h100", "big-h100"));
    EXPECT_TRUE(pattern_matches("*", ""));
    EXPECT_TRUE(pattern_matches("", ""));
    EXPECT_FALSE(pattern_matches("", "a"));
    EXPECT_TRUE(pattern_matches("h100-*", "h100-"));
    EXPECT_TRUE(pattern_matches("*-2", "h100-2-2"));
    EXPECT_TRUE(pattern_matches("a*b*c", "a/b/x/c"));
    EXPECT_FALSE(pattern_matches("a*b*c", "acb"));
    EXPECT_FALSE(pattern_matches("a?c", "abc")) << "only * is special";
}

// The plainest one that can be, exponential in the number of stars.
bool plain(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] != '*')
        return !text.empty() && text[0] == pattern[0] && plain(pattern.substr(1), text.substr(1));
    for (std::size_t i = 0; i <= text.size(); ++i)
        if (plain(pattern.substr(1), text.substr(i))) return true;
    return false;
}

TEST(Patterns, MatchAsAPlainMatcherDoes) {
    std::mt19937 dice{1};
    const auto text = [&](std::string_view letters) {
        std::string made(dice() % 9, ' ');
        for (char& c : made) c = letters[dice() % letters.size()];
        return made;
    };
    int matched = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string pattern = text("ab*"), name = text("ab");
        EXPECT_EQ(pattern_matches(pattern, name), plain(pattern, name)) << pattern << " " << name;
        matched += plain(pattern, name) ? 1 : 0;
    }
    EXPECT_GT(matched, 1000);
}

TEST(Patterns, ManyStarsTakeNoLongTime) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "a*";
    const std::string name(4000, 'a');
    EXPECT_TRUE(pattern_matches(pattern, name));
    EXPECT_FALSE(pattern_matches(pattern + "b", name));
}

TEST(Patterns, OfImagesAreNamesLikeTheirs) {
    EXPECT_TRUE(image_matches("ubuntu", "ubuntu:22.04"));
    EXPECT_TRUE(image_matches("ubuntu", "docker.io/library/ubuntu"));
    EXPECT_TRUE(image_matches("docker.io/library/ubuntu", "ubuntu@sha256:00"));
    EXPECT_TRUE(image_matches("docker.io/library/*", "ubuntu:22.04"));
    EXPECT_FALSE(image_matches("ubuntu", "ubuntu-evil"));
    EXPECT_FALSE(image_matches("ubuntu", "evil.com/ubuntu"));
    EXPECT_TRUE(image_matches("acme/*", "docker.io/acme/train:1"));
    EXPECT_FALSE(image_matches("acme/*", "registry.acme.com/acme/train:1"));
}

TEST(Patterns, OfImagesWithATagMatchThatTagAlone) {
    EXPECT_TRUE(image_matches("ubuntu:22.04", "docker.io/library/ubuntu:22.04"));
    EXPECT_FALSE(image_matches("ubuntu:22.04", "ubuntu"));
    EXPECT_FALSE(image_matches("ubuntu:22.04", "ubuntu:22.04@sha256:00")) << "a digest says more than a tag";
    EXPECT_TRUE(image_matches("ubuntu:22.*", "ubuntu:22.10"));
    EXPECT_FALSE(image_matches("ubuntu:*", "ubuntu@sha256:00"));
    EXPECT_TRUE(image_matches("ubuntu@sha256:00", "ubuntu:22.04@sha256:00"));
    EXPECT_FALSE(image_matches("ubuntu@sha256:00", "ubuntu@sha256:01"));
    EXPECT_TRUE(image_matches("ubuntu:latest", "ubuntu"));
}

TEST(Patterns, OfImagesMayNameARegistry) {
    EXPECT_TRUE(image_matches("registry.acme.com/*", "registry.acme.com/team/train@sha256:00"));
    EXPECT_FALSE(image_matches("registry.acme.com/*", "registry.acme.com.evil.io/train"));
    EXPECT_TRUE(image_matches("localhost:5000/*", "localhost:5000/notebook:1"));
    EXPECT_TRUE(image_matches("registry.acme.com/*/base", "registry.acme.com/team/base:7"));
    EXPECT_FALSE(image_matches("registry.acme.com/*/base", "registry.acme.com/team/base/other:7"));
    EXPECT_TRUE(image_matches("*", "ubuntu"));
    EXPECT_TRUE(image_matches("*/base", "registry.acme.com/base:7"));
    EXPECT_TRUE(image_matches("*.acme.com/*", "eu.acme.com/base"));
}

}  // namespace
}  // namespace hostler
