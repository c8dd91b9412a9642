// Each area of the API has its files and its line in areas.def, and its operations are not in everybody's
// headers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

TEST(Areas, HaveTheirFilesAndTheirLine) {
    constexpr std::string_view before = "src/api/operations_";
    const std::string areas = read("src/api/areas.def");
    for (const File& file : tree()) {
        if (!file.path.starts_with(before)) continue;
        const std::string area = file.path.substr(before.size(), file.path.size() - before.size() - 2);
        EXPECT_TRUE(areas.contains(fmt::format("\nAREA({})\n", area))) << area << " is not in areas.def";
        EXPECT_TRUE(exists(fmt::format("src/api/types_{}.h", area))) << area;
        EXPECT_TRUE(exists(fmt::format("src/api/codec_{}.cpp", area))) << area;
    }
}

TEST(Areas, NoHeaderIncludesOperations) {
    for (const File& file : tree())
        if (is_header(file) && !is_for_tests(file))
            EXPECT_FALSE(file.text.contains("#include \"api/operations_")) << file.path;
}

}  // namespace
}  // namespace hostler::tidy
