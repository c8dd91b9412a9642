// Whatever a role shows is explained to operators.
#include <gtest/gtest.h>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

TEST(Metrics, AreAllExplained) {
    const std::string told = read("docs/operate/metrics.md");
    int seen = 0;
    for (const File& file : tree()) {
        if (!file.path.starts_with("src/") || !file.path.ends_with("/metrics.cpp")) continue;
        for (auto at = file.text.find("\"hostler_"); at != std::string::npos;
             at = file.text.find("\"hostler_", at + 1)) {
            const std::string name = file.text.substr(at + 1, file.text.find('"', at + 1) - at - 1);
            EXPECT_NE(told.find('`' + name + '`'), std::string::npos)
                << file.path << ": docs/operate/metrics.md does not say what " << name << " is";
            ++seen;
        }
    }
    EXPECT_GT(seen, 50);
}

}  // namespace
}  // namespace hostler::tidy
