// The fleet in columns: who sees which hosts, what changed, and how many bytes that are.
#include <gmock/gmock.h>

#include "api/codec.h"
#include "api/types_fleet.h"
#include "core/base64.h"
#include "domain/tenancy/role.h"
#include "roles/master/fleet/answer.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

using testing::ApiRig;
using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct FleetTest : ApiRig {
    FleetTest() {
        Estate& estate = desk().estate;
        for (const char* name : {"b", "c"}) add_host(estate, name, "lon");
        estate.hosts.edit("h-c").owner = "farm";
        admit(estate, "h-a");
        (void)commit();
    }
    static void admit(Estate& estate, const std::string& id) {
        estate.hosts.edit(id).admission.state = Admission::admitted;
    }
    static void add_host(Estate& estate, const std::string& name, const std::string& zone, int gpus = 2) {
        estate.hosts.add({.id = "h-" + name,
                          .zone = zone,
                          .phase = HostPhase::ready,
                          .facts = DeskRig::facts_of(name, gpus)});
        admit(estate, "h-" + name);
    }
    static api::Caller provider(const std::string& name) {
        api::Caller caller{.actor = "user/u-1"};
        caller.principal = {.kind = PrincipalKind::user,
                            .id = "u-1",
                            .held = {{Scope::of_provider(name), permissions_of(BuiltInRole::provider)}}};
        return caller;
    }
    api::Reply ask(const std::string& query, api::Caller caller = caller_for("")) {
        auto answer = hostler::testing::try_run(
            loop, wrapped(api.handlers(), {.method = "GET", .target = "/v1/fleet" + query}, std::move(caller),
                          &nowhere));
        HOSTLER_ASSERT(answer);
        return std::move(**answer);
    }
    api::Fleet fleet(const std::string& query = "", api::Caller caller = caller_for("")) {
        const api::Reply reply = ask(query, std::move(caller));
        EXPECT_EQ(reply.status, 200) << reply.body;
        return api::decode_stored<api::Fleet>(reply.body).value();
    }
    void claim(const std::string& id, ClaimUse use, const std::string& tenant,
               std::vector<std::string> gpus) {
        Claim held{.id = id, .host = "h-a", .zone = "nj", .use = use};
        held.tenant = tenant;
        held.gpus = std::move(gpus);
        desk().estate.hold(std::move(held));
    }
    void sample(const std::string& host, const std::string& gpu, GpuSample made) {
        made.uuid = gpu;
        HostTelemetryTold told;
        told.gpus[gpu] = std::move(made);
        note_telemetry(desk(), host, std::move(told));
    }
    static GpuSample measured(std::int64_t percent, std::int64_t celsius, std::int64_t milliwatts) {
        GpuSample made;
        made.utilisation_percent = percent;
        made.temperature_celsius = celsius;
        made.power_mw = milliwatts;
        return made;
    }
};

// Words, and numbers as text; "?" is unknown.
std::vector<std::string> told(const std::vector<api::FleetColumn>& columns, const std::string& name) {
    const auto column = std::ranges::find(columns, name, &api::FleetColumn::name);
    if (column == columns.end()) return {"no such column"};
    const std::string bytes = base64_decoded(column->data);
    std::vector<std::string> values;
    const auto width = static_cast<std::size_t>(column->width);
    for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
        std::size_t value = static_cast<std::uint8_t>(bytes[at]);
        if (width > 1) value |= std::size_t{static_cast<std::uint8_t>(bytes[at + 1])} << 8;
        const bool unknown = value == (width > 1 ? NameNumbers::unknown : byte_unknown);
        values.push_back(unknown ? "?"
                         : column->words.empty()
                             ? std::to_string(value * static_cast<std::size_t>(column->step))
                         : value < column->words.size() ? column->words[value]
                                                        : "out of range");
    }
    return values;
}

TEST_F(FleetTest, HasAValueForEachGpu) {
    claim("c-1", ClaimUse::stock, "", {"GPU-a-0"});
    claim("c-2", ClaimUse::instance, "acme", {"GPU-a-1", "GPU-a-2"});
    claim("c-3", ClaimUse::leaving, "globex", {"GPU-a-3"});
    claim("c-4", ClaimUse::foreign, "", {"GPU-a-4"});
    desk().estate.hosts.edit("h-a").gpu_states["GPU-a-5"].health = GpuHealth::faulty;
    desk().estate.hosts.edit("h-b").cordoned = true;
    (void)commit();
    const api::Fleet all = fleet("?values=use,state,tenant,model");
    EXPECT_TRUE(all.whole);
    EXPECT_FALSE(all.next);
    EXPECT_THAT(all.hosts, ElementsAre("h-a", "h-b", "h-c"));
    EXPECT_THAT(all.names, ElementsAre("a", "b", "c"));
    EXPECT_THAT(told(all.host_columns, "zone"), ElementsAre("nj", "lon", "lon"));
    EXPECT_THAT(told(all.host_columns, "state"), ElementsAre("ready", "cordoned", "ready"));
    EXPECT_THAT(told(all.host_columns, "gpus"), ElementsAre("8", "2", "2"));
    EXPECT_THAT(told(all.columns, "use"),
                ElementsAre("stock", "instance", "instance", "instance", "foreign", "unavailable", "idle",
                            "idle", "unavailable", "unavailable", "idle", "idle"));
    const auto states = told(all.columns, "state");
    EXPECT_EQ(states.at(5), "faulty");
    EXPECT_EQ(states.at(6), "healthy");
    const auto tenants = told(all.columns, "tenant");
    EXPECT_THAT(std::vector(tenants.begin(), tenants.begin() + 5),
                ElementsAre("?", "acme", "acme", "globex", "?"));
    EXPECT_EQ(told(all.columns, "model").back(), "H100 SXM5 80GB");
}

TEST_F(FleetTest, SamplesAreRoundedAndUnknownIsNotZero) {
    (void)fleet();
    sample("h-a", "GPU-a-0", measured(61, 58, 412'600));
    sample("h-b", "GPU-b-1", {});
    const api::Fleet all = fleet("?values=utilization,temperature,power");
    const auto power = told(all.columns, "power");
    EXPECT_EQ(told(all.columns, "utilization").front(), "61");
    EXPECT_EQ(told(all.columns, "temperature").front(), "58");
    EXPECT_EQ(power.front(), "415");
    EXPECT_EQ(power.at(1), "?");
    EXPECT_EQ(power.at(9), "?") << "it told nothing of its power";
    sample("h-a", "GPU-a-0", measured(100, 300, 9'000'000));
    EXPECT_EQ(told(fleet("?values=power").columns, "power").front(), "1270")
        << "the most that a byte has room for";
    EXPECT_EQ(told(fleet("?values=utilization").columns, "utilization").front(), "100");
    desk().estate.hosts.edit("h-a").phase = HostPhase::unreachable;
    (void)commit();
    EXPECT_EQ(told(fleet("?values=power").columns, "power").front(), "?") << "that was some time ago";
}

TEST_F(FleetTest, AskedAgainItHasWhatChanged) {
    const api::Fleet first = fleet();
    const auto since = [&](const api::Fleet& before, const std::string& values = "use,state,utilization") {
        return fleet("?since=" + before.cursor + "&values=" + values);
    };
    const api::Fleet same = since(first);
    EXPECT_FALSE(same.whole);
    EXPECT_THAT(same.hosts, IsEmpty());
    EXPECT_EQ(same.cursor, first.cursor);
    claim("c-1", ClaimUse::instance, "acme", {"GPU-a-7"});
    sample("h-b", "GPU-b-0", measured(50, 40, 100'000));
    const api::Fleet second = since(first);
    EXPECT_THAT(second.hosts, ElementsAre("h-a", "h-b"));
    EXPECT_THAT(told(second.columns, "use").at(7), "instance");
    EXPECT_THAT(told(second.columns, "utilization").at(8), "50");
    EXPECT_THAT(since(first, "use,state").hosts, ElementsAre("h-a")) << "samples are not asked for";
    sample("h-b", "GPU-b-0", measured(50, 40, 100'000));
    EXPECT_THAT(since(second).hosts, IsEmpty()) << "the same again is no change";
    desk().estate.release("c-1");
    EXPECT_EQ(told(since(second).columns, "use").at(7), "idle");
    const api::Fleet third = since(second);
    EXPECT_THAT(since(third).hosts, IsEmpty());
    desk().estate.hosts.edit("h-b").phase = HostPhase::retired;
    const api::Fleet fourth = since(third);
    EXPECT_THAT(fourth.hosts, IsEmpty());
    EXPECT_THAT(fourth.removed, ElementsAre("h-b"));
    EXPECT_THAT(fleet("?zone=nj&since=" + third.cursor).removed, IsEmpty());
    EXPECT_THAT(fleet("?since=" + third.cursor, provider("farm")).removed, IsEmpty());
    EXPECT_TRUE(fleet("?since=99-1").whole) << "of another term";
    EXPECT_TRUE(fleet("?since=" + first.cursor.substr(0, first.cursor.find('-')) + "-999999").whole);
    for (const char* bad : {"x", "-", "1", "1-", "1-x", "-1-1", "1-1x"})
        EXPECT_EQ(ask(std::string{"?since="} + bad).status, 400) << bad;
}

TEST_F(FleetTest, ARemovalThatIsForgottenMeansEverything) {
    const api::Fleet first = fleet();
    Estate& estate = desk().estate;
    const auto name = [](std::size_t i) { return fmt::format("z{:05}", i); };
    for (std::size_t i = 0; i <= FleetMap::gone_max; ++i) add_host(estate, name(i), "lon", 0);
    const api::Fleet second = fleet("?since=" + first.cursor);
    EXPECT_EQ(second.hosts.size(), FleetMap::gone_max + 1);
    for (std::size_t i = 0; i <= FleetMap::gone_max; ++i)
        estate.hosts.edit("h-" + name(i)).phase = HostPhase::retired;
    const api::Fleet third = fleet("?since=" + second.cursor);
    EXPECT_TRUE(third.whole);
    EXPECT_THAT(third.hosts, ElementsAre("h-a", "h-b", "h-c"));
}

TEST_F(FleetTest, AProviderSeesItsOwnHostsAndNoOthersNames) {
    claim("c-1", ClaimUse::instance, "acme", {"GPU-a-0"});
    desk().estate.hosts.edit("h-c").facts.gpus.front().model = "L40S 48GB";
    const api::Fleet own = fleet("?values=use,model", provider("farm"));
    EXPECT_THAT(own.hosts, ElementsAre("h-c"));
    EXPECT_THAT(told(own.host_columns, "zone"), ElementsAre("lon"));
    EXPECT_EQ(own.host_columns.front().words, std::vector<std::string>{"lon"}) << "no zone of others";
    EXPECT_THAT(told(own.columns, "use"), ElementsAre("idle", "idle"));
    EXPECT_THAT(told(own.columns, "model"), ElementsAre("L40S 48GB", "H100 SXM5 80GB"));
    EXPECT_THAT(fleet("", provider("mill")).hosts, IsEmpty());
    const api::Reply tenants = ask("?values=tenant", provider("farm"));
    EXPECT_EQ(tenants.status, 403);
    EXPECT_EQ(problem(tenants), "permission_missing");
    EXPECT_EQ(ask("", caller_for("acme")).status, 403) << "hosts are not a tenant's to see";
}

TEST_F(FleetTest, AHostThatMovesAwayIsToldAsRemoved) {
    const auto ask_all = [&](const std::string& more) {
        return std::array{fleet("?limit=9" + more), fleet("?zone=lon" + more),
                          fleet("?limit=9" + more, provider("farm"))};
    };
    const std::string first = fleet().cursor;
    desk().estate.hosts.edit("h-c").owner = "mill";
    const auto sold = ask_all("&since=" + first);
    EXPECT_THAT(sold[0].hosts, ElementsAre("h-c"));
    EXPECT_THAT(sold[0].removed, IsEmpty()) << "it is still seen";
    EXPECT_THAT(sold[1].removed, IsEmpty());
    EXPECT_THAT(sold[2].hosts, IsEmpty());
    EXPECT_THAT(sold[2].removed, ElementsAre("h-c"));
    EXPECT_THAT(fleet("", provider("farm")).hosts, IsEmpty());
    EXPECT_THAT(fleet("", provider("mill")).hosts, ElementsAre("h-c"));
    desk().estate.hosts.edit("h-c").zone = "nj";
    const auto moved = ask_all("&since=" + sold[0].cursor);
    EXPECT_THAT(moved[0].removed, IsEmpty());
    EXPECT_THAT(moved[1].hosts, IsEmpty());
    EXPECT_THAT(moved[1].removed, ElementsAre("h-c"));
    EXPECT_THAT(moved[2].removed, IsEmpty()) << "it was gone before";
    EXPECT_THAT(fleet("?since=" + first, provider("farm")).removed, ElementsAre("h-c"));
    sample("h-c", "GPU-c-0", measured(50, 40, 100'000));
    EXPECT_THAT(fleet("?since=" + moved[0].cursor, provider("mill")).hosts, ElementsAre("h-c"));
    desk().estate.hosts.edit("h-c").phase = HostPhase::retired;
    EXPECT_THAT(fleet("?since=" + moved[0].cursor, provider("mill")).removed, ElementsAre("h-c"));
    EXPECT_THAT(fleet("?since=" + moved[0].cursor, provider("farm")).removed, IsEmpty());
}

TEST_F(FleetTest, AnAnswerLooksAtHostsThatTheCallerSees) {
    FleetMap map;
    map.follow(desk());
    std::size_t looked_at = 0;
    const auto count = [&](const FleetBlock&) { return ++looked_at > 0; };
    EXPECT_EQ(map.owners(), (std::vector<std::string>{"", "farm"}));
    EXPECT_EQ(map.hosts_of("farm", "", count, 9).size(), 1u);
    EXPECT_EQ(looked_at, 1u);
    EXPECT_EQ(map.hosts_of("", "", count, 1).size(), 1u);
    EXPECT_EQ(looked_at, 2u) << "as many as a page has";
    EXPECT_EQ(map.changed_since("farm", 0, true).size(), 1u);
}

TEST_F(FleetTest, AProviderNamesSoManyModels) {
    for (std::size_t i = 0; i <= 2 * fleet_models_owner_max; ++i) {
        desk().estate.hosts.edit("h-c").facts.gpus.front().model = fmt::format("model {}", i);
        (void)fleet();
    }
    EXPECT_THAT(told(fleet("?values=model", provider("farm")).columns, "model"),
                ElementsAre("other", "H100 SXM5 80GB"))
        << "those that it has told before are known";
    desk().estate.hosts.edit("h-b").facts.gpus.front().model = "L40S 48GB";
    desk().estate.hosts.edit("h-b").facts.gpus.back().model = std::string(fleet_model_bytes_max + 1, 'x');
    EXPECT_THAT(told(fleet("?values=model&zone=lon").columns, "model"),
                ElementsAre("L40S 48GB", "other", "other", "H100 SXM5 80GB"))
        << "others' are counted apart";
}

TEST_F(FleetTest, ComesByZoneAndInPages) {
    EXPECT_THAT(fleet("?zone=lon").hosts, ElementsAre("h-b", "h-c"));
    EXPECT_THAT(fleet("?zone=mars").hosts, IsEmpty());
    const api::Fleet first = fleet("?limit=2");
    EXPECT_THAT(first.hosts, ElementsAre("h-a", "h-b"));
    EXPECT_EQ(first.next, "h-b");
    const api::Fleet second = fleet("?limit=2&after=h-b");
    EXPECT_THAT(second.hosts, ElementsAre("h-c"));
    EXPECT_FALSE(second.next);
    const std::string beginning = first.cursor.substr(0, first.cursor.find('-')) + "-0";
    EXPECT_THAT(fleet("?limit=1&after=h-a&since=" + beginning).hosts, ElementsAre("h-b"));
    EXPECT_THAT(fleet("?limit=1&after=h-b&since=" + beginning).hosts, ElementsAre("h-c"));
    EXPECT_EQ(ask("?limit=10001").status, 400);
    for (const char* bad : {"usage", "use,", "use,use", ",use", "use;state"})
        EXPECT_EQ(ask(std::string{"?values="} + bad).status, std::string{bad} == "use," ? 200 : 400) << bad;
}

TEST_F(FleetTest, ManyTenantsTakeTwoBytes) {
    Estate& estate = desk().estate;
    add_host(estate, "d", "nj", 0);
    constexpr int gpus = 254;
    estate.hosts.edit("h-d").facts = DeskRig::facts_of("d", gpus + 10);
    for (int i = 0; i < gpus; ++i) {
        Claim held{.id = fmt::format("c-{}", i), .host = "h-d", .zone = "nj", .use = ClaimUse::instance};
        held.tenant = fmt::format("t-{:03}", i);
        held.gpus = {fmt::format("GPU-d-{}", i)};
        estate.hold(std::move(held));
    }
    api::Fleet all = fleet("?values=tenant&zone=nj");
    EXPECT_EQ(told(all.host_columns, "gpus").back(), "254") << "others of that host are left out";
    EXPECT_EQ(all.columns.front().width, 1);
    EXPECT_EQ(told(all.columns, "tenant").back(), "t-253");
    claim("c-x", ClaimUse::instance, "acme", {"GPU-a-0"});
    claim("c-y", ClaimUse::instance, "globex", {"GPU-a-1"});
    all = fleet("?values=tenant&zone=nj");
    EXPECT_EQ(all.columns.front().width, 2);
    EXPECT_EQ(told(all.columns, "tenant").front(), "acme");
    EXPECT_EQ(told(all.columns, "tenant").at(2), "?");
    EXPECT_EQ(told(all.columns, "tenant").back(), "t-253");
}

TEST_F(FleetTest, ASweepLooksAtSomeHostsAndAnAnswerAtTheRest) {
    FleetMap map;
    map.follow(desk(), 2);
    EXPECT_EQ(map.blocks().size(), 2u);
    map.follow(desk(), 2);
    EXPECT_EQ(map.blocks().size(), 3u);
    desk().estate.hosts.edit("h-a").cordoned = true;
    map.follow(desk(), 0);
    const std::uint64_t before = map.number();
    map.follow(desk());
    EXPECT_EQ(map.number(), before + 1);
}

// Bytes, not time. And an answer looks at no row of the estate, however many hosts there are.
TEST_F(FleetTest, EightyThousandGpusAreLessThanAMebibyte) {
    constexpr int hosts = 10'000;
    Estate& estate = desk().estate;
    for (const char* id : {"h-a", "h-b", "h-c"}) estate.hosts.edit(id).phase = HostPhase::retired;
    for (int i = 0; i < hosts; ++i)
        estate.hosts.add({.id = fmt::format("h-{:06x}", i * 1'597 % 0xffffff),
                          .zone = i % 2 == 0 ? "nj" : "lon",
                          .phase = HostPhase::ready,
                          .facts = DeskRig::facts_of(fmt::format("gpu-node-{:05}", i), 8)});
    (void)fleet("?limit=1");
    const std::uint64_t before = estate.rows_visited();
    const api::Reply all = ask("");
    EXPECT_EQ(estate.rows_visited(), before);
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    EXPECT_LE(all.body.size(), mebibyte * 2 / 3);
    const api::Reply more = ask("?values=use,state,utilization,temperature,power,tenant");
    EXPECT_LE(more.body.size(), mebibyte);
    const auto decoded = api::decode_stored<api::Fleet>(all.body).value();
    EXPECT_EQ(decoded.hosts.size(), std::size_t{hosts});
    EXPECT_EQ(base64_decoded(decoded.columns.front().data).size(), std::size_t{hosts} * 8);
    estate.hosts.edit(decoded.hosts.at(77)).cordoned = true;
    const api::Reply changed = ask("?since=" + decoded.cursor);
    EXPECT_LE(changed.body.size(), std::size_t{1'000}) << changed.body;
    EXPECT_EQ(api::decode_stored<api::Fleet>(changed.body).value().hosts,
              std::vector<std::string>{decoded.hosts.at(77)});
}

}  // namespace
}  // namespace hostler::master
