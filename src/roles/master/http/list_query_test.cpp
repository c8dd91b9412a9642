// Lists by a query: what it lets through, how many rows it looks at, and pages of events.
#include <gmock/gmock.h>

#include "core/percent.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using testing::ApiRig;
using ::testing::HasSubstr;

struct ListQuery : ApiRig {
    void add_instances(int number) {
        Desk& now = desk();
        for (int i = 0; i < number; ++i)
            now.estate.instances.add({.id = fmt::format("i-{:05}", i),
                                      .caller_id = fmt::format("one-{}", i),
                                      .tenant = i % 2 == 0 ? "acme" : "globex",
                                      .zone = i % 3 == 0 ? "lon" : "nj"});
        (void)commit();
    }
    api::Reply ask(const std::string& query, const std::string& more = "", const std::string& tenant = "") {
        return call(tenant, "GET", "/v1/instances?query=" + percent_encode(query) + more);
    }
    json::value list(const std::string& query, const std::string& more = "", const std::string& tenant = "") {
        const api::Reply reply = ask(query, more, tenant);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return json::parse(reply.body);
    }
    static std::string ids(const json::value& page) {
        std::string all;
        for (const json::value& item : page.at("items").as_array())
            all += std::string{item.at("instanceID").as_string()} + " ";
        return all;
    }
    static std::string cursor_of(const json::value& page) {
        const json::value* cursor = page.as_object().if_contains("nextCursor");
        return cursor ? "&cursor=" + percent_encode(cursor->as_string()) : "";
    }
};

TEST_F(ListQuery, LetsThroughWhatFitsInPages) {
    add_instances(9);
    EXPECT_EQ(ids(list("zone=lon")), "one-0 one-3 one-6 ");
    EXPECT_EQ(ids(list("zone=lon", "&order=-created")), "one-6 one-3 one-0 ");
    EXPECT_EQ(ids(list("zone=lon instanceID!=one-3")), "one-0 one-6 ");
    const json::value first = list("zone=lon", "&limit=2&total=true");
    EXPECT_EQ(ids(first), "one-0 one-3 ");
    EXPECT_EQ(first.at("total"), 3);
    const json::value last = list("zone=lon", "&limit=2&total=true" + cursor_of(first));
    EXPECT_EQ(ids(last), "one-6 ");
    EXPECT_EQ(last.at("total"), 3);
    EXPECT_EQ(cursor_of(last), "");
    EXPECT_EQ(cursor_of(list("zone=lon", "&limit=3")), "") << "no other one fits";
    EXPECT_EQ(ask("zone=nj", "&limit=2" + cursor_of(first)).status, 400) << "the cursor is of another query";
    EXPECT_EQ(ids(list("zone=lon", "&all=true")), "one-0 one-3 one-6 ") << "from the store";
    EXPECT_EQ(ids(list("zone=lon", "&instance=one-3")), "one-3 ");
    EXPECT_EQ(ids(list("zone=nj", "&instance=one-3")), "");
}

TEST_F(ListQuery, AsksOfWhatTheCallerSeesAlone) {
    add_instances(9);
    EXPECT_EQ(ids(list("zone=lon", "", "acme")), "one-0 one-6 ");
    EXPECT_EQ(list("tenantID=globex", "&total=true", "acme").at("total"), 0);
}

TEST_F(ListQuery, LooksAtABoundedNumberOfRows) {
    add_instances(queried_rows_max + 500);
    const json::value first = list("instanceID=one-2100");
    EXPECT_EQ(ids(first), "") << "it is beyond the rows that one page looks at";
    ASSERT_NE(cursor_of(first), "");
    const json::value next = list("instanceID=one-2100", cursor_of(first));
    EXPECT_EQ(ids(next), "one-2100 ");
    EXPECT_EQ(cursor_of(next), "");
    const json::value counted = list("instanceID=one-2100", "&total=true");
    EXPECT_EQ(ids(counted), "one-2100 ");
    EXPECT_EQ(counted.at("total"), 1);
}

TEST_F(ListQuery, CountsABoundedNumberOfRows) {
    add_instances(static_cast<int>(counted_rows_max) + 1);
    const json::value page = list("zone=lon", "&total=true&limit=1");
    EXPECT_EQ(ids(page), "one-0 ");
    EXPECT_FALSE(page.as_object().contains("total"));
}

TEST_F(ListQuery, AWrongQueryIsRefusedWithEveryWrongTerm) {
    const api::Reply refused = ask("stat=running gpus", "&limit=0");
    EXPECT_EQ(refused.status, 400);
    const json::value body = json::parse(refused.body);
    const json::array& errors = body.at("errors").as_array();
    ASSERT_EQ(errors.size(), 3u) << refused.body;
    EXPECT_EQ(errors[0].at("field"), "query");
    EXPECT_THAT(std::string{errors[0].at("message").as_string()},
                HasSubstr("at 1: there is no field 'stat'; did you mean 'state'?"));
}

struct EventPages : ApiRig {
    json::value events(const std::string& query) {
        const api::Reply reply = call("", "GET", "/v1/events" + query);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return json::parse(reply.body);
    }
};

TEST_F(EventPages, GoFromTheNewestToTheOldest) {
    for (int i = 0; i < 4; ++i) {
        Desk& now = desk();
        for (int line = 0; line < 3; ++line)
            now.estate.event("zone", "nj", "", "tried", fmt::format("Event {} of commit {}.", line, i));
        (void)commit();
    }
    json::array rising = events("?kind=zone&id=nj&limit=1000").at("items").as_array();
    ASSERT_EQ(rising.size(), 12u);
    std::ranges::reverse(rising);
    json::array paged;
    std::string cursor;
    int pages = 0;
    do {
        const json::value page = events("?kind=zone&id=nj&order=-created&limit=5" + cursor);
        for (const json::value& item : page.at("items").as_array()) paged.push_back(item);
        const json::value* next = page.as_object().if_contains("nextCursor");
        cursor = next ? "&cursor=" + percent_encode(next->as_string()) : "";
        ++pages;
    } while (!cursor.empty() && pages < 10);
    EXPECT_EQ(paged, rising) << "each once, though pages end within a commit";
    EXPECT_EQ(pages, 3);
    const json::value newest = events("?kind=zone&id=nj&limit=5");
    EXPECT_EQ(newest.at("items").at(4), rising[0]) << "a page in rising order is of the newest ones";
    EXPECT_FALSE(newest.as_object().contains("nextCursor"));
}

}  // namespace
}  // namespace hostler::master
