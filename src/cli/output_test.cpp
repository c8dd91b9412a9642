// What commands print, in each format.
#include "api/operations_event.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_spec.h"
#include "api/operations_volume.h"
#include "api/operations_whoami.h"
#include "api/operations_zone.h"
#include "cli/fake_api_test.h"
#include "cli/render.h"
#include "cli/yaml.h"
#include "core/base64.h"

namespace hostler::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class OutputTest : public CliTest {
protected:
    OutputTest() {
        api.handlers.on<api::ops::list_zones>([this](api::Call call,
                                                     api::Empty) -> Task<api::List<api::Zone>> {
            limits.push_back(call.limit);
            queries.push_back(call.query_text);
            api::List<api::Zone> page;
            if (!call.after) {
                page.items.push_back({.name = "nj",
                                      .location = "New Jersey, \"US\"",
                                      .access_points = 1,
                                      .hosts = 2,
                                      .gpus = 16,
                                      .gpus_free = 9,
                                      .created_at = timers.wall() - 3min});
                if (two_pages)
                    page.next_cursor = cursor = api::to_string({.list = call.list, .created = 1, .id = "nj"});
                else
                    page.items.push_back(lon());
            } else {
                page.items.push_back(lon());
            }
            co_return page;
        });
        api.handlers.on<api::ops::get_host>([this](api::Call, api::NameHost request) -> Task<api::Host> {
            if (request.host != "h-1")
                co_return fail(Code::not_found, "there is no host '" + request.host + "'");
            co_return api::Host{.id = "h-1",
                                .name = "gpu-07",
                                .zone = "nj",
                                .state = api::HostState::ready,
                                .gpus = 8,
                                .gpu_models = {"H100 SXM5 80GB"},
                                .memory_bytes = std::int64_t{1536} << 30,
                                .joined_at = timers.wall() - 72h,
                                .seen_at = timers.wall() - 4s};
        });
    }
    api::Zone lon() { return {.name = "lon", .hosts = 1, .gpus = 8, .created_at = timers.wall() - 50h}; }

    std::vector<int> limits;
    std::vector<std::string> queries;
    bool two_pages = false;
    std::string cursor;  // Of the second page.
};

TEST_F(OutputTest, SummarizesTheScopesOfTheCaller) {
    api.handlers.on<api::ops::whoami>([](api::Call, api::Empty) -> Task<api::Whoami> {
        api::Whoami me{.actor = "user/u-1", .name = "ann"};
        me.scopes.push_back({.level = api::GrantScope::project,
                             .tenant_id = "acme",
                             .project = "lab",
                             .permissions = {"instance.read", "instance.write"}});
        co_return me;
    });
    EXPECT_EQ(run({"whoami"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("  project acme lab: 2 permissions\n"));
    EXPECT_THAT(out, Not(HasSubstr("instance.read")));
}

TEST_F(OutputTest, TableIsAlignedWithAges) {
    EXPECT_EQ(run({"zone", "list"}), 0) << err;
    EXPECT_EQ(out,
              "NAME  LOCATION          ACCESS POINTS  HOSTS  GPUS  GPUS FREE  AGE\n"
              "nj    New Jersey, \"US\"              1      2    16          9  3m\n"
              "lon   -                             0      1     8          0  2d\n");
    EXPECT_EQ(err, "");
}

TEST_F(OutputTest, FetchesAllPagesOrAsManyAsAsked) {
    two_pages = true;
    EXPECT_EQ(run({"zone", "ls", "-o", "name"}), 0) << err;
    EXPECT_EQ(out, "nj\nlon\n");
    EXPECT_THAT(limits, ElementsAre(1000, 1000));
    limits.clear();
    EXPECT_EQ(run({"zones", "list", "-o", "name", "--limit", "1"}), 0) << err;
    EXPECT_EQ(out, "nj\n");
    EXPECT_EQ(err, "there are more: --cursor " + cursor + "\n");
    EXPECT_THAT(limits, ElementsAre(1));
    EXPECT_EQ(run({"zone", "list", "-o", "name", "--cursor", cursor}), 0);
    EXPECT_EQ(out, "lon\n");
}

TEST_F(OutputTest, AListTakesAQuery) {
    two_pages = true;
    EXPECT_EQ(run({"zone", "list", "-o", "name", "--query", "gpus>=8 name=nj,lon"}), 0) << err;
    EXPECT_EQ(out, "nj\nlon\n");
    EXPECT_THAT(queries, ElementsAre("gpus>=8 name=nj,lon", "gpus>=8 name=nj,lon"));
    EXPECT_NE(run({"zone", "list", "--query", "gpu=8"}), 0);
    EXPECT_THAT(err,
                HasSubstr("at 1: there is no field 'gpu'; did you mean 'gpus'? There are name, location, "));
    EXPECT_EQ(run({"zone", "list", "--help"}), 0);
    EXPECT_THAT(out, HasSubstr("--query QUERY"));
    EXPECT_NE(run({"event", "list", "--query", "kind=host"}), 0) << "events are read from the store";
}

TEST_F(OutputTest, JsonIsTheItemsAndParses) {
    EXPECT_EQ(run({"-o", "json", "zone", "list"}), 0) << err;
    const auto items = json::parse(out);
    ASSERT_EQ(items.as_array().size(), 2U);
    EXPECT_EQ(items.at(0).at("gpusFree").as_int64(), 9);
}

TEST_F(OutputTest, YamlQuotesWhatWouldMeanSomethingElse) {
    EXPECT_EQ(run({"zone", "list", "-o", "yaml"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("- name: nj\n  location: \"New Jersey, \\\"US\\\"\"\n  accessPoints: 1\n"));
    EXPECT_EQ(
        to_yaml(json::parse(R"({"a":"no","b":"1.5","c":[],"d":{"e":[1,{"f":"x y"}]},"g":null,"h":"-x"})")),
        "a: \"no\"\nb: \"1.5\"\nc: []\nd:\n  e:\n    - 1\n    - f: \"x y\"\ng: null\nh: \"-x\"\n");
    EXPECT_EQ(to_yaml(json::array{}), "[]\n");
}

TEST_F(OutputTest, CsvQuotesAsSpreadsheetsWantIt) {
    EXPECT_EQ(run({"zone", "list", "-o", "csv"}), 0) << err;
    EXPECT_TRUE(
        out.starts_with("name,location,accessPoints,hosts,gpus,gpusFree,createdAt,coordinates\r\n"
                        "nj,\"New Jersey, \"\"US\"\"\",1,2,16,9,20"))
        << out;
}

TEST_F(OutputTest, ListsWhyAHostIsNotReady) {
    std::vector<api::Host> hosts{{.id = "h-1", .zone = "nj", .state = api::HostState::ready},
                                 {.id = "h-2", .zone = "nj", .state = api::HostState::ready}};
    api.handlers.on<api::ops::list_hosts>([&](api::Call, api::ListHosts) -> Task<api::List<api::Host>> {
        co_return api::List<api::Host>{hosts};
    });
    EXPECT_EQ(run({"host", "list"}), 0) << err;
    EXPECT_THAT(out, Not(HasSubstr("REASON"))) << "all are ready";
    hosts[1].state = api::HostState::faulty;
    hosts[1].reason = "engine_down";
    EXPECT_EQ(run({"host", "list"}), 0) << err;
    EXPECT_THAT(out, ContainsRegex("STATE +REASON"));
    EXPECT_THAT(out, ContainsRegex("faulty +engine_down"));
}

TEST_F(OutputTest, ShowsOneObjectWithUnitsAndTimes) {
    EXPECT_EQ(run({"host", "get", "h-1"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("state:           ready\n"));
    EXPECT_THAT(out, HasSubstr("memoryBytes:     1.5 TiB\n"));
    EXPECT_THAT(out, HasSubstr("gpuModels:       H100 SXM5 80GB\n"));
    EXPECT_THAT(out, HasSubstr("Z (4s ago)\n"));
    EXPECT_THAT(out, Not(HasSubstr("provider")));  // What is empty is left out.
}

TEST_F(OutputTest, WhatIsFreshIsNotInTheFuture) {
    std::chrono::microseconds ahead{};
    api.handlers.on<api::ops::get_zone>([&](api::Call, api::NameZone) -> Task<api::Zone> {
        co_return api::Zone{.name = "nj", .created_at = timers.wall() + ahead};
    });
    for (const std::chrono::milliseconds skew : {0ms, -200ms, 700ms, 4000ms}) {
        ahead = skew;
        EXPECT_EQ(run({"zone", "get", "nj"}), 0);
        EXPECT_THAT(out, HasSubstr("Z (just now)\n"));
    }
    ahead = 1min;
    EXPECT_EQ(run({"zone", "get", "nj"}), 0);
    EXPECT_THAT(out, HasSubstr("Z (in 60s)\n"));
}

TEST_F(OutputTest, EveryFormatOfAnAnswerWithoutFields) {
    api.handlers.on<api::ops::delete_zone>(
        [](api::Call, api::NameZone) -> Task<api::Empty> { co_return api::Empty{}; });
    const auto printed = [&](std::string format) {
        EXPECT_EQ(run({"zone", "delete", "nj", "-o", std::move(format)}), 0) << err;
        return out;
    };
    EXPECT_EQ(printed("table"), "");
    EXPECT_EQ(printed("json"), "{}\n");
    EXPECT_EQ(printed("yaml"), "{}\n");
    EXPECT_EQ(printed("csv"), "");
    EXPECT_EQ(printed("name"), "nj\n");
}

TEST_F(OutputTest, YamlReadsBackAsTheJson) {
    EXPECT_EQ(run({"host", "get", "h-1", "-o", "json"}), 0);
    const json::value as_json = json::parse(out);
    EXPECT_EQ(run({"host", "get", "h-1", "-o", "yaml"}), 0);
    const auto as_yaml = parse_yaml(out);
    ASSERT_TRUE(as_yaml) << as_yaml.error().message;
    EXPECT_EQ(as_yaml->front().value, as_json);
}

TEST_F(OutputTest, NumbersAreWrittenAsPeopleDo) {
    api.handlers.on<api::ops::get_gpu>([](api::Call, api::GetGpu) -> Task<api::Gpu> {
        co_return api::Gpu{.id = "GPU-1", .utilization_percent = 93.0, .power_watts = 412.5};
    });
    EXPECT_EQ(run({"gpu", "get", "GPU-1", "-o", "json"}), 0);
    EXPECT_THAT(out, HasSubstr("\"utilizationPercent\": 93,\n"));
    EXPECT_THAT(out, HasSubstr("\"powerWatts\": 412.5"));
    EXPECT_EQ(run({"gpu", "get", "GPU-1", "-o", "csv"}), 0);
    EXPECT_THAT(out, HasSubstr(",93,,412.5"));
}

TEST_F(OutputTest, ColoursOnlyOnATerminalThatWantsThem) {
    EXPECT_EQ(run({"host", "get", "h-1"}), 0);
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
    world.out_is_terminal = true;
    EXPECT_EQ(run({"host", "get", "h-1"}), 0);
    EXPECT_THAT(out, HasSubstr("\x1b[32mready\x1b[0m"));
    EXPECT_EQ(run({"host", "get", "h-1", "--no-color"}), 0);
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
    env["NO_COLOR"] = "1";
    EXPECT_EQ(run({"host", "get", "h-1"}), 0);
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
}

TEST_F(OutputTest, TextOfOthersCannotSteerTheTerminal) {
    api.handlers.on<api::ops::get_zone>([](api::Call, api::NameZone) -> Task<api::Zone> {
        co_return api::Zone{.name = "nj", .location = "a\x1b[2Jb\nc"};
    });
    EXPECT_EQ(run({"zone", "get", "nj"}), 0);
    EXPECT_THAT(out, HasSubstr("a\\x1b[2Jb c\n"));
}

// In every way in which data is printed.
TEST_F(OutputTest, NoOutputHasRawControlOrBidirectionalCharacters) {
    const std::string evil =
        "=cmd\x1b[2J\x07\u202Egnp\xc2\x9b"
        "2J\u200b";
    const api::Event event{.kind = "instance", .id = "i-1", .actor = evil, .reason = evil, .message = evil};
    api.handlers.on<api::ops::list_events>([&](api::Call, api::ListEvents) -> Task<api::List<api::Event>> {
        co_return api::List<api::Event>{.items = {event}};
    });
    api.handlers.on<api::ops::get_zone>([&](api::Call, api::NameZone) -> Task<api::Zone> {
        co_return api::Zone{.name = "nj", .location = evil};
    });
    api.handlers.on<api::ops::get_volume>([&](api::Call, api::NameVolume) -> Task<api::Volume> {
        Error error{Code::conflict, evil, "busy"};
        error.help = evil;
        error.fields = {{evil, evil}};
        co_return std::unexpected(error);
    });
    for (const char* format : {"table", "json", "yaml", "csv", "name"}) {
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"events"}, {"zone", "get", "nj"}, {"volume", "get", "v"}}) {
            std::vector<std::string> args = command;
            args.insert(args.end(), {"-o", format, "--no-color"});
            (void)run(args);
            const std::string all = out + err;
            EXPECT_FALSE(all.empty()) << format;
            for (const std::string bad : {"\x1b", "\x07", "\u202E", "\xc2\x9b", "\u200b"})
                EXPECT_THAT(all, Not(HasSubstr(bad))) << format << " " << command.front();
        }
    }
    EXPECT_EQ(run({"events", "-o", "csv"}), 0) << err;
    EXPECT_THAT(out, HasSubstr(",'=cmd\\x1b[2J\\x07\\u202egnp\\u009b2J\\u200b"));
    EXPECT_EQ(run({"zone", "get", "nj", "-o", "json"}), 0) << err;
    const auto zone = json::parse(out);
    EXPECT_EQ(zone.at("location").as_string(), evil) << "programs read what is there";
    EXPECT_EQ(run({"zone", "get", "nj", "-o", "yaml"}), 0) << err;
    EXPECT_EQ(parse_yaml(out)->front().value.at("location").as_string(), evil);
}

TEST_F(OutputTest, LogsOnATerminalKeepColoursAlone) {
    const std::string text = "\x1b[31mred\x1b[0m\r\n\x1b[2J\u202Ex\n";
    api.handlers.on<api::ops::get_instance_logs>(
        [&](api::Call, api::GetLogs) -> Task<api::Logs> { co_return api::Logs{.text = text}; });
    EXPECT_EQ(run({"logs", "nb"}), 0) << err;
    EXPECT_EQ(out, text) << "a file gets the bytes";
    world.out_is_terminal = true;
    EXPECT_EQ(run({"logs", "nb"}), 0) << err;
    EXPECT_EQ(out, "\x1b[31mred\x1b[0m\r\n\\x1b[2J\\u202ex\n");
}

TEST_F(OutputTest, ExplainsInWords) {
    api.handlers.on<api::ops::explain_instance>([](api::Call, api::GetInstance) -> Task<api::Explanation> {
        co_return api::Explanation{
            .token = "insufficient_capacity",
            .sentence = "No host has room.",
            .blocking = {{"h-1", "host is cordoned"}, {"h-22", "not enough free GPUs"}},
            .would_help = "uncordon h-1"};
    });
    EXPECT_EQ(run({"explain", "notebook-1"}), 0) << err;
    EXPECT_EQ(out,
              "No host has room. (insufficient_capacity)\n  h-1   host is cordoned\n"
              "  h-22  not enough free GPUs\nWould help: uncordon h-1\n");
}

TEST_F(OutputTest, PrintsLogsAsTheyAre) {
    api.handlers.on<api::ops::get_instance_logs>([](api::Call, api::GetLogs request) -> Task<api::Logs> {
        co_return api::Logs{.text = fmt::format("last {}\nline\n", request.tail)};
    });
    EXPECT_EQ(run({"logs", "notebook-1", "--tail", "2"}), 0) << err;
    EXPECT_EQ(out, "last 2\nline\n");
}

TEST_F(OutputTest, APipeIsGivenTheBytesOfLogsAndATerminalWhatIsHarmless) {
    const std::string bytes = "10%\r20%\r\xff \x1b[31mred\x1b[0m \x1b[2J";
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs) -> Task<api::Logs> {
        co_return api::Logs{.text = "10%", .base64 = base64(bytes), .truncated = true};
    });
    EXPECT_EQ(run({"logs", "nb"}), 0) << err;
    EXPECT_EQ(out, bytes);
    EXPECT_THAT(err, HasSubstr("its beginning is left out"));
    EXPECT_EQ(run({"logs", "nb", "-n", "1"}), 0) << err;
    EXPECT_EQ(err, "");
    world.out_is_terminal = true;
    EXPECT_EQ(run({"logs", "nb"}), 0) << err;
    EXPECT_EQ(out, "10%\r20%\r\\xff \x1b[31mred\x1b[0m \\x1b[2J");
}

TEST_F(OutputTest, FollowingGoesOnAfterAMissedAnswerWhereItWas) {
    std::vector<std::string> asked;
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs request) -> Task<api::Logs> {
        asked.push_back(request.after);
        if (asked.size() == 2) co_return fail(Code::timeout, "host h-1 does not answer");
        if (asked.size() == 3) co_return fail(Code::exhausted, "too many requests for logs at the same time");
        if (asked.size() == 1) co_return api::Logs{.text = "a\nZ\xc3\xbc", .next = "1.1"};
        co_return api::Logs{.text = asked.size() == 4 ? "b\n" : "", .next = "2.1", .ended = true};
    });
    start({"logs", "-f", "nb"});
    timers.advance(60s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(out,
              "a\nZ\xc3\xbc"
              "b\n");
    EXPECT_THAT(asked, ElementsAre("", "1.1", "1.1", "1.1", "2.1"));
    EXPECT_EQ(err, "host h-1 does not answer; asking again\ninstance/nb does not run\n");
}

TEST_F(OutputTest, FollowingGivesATerminalWholeCharactersAndAPipeTheBytes) {
    int asked = 0;
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs) -> Task<api::Logs> {
        const std::string bytes[] = {"Z\xc3", "\xbcri\x1b[3", "1mch\xff\r", ""};
        const auto& now = bytes[asked++];
        co_return api::Logs{.base64 = base64(now), .next = "1.1", .ended = true};
    });
    EXPECT_EQ(run({"logs", "-f", "nb"}), 0) << err;
    EXPECT_EQ(out, "Z\xc3\xbcri\x1b[31mch\xff\r");
    asked = 0;
    world.out_is_terminal = true;
    EXPECT_EQ(run({"logs", "-f", "nb"}), 0) << err;
    EXPECT_EQ(out, "Z\xc3\xbcri\x1b[31mch\\xff\r");
}

TEST_F(OutputTest, LogsAreFollowedUntilTheInstanceEnds) {
    std::vector<std::string> asked;
    std::vector<api::Logs> answers = {{.text = "a\n", .truncated = true, .next = "1.1"},
                                      {.text = "", .next = "1.1"},
                                      {.text = "b\n", .truncated = true, .next = "2.1"},
                                      {.text = "c\n", .next = "3.1", .ended = true},
                                      {.text = "", .next = "3.1", .ended = true}};
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs request) -> Task<api::Logs> {
        asked.push_back(fmt::format("{} {} {} {}", request.follow, request.tail, request.since.value_or(0),
                                    request.after));
        co_return answers[asked.size() - 1];
    });
    start({"logs", "-f", "-n", "5", "--since", "10m", "nb"});
    EXPECT_EQ(out, "a\n");
    EXPECT_FALSE(code);
    timers.advance(10s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(out, "a\nb\nc\n");
    EXPECT_THAT(asked, ElementsAre("true 5 600 ", "true 10000 0 1.1", "true 10000 0 1.1", "true 10000 0 2.1",
                                   "true 10000 0 3.1"));
    EXPECT_EQ(err, "some lines are missing: they are no longer kept\ninstance/nb does not run\n");
    answers = {api::Logs{.text = "a\n"}};
    asked.clear();
    EXPECT_EQ(run({"logs", "-f", "nb"}), 5);
    EXPECT_THAT(err, HasSubstr("older release"));
    EXPECT_EQ(run({"logs", "-f", "nb", "-o", "json"}), 2);
}

TEST_F(OutputTest, SaysWhenAListIsEmpty) {
    api.handlers.on<api::ops::list_specs>(
        [](api::Call, api::Empty) -> Task<api::List<api::Spec>> { co_return api::List<api::Spec>{}; });
    EXPECT_EQ(run({"spec", "list"}), 0);
    EXPECT_EQ(out, "");
    EXPECT_EQ(err, "no specs\n");
    EXPECT_EQ(run({"spec", "list", "-o", "json"}), 0);
    EXPECT_EQ(out, "[]\n");
}

TEST(Render, WritesAgesAndSizes) {
    const WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}};
    EXPECT_EQ(age(now - 5s, now), "5s");
    EXPECT_EQ(age(now - 119s, now), "119s");
    EXPECT_EQ(age(now - 59min, now), "59m");
    EXPECT_EQ(age(now - 30h, now), "30h");
    EXPECT_EQ(age(now + 24h * 29, now), "in 29d");
    EXPECT_EQ(age(now, now), "0s");
    EXPECT_EQ(age(now + 300ms, now), "0s");  // Clocks differ.
    EXPECT_EQ(age(now + 5s, now), "0s");
    EXPECT_EQ(age(now + 6s, now), "in 6s");
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(std::int64_t{80} << 30), "80 GiB");
    EXPECT_EQ(bytes_text((std::int64_t{3} << 40) / 2), "1.5 TiB");
}

TEST_F(OutputTest, LeavesOutTheLastColumnsWhereThereIsNoRoom) {
    world.out_is_terminal = true;
    world.columns = 40;
    EXPECT_EQ(run({"zone", "list", "--no-color"}), 0) << err;
    EXPECT_EQ(out,
              "NAME  LOCATION          ACCESS POINTS\n"
              "nj    New Jersey, \"US\"              1\n"
              "lon   -                             0\n");
    EXPECT_EQ(err, "no room here for: HOSTS, GPUS, GPUS FREE, AGE\n");
    world.columns = 3;
    EXPECT_EQ(run({"zone", "list", "--no-color", "-o", "table"}), 0) << err;
    EXPECT_EQ(out, "NAME\nnj\nlon\n");
}

TEST_F(OutputTest, SaysTheStateOnce) {
    std::string reason = "running";
    api.handlers.on<api::ops::list_instances>(
        [&](api::Call, api::ListInstances) -> Task<api::List<api::Instance>> {
            co_return api::List<api::Instance>{{{.instance_id = "a",
                                                 .state = api::InstanceState::running,
                                                 .phase = "running",
                                                 .reason = "running"},
                                                {.instance_id = "b",
                                                 .state = api::InstanceState::running,
                                                 .phase = "running",
                                                 .reason = reason}}};
        });
    EXPECT_EQ(run({"instance", "list"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("INSTANCE ID  STATE    AGE\n"));
    reason = "slow";
    EXPECT_EQ(run({"instance", "list"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("INSTANCE ID  STATE    REASON   AGE\n"));
}

TEST_F(OutputTest, FitsTheTerminal) {
    api.handlers.on<api::ops::list_events>([this](api::Call, api::ListEvents) -> Task<api::List<api::Event>> {
        co_return api::List<api::Event>{{{.number = 1,
                                          .time = timers.wall(),
                                          .kind = "host",
                                          .id = "h-1",
                                          .reason = "joined",
                                          .message = std::string(300, 'x')}}};
    });
    world.out_is_terminal = true;
    world.columns = 60;
    EXPECT_EQ(run({"events", "--no-color"}), 0) << err;
    for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1)
        EXPECT_LE(out.find('\n', at) - at, 62U);  // The ellipsis is three bytes.
    EXPECT_THAT(out, HasSubstr("…\n"));
    world.out_is_terminal = false;
    EXPECT_EQ(run({"events"}), 0);
    EXPECT_THAT(out, HasSubstr(std::string(300, 'x')));
}

}  // namespace
}  // namespace hostler::cli
