// The parts of a cloud as an operator sees them, over the API, with gateways and access points that are
// played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/version.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/link_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

struct Components : ::testing::Test, testing::LinkRig {
    Components() { settings.advertise = "m-1.example.com:7444"; }
    json::object list(const std::string& query = "") {
        auto answer = hostler::testing::try_run(
            loop, asked(api.handlers(), {.method = "GET", .target = "/v1/components" + query}));
        HOSTLER_ASSERT(answer);
        EXPECT_EQ((**answer).status, 200) << (**answer).body;
        return json::parse((**answer).body).as_object();
    }
    static Task<api::Reply> asked(const api::Handlers& handlers, api::Inquiry inquiry) {
        co_return co_await handlers.answer(std::move(inquiry), caller_for(""), nullptr);
    }
    // Those of a kind, as "id state"; their last one is `last`.
    std::vector<std::string> all_of(std::string_view kind) {
        std::vector<std::string> all;
        for (const json::value& one : list().at("items").as_array()) {
            if (one.at("kind").as_string() != kind) continue;
            last = one.as_object();
            all.push_back(fmt::format("{} {}", std::string_view{one.at("id").as_string()},
                                      std::string_view{one.at("state").as_string()}));
        }
        return all;
    }
    std::string field(std::string_view name) const {
        const json::value* value = last.if_contains(name);
        return value && value->is_string() ? std::string{value->as_string()} : "";
    }
    void note(const std::string& name, std::string_view release = "0.1.0") {
        desk().live.note_master(name, "198.51.100.8", release, timers.wall().time_since_epoch().count());
    }
    using Words = std::vector<std::string>;

    Api api{lead};
    json::object last;
};

TEST_F(Components, TheLeadingMasterAndItsStoresAreThere) {
    series.told.disk_bytes = 4096;
    EXPECT_EQ(all_of("master"), Words{"master leading"});
    EXPECT_EQ(field("address"), "m-1.example.com:7444");
    EXPECT_EQ(field("version"), std::string{version});
    EXPECT_EQ(field("message"), "epoch 1");
    EXPECT_NE(field("since"), "");
    EXPECT_FALSE(last.contains("seenAt"));
    EXPECT_EQ(all_of("store"), Words{"store up"});
    EXPECT_FALSE(last.contains("version")) << "this one does not say";
    EXPECT_EQ(all_of("series"), Words{"series up"});
    EXPECT_EQ(last.at("sizeBytes").as_int64(), 4096);
    EXPECT_EQ(all_of("authority"), Words{"f00d issuing"});
    EXPECT_TRUE(all_of("gateway").empty());
    lead.term->only_read({Code::exhausted, "the disk is full", "disk_full"});
    EXPECT_EQ(all_of("store"), Words{"store full"});
}

TEST_F(Components, MastersOnStandbyAreThereAsLongAsTheyAsk) {
    note("m-2");
    note("m-3", "");
    EXPECT_EQ(all_of("master"), (Words{"master leading", "m-2 standby", "m-3 standby"}));
    EXPECT_FALSE(last.contains("version")) << "it did not say";
    timers.advance(40s);
    note("m-2", "");
    timers.advance(40s);
    EXPECT_EQ(all_of("master"), (Words{"master leading", "m-2 standby", "m-3 down"}));
    EXPECT_EQ(field("since"), field("seenAt"));
    for (std::size_t i = 0; i < Live::masters_max; ++i) note(fmt::format("n-{}", i));
    EXPECT_EQ(desk().live.masters.size(), Live::masters_max);
    EXPECT_FALSE(desk().live.masters.contains("m-3")) << "it is silent for longest";
}

TEST_F(Components, AGatewayIsUpAsLongAsALinkOfItIs) {
    wire::Link& first = gateway();
    EXPECT_EQ(all_of("gateway"), Words{"gw-1 up"});
    EXPECT_EQ(field("address"), "http://localhost:8443");
    EXPECT_FALSE(last.contains("version")) << "it did not say";
    const std::string since = field("since");
    timers.advance(3s);
    wire::Link& second = gateway();
    first.close();
    timers.settle();
    EXPECT_EQ(all_of("gateway"), Words{"gw-1 up"});
    EXPECT_EQ(field("since"), since);
    second.close();
    timers.settle();
    EXPECT_EQ(all_of("gateway"), Words{"gw-1 down"});
    EXPECT_NE(field("since"), since);
    EXPECT_EQ(field("seenAt"), field("since"));
}

TEST_F(Components, AGatewayOfAFormerTermIsDownUntilItComes) {
    desk().estate.gateways.add({.name = "gw-9", .address = "https://apps.example.com"});
    (void)commit();
    EXPECT_EQ(all_of("gateway"), Words{"gw-9 down"});
    EXPECT_FALSE(last.contains("since"));
}

TEST_F(Components, AccessPointsAreAmongThem) {
    wire::Link& link = access("nj-1");
    EXPECT_EQ(all_of("access"), Words{"nj-1 up"});
    EXPECT_EQ(field("zone"), "nj");
    EXPECT_EQ(field("message"), "0 hosts, 0 tunnels");
    link.close();
    timers.settle();
    EXPECT_EQ(all_of("access"), Words{"nj-1 down"});
}

TEST_F(Components, PagesFollowOneAnother) {
    note("m-2");
    const std::size_t whole = list().at("items").as_array().size();
    std::string cursor;
    std::size_t seen = 0;
    do {
        const json::object page = list("?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
        seen += page.at("items").as_array().size();
        cursor = page.contains("nextCursor") ? std::string{page.at("nextCursor").as_string()} : "";
    } while (!cursor.empty());
    EXPECT_EQ(seen, whole);
}

}  // namespace
}  // namespace hostler::master
