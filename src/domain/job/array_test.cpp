#include "domain/job/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::HasSubstr;

TEST(JobArray, ElementsAreFoundByTheirPosition) {
    const JobArray array = *read_array("0-15:5,20,22-23%4");
    EXPECT_EQ(array.size(), 7);
    EXPECT_EQ(array.at_most, 4);
    std::vector<std::int64_t> indexes;
    for (std::int64_t i = 0; i < array.size(); ++i) indexes.push_back(array.index_at(i));
    for (std::int64_t i = 0; i < array.size(); ++i)
        EXPECT_EQ(array.position_of(indexes[static_cast<std::size_t>(i)]), i);
    EXPECT_THAT(indexes, ::testing::ElementsAre(0, 5, 10, 15, 20, 22, 23));
    EXPECT_EQ(text_of(array), "0-15:5,20,22-23%4");
    EXPECT_EQ(text_of(JobArray{}), "");
    EXPECT_EQ(text_of(*read_array("3,1")), "3,1");
    EXPECT_EQ(read_array("1-3,2")->size(), 3) << "an index that is named twice counts once";
    EXPECT_EQ(text_of(*read_array("0-14:5")), "0-10:5");
}

TEST(JobArray, WrongOnesAreRefusedWithoutBeingCounted) {
    for (const char* text : {"", "%4", "1,", "1,,2", "a", "-1", "5-1", "0-9:0", "3:2", "0-9%0", "0-10000000",
                             "99999999999999999999", "0-9%99999999999"}) {
        const auto read = read_array(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code, Code::invalid);
        EXPECT_THAT(read.error().message, HasSubstr("write 0-15, 1,3,5-7")) << text;
    }
    EXPECT_THAT(read_array("0-4000000").error().message, HasSubstr("more than 10000 elements"));
    EXPECT_EQ(read_array("0-9999")->size(), array_elements_max);
}

}  // namespace
}  // namespace hostler
