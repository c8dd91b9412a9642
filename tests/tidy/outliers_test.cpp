// Sizes are a guide: what is larger than it reads well is printed, and nothing is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

struct Sizes {
    std::size_t lines = 0;
    std::size_t longest_line = 0;      // Its number; 0: none is over the limit.
    std::size_t longest_function = 0;  // Lines,
    std::size_t function_at = 0;       // and where it begins.
};

constexpr std::size_t source_max = 500, header_max = 200, function_max = 70, line_max = 110;

std::size_t columns(std::string_view line) {
    std::size_t count = 0;
    for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;  // UTF-8.
    return count;
}

// A function, near enough: from a line at the margin that opens a brace to the next "}" at the margin.
Sizes sizes_of(const File& file) {
    Sizes sizes;
    std::size_t begun = 0;
    for (std::string_view line : lines_of(file.text)) {
        ++sizes.lines;
        if (columns(line) > line_max && sizes.longest_line == 0) sizes.longest_line = sizes.lines;
        const bool margin =
            !line.empty() && line.front() != ' ' && line.front() != '}' && line.front() != '#';
        if (margin && line.ends_with('{') && line.contains('(')) begun = sizes.lines;
        if (!line.starts_with('}') || begun == 0) continue;
        if (const std::size_t length = sizes.lines - begun + 1; length > sizes.longest_function) {
            sizes.longest_function = length;
            sizes.function_at = begun;
        }
        begun = 0;
    }
    return sizes;
}

TEST(Outliers, ArePrinted) {
    std::size_t long_lines = 0;
    for (const File& file : tree()) {
        if (!is_source(file)) continue;
        const Sizes sizes = sizes_of(file);
        const std::size_t lines_max = is_header(file) ? header_max : source_max;
        if (sizes.lines > lines_max)
            fmt::print("outlier: {} has {} lines (guide {})\n", file.path, sizes.lines, lines_max);
        if (sizes.longest_function > function_max)
            fmt::print("outlier: {}:{} a function of {} lines (guide {})\n", file.path, sizes.function_at,
                       sizes.longest_function, function_max);
        if (sizes.longest_line != 0) ++long_lines;
    }
    if (long_lines > 0)
        fmt::print("outlier: {} files have lines of more than {} columns\n", long_lines, line_max);
}

TEST(Outliers, AreMeasured) {
    const Sizes sizes =
        sizes_of(file_of("src/x.cpp", "int f(int a) {\n    return a;\n}\n" + std::string(111, 'x') + "\n"));
    EXPECT_EQ(sizes.lines, 4U);
    EXPECT_EQ(sizes.longest_function, 3U);
    EXPECT_EQ(sizes.function_at, 1U);
    EXPECT_EQ(sizes.longest_line, 4U);
}

}  // namespace
}  // namespace hostler::tidy
