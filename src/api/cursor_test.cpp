#include "api/cursor.h"

#include <gtest/gtest.h>

#include "api/operations_host.h"

namespace hostler::api {
namespace {

TEST(Cursor, ComesBackAsItWas) {
    for (const Cursor& cursor : {Cursor{1, 2, 3, "i-7k2m"}, Cursor{~0ull, ~0ull, ~0ull, "h-1.GPU-2"},
                                 Cursor{0, 0, 0, "."}, Cursor{9, 0, 0, "a b/ü"}})
        EXPECT_EQ(parse_cursor(to_string(cursor)), cursor) << to_string(cursor);
}

TEST(Cursor, IsNothingElse) {
    for (const std::string text :
         {"", "nonsense", "1", "1.2", "1.2.3", "1.2.3.", ".2.3.x", "1..3.x", "1.2..x", "g.2.3.x", "1.2.3g.x",
          "-1.2.3.x", "+1.2.3.x", "0x1.2.3.x", " 1.2.3.x", "1.2. 3.x", "11111111111111111.2.3.x"})
        EXPECT_EQ(parse_cursor(text).error().code, Code::invalid) << text;
    EXPECT_FALSE(parse_cursor("1.2.3." + std::string(1024, 'x')));
}

TEST(Cursor, TellsListsApart) {
    const auto mark = list_mark(ops::list_hosts, "acme", R"({"zone":"nj"})");
    EXPECT_EQ(mark, list_mark(ops::list_hosts, "acme", R"({"zone":"nj"})"));
    EXPECT_NE(mark, list_mark(ops::list_gpus, "acme", R"({"zone":"nj"})"));
    EXPECT_NE(mark, list_mark(ops::list_hosts, "", R"({"zone":"nj"})"));
    EXPECT_NE(mark, list_mark(ops::list_hosts, "acme", R"({"zone":"lon"})"));
    EXPECT_NE(list_mark(ops::list_hosts, "ab", "c"), list_mark(ops::list_hosts, "a", "bc"));
}

}  // namespace
}  // namespace hostler::api
