#include "adapters/docker/bodies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "adapters/docker/listing.h"

namespace hostler::docker {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

ContainerSpec spec() {
    return {.name = "c",
            .labels = {{"hostler.instance", "i"}},
            .image = "localhost/x",
            .command = {"/x", "a b"},
            .environment = {{"A", "1"}, {"B", "x=y"}},
            .cpu_milli = 250,
            .memory_bytes = 64 << 20,
            .pids_max = 10,
            .mounts = {{"/srv/v", "/data", true}},
            .network = "n-1",
            .address = "10.1.2.3",
            .hostname = "h"};
}

json::value body(const ContainerSpec& of, const CdiEdits& edits = {},
                 Traits traits = {Dialect::podman, "4.3.1", 1}, Confinement confinement = {},
                 std::string_view path = {}) {
    if (confinement.init.empty()) confinement.init = "/usr/bin/tini-static";
    const auto text = create_body(of, edits, traits, confinement, path);
    EXPECT_TRUE(text) << text.error().message;
    return text ? json::parse(*text) : json::value{};
}

const Traits of_docker{.dialect = Dialect::docker, .version = "20.10.24"};
const Traits of_podman{.dialect = Dialect::podman, .version = "4.3.1"};

TEST(Gone, IsWhatPodmanLosesWhileItLooks) {
    EXPECT_TRUE(is_gone(404, R"({"message":"No such container: x"})"));
    EXPECT_TRUE(is_gone(500,
                        R"({"cause":"no such container","message":"container x does not exist in database: )"
                        R"(no such container","response":500})"));
    EXPECT_FALSE(is_gone(500, R"({"message":"database is locked"})"));
    EXPECT_FALSE(is_gone(200, "no such container"));
}

TEST(CreateBody, SaysLimitsNetworkAndWallsToDocker) {
    const auto value = body(spec(), {}, of_docker, {.files_max = 1000, .processes_max = 500});
    const auto& host = value.at("HostConfig");
    EXPECT_EQ(host.at("NanoCpus").as_int64(), 250'000'000);
    EXPECT_EQ(host.at("Memory").as_int64(), 64 << 20);
    EXPECT_EQ(host.at("MemorySwap"), host.at("Memory"));
    EXPECT_EQ(host.at("PidsLimit").as_int64(), 10);
    EXPECT_EQ(host.at("NetworkMode").as_string(), "n-1");
    EXPECT_EQ(json::serialize(host.at("CapDrop")), R"(["ALL"])");
    EXPECT_THAT(json::serialize(host.at("CapAdd")), testing::Not(HasSubstr("NET_RAW")));
    EXPECT_EQ(host.at("SecurityOpt").at(0).as_string(), "no-new-privileges");
    EXPECT_TRUE(host.at("SecurityOpt").at(1).as_string().starts_with(R"(seccomp={"defaultAction":)"));
    EXPECT_EQ(host.at("CgroupnsMode").as_string(), "private");
    EXPECT_EQ(json::serialize(host.at("Binds")), R"(["/srv/v:/data:ro,rprivate"])");
    EXPECT_EQ(host.at("Ulimits").as_array().size(), 3U);
    EXPECT_EQ(host.at("Ulimits").as_array().back(), json::parse(R"({"Name":"memlock","Soft":-1,"Hard":-1})"));
    EXPECT_TRUE(host.at("Init").as_bool());
    EXPECT_FALSE(host.as_object().contains("ShmSize")) << "as the engine has it";
    EXPECT_FALSE(value.as_object().contains("Entrypoint"));
    EXPECT_EQ(value.at_pointer("/NetworkingConfig/EndpointsConfig/n-1/IPAMConfig/IPv4Address").as_string(),
              "10.1.2.3");
    EXPECT_EQ(json::serialize(value.at("Cmd")), R"(["/x","a b"])");
    EXPECT_EQ(json::serialize(value.at("Env")), R"(["A=1","B=x=y"])");
    EXPECT_EQ(create_path(spec(), Dialect::docker), "/containers/create?name=c");
}

TEST(CreateBody, SaysTheSameToPodmanInItsOwnWords) {
    auto mapped = spec();
    mapped.ids = {1'000'000, 2'000'000};
    const auto value = body(mapped, {}, of_podman,
                            {.files_max = 1000, .processes_max = 500, .seccomp_file = "/x/seccomp.json"});
    EXPECT_EQ(
        json::serialize(value.at("resource_limits")),
        R"({"cpu":{"quota":25000,"period":100000},"memory":{"limit":67108864,"swap":67108864},"pids":{"limit":10}})");
    EXPECT_EQ(json::serialize(value.at("cap_drop")), R"(["ALL"])");
    EXPECT_THAT(json::serialize(value.at("cap_add")), testing::Not(HasSubstr("NET_RAW")));
    EXPECT_TRUE(value.at("no_new_privileges").as_bool());
    EXPECT_EQ(value.at("seccomp_profile_path").as_string(), "/x/seccomp.json");
    EXPECT_EQ(value.at_pointer("/cgroupns/nsmode").as_string(), "private");
    EXPECT_EQ(value.at_pointer("/idmappings/UIDMap/0/host_id").as_int64(), 1'000'000);
    EXPECT_EQ(value.at_pointer("/idmappings/GIDMap/0/host_id").as_int64(), 2'000'000);
    EXPECT_EQ(value.at_pointer("/idmappings/GIDMap/0/size").as_int64(), 65'536);
    EXPECT_EQ(json::serialize(value.at_pointer("/mounts/0/options")),
              R"(["ro","nosuid","nodev","rbind","rprivate"])");
    EXPECT_EQ(value.at("r_limits").as_array().size(), 3U);
    EXPECT_EQ(value.at("r_limits").as_array().back(),
              json::parse(R"({"type":"memlock","soft":18446744073709551615,"hard":18446744073709551615})"));
    EXPECT_EQ(json::serialize(value.at_pointer("/Networks/n-1")),
              R"({"static_ips":["10.1.2.3"],"static_mac":"02:48:0a:01:02:03","aliases":["h"]})");
    EXPECT_EQ(json::serialize(value.at("command")), R"(["/x","a b"])");
    EXPECT_EQ(json::serialize(value.at("env")), R"({"A":"1","B":"x=y"})");
    EXPECT_EQ(value.at("name").as_string(), "c");
    EXPECT_FALSE(body(spec(), {}, of_podman).as_object().contains("idmappings"));
    EXPECT_EQ(create_path(spec(), Dialect::podman), "/libpod/containers/create");
}

TEST(CreateBody, SaysHowTheProgramIsRun) {
    auto wanted = spec();
    wanted.shm_bytes = 32 << 20;
    wanted.entrypoint = std::vector<std::string>{"/entry", "a b"};
    auto docker = body(wanted, {}, of_docker);
    EXPECT_EQ(docker.at_pointer("/HostConfig/ShmSize").as_int64(), 32 << 20);
    EXPECT_EQ(json::serialize(docker.at("Entrypoint")), R"(["/entry","a b"])");
    auto podman = body(wanted, {}, of_podman);
    EXPECT_EQ(podman.at("shm_size").as_int64(), 32 << 20);
    EXPECT_EQ(json::serialize(podman.at("entrypoint")), R"(["/entry","a b"])");
    EXPECT_TRUE(podman.at("init").as_bool());
    EXPECT_EQ(podman.at("init_path").as_string(), "/usr/bin/tini-static");
    wanted.entrypoint->clear();
    wanted.no_init = true;
    docker = body(wanted, {}, of_docker);
    EXPECT_EQ(json::serialize(docker.at("Entrypoint")), R"([""])") << "an empty list is the image's own";
    EXPECT_FALSE(docker.at_pointer("/HostConfig/Init").as_bool()) << "also where the daemon has it on";
    podman = body(wanted, {}, of_podman);
    EXPECT_EQ(json::serialize(podman.at("entrypoint")), R"([""])");
    EXPECT_FALSE(podman.as_object().contains("init"));
}

TEST(CreateBody, WithoutAnInitPodmanMakesOnlyWhatWantsNone) {
    auto wanted = spec();
    const auto refused = create_body(wanted, {}, of_podman, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Engine::init_missing);
    wanted.no_init = true;
    EXPECT_TRUE(create_body(wanted, {}, of_podman, {}));
    EXPECT_TRUE(
        says_no_init("container c cannot start: failed to create shim: exec: \"docker-init\": executable "
                     "file not found in $PATH: unknown"));
    EXPECT_FALSE(says_no_init("exec: \"serve\": executable file not found in $PATH"));
}

TEST(InitFault, IsTheImagesCommand) {
    const auto fault = [](std::string_view log) {
        const auto found = init_fault("x:1", log);
        return found ? found->reason + ": " + found->message : "none";
    };
    EXPECT_EQ(fault("[FATAL tini (7)] exec no-such failed: No such file or directory\n"),
              "image_command: image x:1: its command no-such is not in it");
    EXPECT_EQ(fault("[FATAL tini (2)] exec /etc/passwd failed: Permission denied\n"),
              "image_command: image x:1: its command /etc/passwd may not be executed");
    EXPECT_THAT(fault("[FATAL tini (2)] exec /x failed: Exec format error\n"),
                HasSubstr("image_command: image x:1: its command is no program for this machine"));
    EXPECT_EQ(fault("sh: no-such: not found\n"), "none");
    EXPECT_EQ(fault("[FATAL tini ("), "none");
}

// An engine takes a short name for the beginning of an id, too.
TEST(CreateBody, NamesAnImageInFull) {
    const std::string id(12, 'a');
    const ContainerSpec by_id{.name = "c", .image = id};
    EXPECT_EQ(body(by_id, {}, of_podman).at("image").as_string(), "docker.io/library/" + id + ":latest");
    EXPECT_EQ(body(by_id, {}, of_docker).at("Image").as_string(), "docker.io/library/" + id + ":latest");
}

// Who gets an address that another had must be found at once by those who remember the other.
TEST(CreateBody, AnAddressHasAlwaysTheSameMac) {
    const auto endpoint = [](std::string address) {
        return body({.name = "c", .image = "x", .network = "n", .address = std::move(address)}, {}, of_podman)
            .at_pointer("/Networks/n")
            .as_object();
    };
    EXPECT_EQ(endpoint("10.200.0.255").at("static_mac").as_string(), "02:48:0a:c8:00:ff");
    EXPECT_FALSE(endpoint("").contains("static_mac"));
}

TEST(CreateBody, AsksForNoMoreCpusThanTheEngineHas) {
    const auto asked = [](std::int64_t milli, std::int64_t cpus) {
        return body({.name = "c", .image = "x", .cpu_milli = milli}, {},
                    {.dialect = Dialect::docker, .version = "20.10", .cpus = cpus})
            .at_pointer("/HostConfig/NanoCpus")
            .as_int64();
    };
    EXPECT_EQ(asked(16'000, 2), 2'000'000'000);
    EXPECT_EQ(asked(2'001, 2), 2'000'000'000);
    EXPECT_EQ(asked(2'000, 2), 2'000'000'000);
    EXPECT_EQ(asked(1'500, 2), 1'500'000'000);
    EXPECT_EQ(asked(16'000, 0), 16'000'000'000) << "it does not say how many it has";
    const auto info = parse_traits(R"({"Version":"20.10.24"})", R"({"NCPU":12})");
    ASSERT_TRUE(info);
    EXPECT_EQ(info->cpus, 12);
    EXPECT_EQ(parse_traits(R"({"Version":"20.10.24"})", R"({"NCPU":-1})")->cpus, 0);
}

TEST(CreateBody, LeavesOutWhatIsNotAsked) {
    const auto value = body({.name = "c", .image = "x"}, {}, {Dialect::docker, "20.10", 2});
    const auto& host = value.at("HostConfig").as_object();
    for (const auto* name : {"NanoCpus", "Memory", "MemorySwap", "PidsLimit", "Ulimits"})
        EXPECT_FALSE(host.contains(name));
    EXPECT_EQ(host.at("NetworkMode").as_string(), "none");
    EXPECT_TRUE(host.at("Init").as_bool());
    EXPECT_EQ(host.at("LogConfig").at("Type").as_string(), "local");
    EXPECT_FALSE(value.as_object().contains("Cmd"));
    const auto other = body({.name = "c", .image = "x"}, {}, of_podman);
    for (const auto* name : {"resource_limits", "r_limits", "Networks", "command", "groups"})
        EXPECT_FALSE(other.as_object().contains(name));
    EXPECT_EQ(other.at_pointer("/netns/nsmode").as_string(), "none");
}

TEST(CreateBody, CdiEditsGoInAsMountsRulesAndEnvironment) {
    const CdiEdits edits{.environment = {{"A", "gpu"}},
                         .nodes = {{.path = "/dev/nvidia0",
                                    .host_path = "/dev/null",
                                    .permissions = "rw",
                                    .source = "/dev/hostler/c1-3",
                                    .major = 1,
                                    .minor = 3}},
                         .mounts = {{"/usr/lib/x.so", "/usr/lib/y.so", {"ro", "nosuid", "bind"}}},
                         .groups = {44},
                         .library_folders = {"/usr/lib"}};
    const auto podman = body(spec(), edits, of_podman, {}, "/opt/lib");
    EXPECT_EQ(json::serialize(podman.at("env")),
              R"({"A":"gpu","B":"x=y","LD_LIBRARY_PATH":"/opt/lib:/usr/lib"})");
    // The hook goes by it. It is set for others too, so that an image's own does not count.
    EXPECT_EQ(json::serialize(podman.at("annotations")),
              fmt::format(R"({{"hostler.devices":"{}"}})", spec().name));
    EXPECT_EQ(json::serialize(body(spec(), {}, of_podman).at("annotations")), R"({"hostler.devices":""})");
    EXPECT_EQ(json::serialize(podman.at("device_cgroup_rule")),
              R"([{"allow":true,"type":"c","major":1,"minor":3,"access":"rw"}])");
    EXPECT_EQ(json::serialize(podman.at_pointer("/mounts/1/options")),
              R"(["ro","nosuid","rbind","rprivate"])");
    EXPECT_EQ(podman.at_pointer("/mounts/2/source").as_string(), "/dev/hostler/c1-3");
    EXPECT_EQ(json::serialize(podman.at_pointer("/mounts/2/options")),
              R"(["rw","nosuid","noexec","dev","rbind","rprivate"])");
    EXPECT_EQ(json::serialize(podman.at("groups")), R"(["44"])");

    const auto docker = body(spec(), edits, of_docker, {}, "/opt/lib");
    EXPECT_EQ(json::serialize(docker.at("Env")), R"(["A=gpu","B=x=y","LD_LIBRARY_PATH=/opt/lib:/usr/lib"])");
    EXPECT_EQ(json::serialize(docker.at_pointer("/HostConfig/DeviceCgroupRules")), R"(["c 1:3 rw"])");
    EXPECT_EQ(docker.at_pointer("/HostConfig/Binds/2").as_string(),
              "/dev/hostler/c1-3:/dev/nvidia0:rw,rprivate");
    EXPECT_EQ(json::serialize(docker.at_pointer("/HostConfig/GroupAdd")), R"(["44"])");
}

// Docker tells its mapping by the name of its folder alone.
TEST(Traits, AMappingOfTheWholeEngineIsRead) {
    const auto ids = [](std::string folder) {
        return parse_traits(R"({"Version":"20.10.24"})",
                            R"({"SecurityOptions":["name=seccomp,profile=default","name=userns"],)"
                            R"("DockerRootDir":")" +
                                folder + "\"}")
            ->shared_ids;
    };
    EXPECT_EQ(ids("/var/lib/docker/100000.200000"), (IdRange{100'000, 200'000}));
    for (const auto* other : {"/var/lib/docker", "/var/lib/docker/1.", "/x/1.2x", "/x/99999999999.1", ""})
        EXPECT_FALSE(ids(other).mapped()) << other;
    EXPECT_FALSE(parse_traits(R"({"Version":"20.10.24"})", R"({"DockerRootDir":"/x/100000.100000"})")
                     ->shared_ids.mapped());
}

TEST(CreateBody, RefusesWhatCouldBeReadAsSomethingElse) {
    const auto refused = [](auto change) {
        auto changed = spec();
        change(changed);
        const auto text = create_body(changed, {}, {}, {});
        return !text && text.error().code == Code::invalid;
    };
    EXPECT_TRUE(refused([](auto& s) { s.mounts[0].target = "/data:rw,exec"; }));
    EXPECT_TRUE(refused([](auto& s) { s.mounts[0].source = "/a,b"; }));
    EXPECT_TRUE(refused([](auto& s) { s.mounts[0].source = "volume"; }));
    EXPECT_TRUE(refused([](auto& s) { s.mounts[0].target = "/"; }));
    EXPECT_TRUE(refused([](auto& s) { s.environment["A=B"] = "c"; }));
    EXPECT_TRUE(refused([](auto& s) { s.environment["A"] = std::string("\0", 1); }));
    EXPECT_TRUE(refused([](auto& s) { s.environment["A"] = std::string(2 << 20, 'x'); }));
    EXPECT_TRUE(refused([](auto& s) { s.image = ""; }));
    EXPECT_TRUE(refused([](auto& s) { s.memory_bytes = -1; }));
}

TEST(NetworkBody, NamesTheBridgeAndTheDialectsOwnIsolation) {
    const NetworkSpec network{"n-7f3k2m9qxy-abc", "10.201.3.0/24", "10.201.3.1"};
    const auto podman = json::parse(network_body(network, "h-1", Dialect::podman));
    EXPECT_EQ(podman.at_pointer("/Options/isolate").as_string(), "true");
    EXPECT_EQ(podman.at_pointer("/IPAM/Config/0/Gateway").as_string(), "10.201.3.1");
    EXPECT_EQ(podman.at_pointer("/Labels/hostler.owner").as_string(), "h-1");
    EXPECT_FALSE(json::parse(network_body(network, "h-1", Dialect::docker))
                     .at("Options")
                     .as_object()
                     .contains("isolate"));
    const auto bridge = bridge_name(network.id);
    EXPECT_EQ(bridge.size(), 15U);
    EXPECT_TRUE(bridge.starts_with("hst"));
    EXPECT_NE(bridge, bridge_name("n-7f3k2m9qxy-abd"));
}

TEST(Parse, TraitsOfBothEngines) {
    const auto podman =
        parse_traits(R"({"Version":"4.3.1","Components":[{"Name":"Podman Engine","Version":"4.3.1"}]})",
                     R"({"CgroupVersion":"1"})");
    ASSERT_TRUE(podman);
    EXPECT_EQ(podman->dialect, Dialect::podman);
    const auto docker = parse_traits(R"({"Version":"20.10.24","Components":[{"Name":"Engine"}]})",
                                     R"({"CgroupVersion":"2"})");
    ASSERT_TRUE(docker);
    EXPECT_EQ(docker->dialect, Dialect::docker);
    EXPECT_EQ(docker->cgroup_version, 2);
    EXPECT_EQ(parse_traits("<html>", "{}").error().code, Code::unavailable);
}

TEST(Parse, WhereAContainerWritesWhenTheEngineSaysIt) {
    const auto layer = [](std::string_view upper, std::string_view work) {
        return parse_inspect(
                   fmt::format(
                       R"({{"Id":"a","GraphDriver":{{"Name":"overlay","Data":{{"UpperDir":"{}","WorkDir":"{}"}}}}}})",
                       upper, work))
            ->layer;
    };
    EXPECT_EQ(layer("/g/overlay/1/diff", "/g/overlay/1/work"), "/g/overlay/1");
    EXPECT_EQ(layer("/g/overlay/1/diff", "/g/overlay/2/work"), "") << "no folder that is both's";
    EXPECT_EQ(layer("", ""), "");
    EXPECT_EQ(layer("/diff", "/work"), "") << "never the host's root";
    EXPECT_EQ(layer("diff", "work"), "");
    EXPECT_EQ(parse_inspect(R"({"Id":"a"})")->layer, "");
    EXPECT_EQ(parse_traits(R"({"Version":"20.10.24"})", R"({"Driver":"btrfs"})")->storage, "btrfs");
}

TEST(Parse, WhereTheLogLies) {
    const auto log = [](std::string_view config, std::string_view path) {
        return parse_inspect(
                   fmt::format(R"({{"Id":"a","HostConfig":{{"LogConfig":{{"Type":"{}"}}}},"LogPath":"{}",
            "State":{{"StartedAt":"2026-11-21T11:40:29.5Z"}}}})",
                               config, path),
                   "/var/lib/docker")
            ->log;
    };
    const WallTime started = *parse_rfc3339("2026-11-21T11:40:29.5Z");
    EXPECT_EQ(log("json-file", "/g/userdata/ctr.log"),
              (LogFile{LogFormat::k8s, "/g/userdata/ctr.log", started}));
    EXPECT_EQ(log("local", ""),
              (LogFile{LogFormat::local, "/var/lib/docker/containers/a/local-logs/container.log", started}));
    EXPECT_EQ(log("json-file", "/var/lib/docker/containers/a/a-json.log"), std::nullopt);
    EXPECT_EQ(log("journald", ""), std::nullopt);
    EXPECT_EQ(parse_traits(R"({"Version":"20.10.24"})", R"({"DockerRootDir":"/d"})")->root, "/d");
}

TEST(Parse, InspectAndList) {
    const auto seen = parse_inspect(R"({"Id":"abc","Name":"/c1","Config":{"Labels":{"a":"b"}},
        "State":{"Status":"exited","OOMKilled":true,"ExitCode":137,"Pid":0,"Error":"x"}})");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->container,
              (Container{"c1", {{"a", "b"}}, ContainerState::exited, 137, true, "x", "abc"}));
    EXPECT_TRUE(seen->addresses.empty());
    EXPECT_EQ(parse_inspect(R"({"Id":"abc","NetworkSettings":{"Networks":{"a":{"IPAddress":""},
        "b":{"IPAddress":"10.0.0.9"},"c":null}}})")
                  ->addresses,
              std::vector<std::string>{"10.0.0.9"});
    EXPECT_FALSE(parse_inspect("[]"));
    const auto list =
        parse_list(R"([{"Id":"abc","Names":["/c1"],"Labels":null,"State":"running"}, {"Names":[]}])");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 1U);
    EXPECT_EQ(list->at(0).container.state, ContainerState::running);
    EXPECT_FALSE(parse_list("{}"));
}

TEST(Parse, WhatLiesBelowAContainerAndBesideIt) {
    const auto seen = parse_inspect(R"({"Id":"abc","GraphDriver":{"Data":{"LowerDir":"/g/2:/g/1"}},
        "Mounts":[{"Type":"bind","Source":"/a","Destination":"/b"},
                  {"Type":"volume","Driver":"local","Source":"/v/x/_data","Destination":"/data"},
                  {"Type":"volume","Driver":"other","Source":"/w","Destination":"/c"}],
        "NetworkSettings":{"SandboxKey":"/run/netns/netns-1"}})");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->image_layers, (std::vector<std::string>{"/g/2", "/g/1"}));
    EXPECT_EQ(seen->volumes, (std::vector<ImageVolume>{{"/v/x/_data", "/data"}}));
    EXPECT_EQ(seen->network_namespace, "/run/netns/netns-1");
    EXPECT_TRUE(parse_inspect(R"({"Id":"abc"})")->image_layers.empty());
}

TEST(Parse, VolumesOfAnImage) {
    EXPECT_EQ(image_volumes(R"({"Config":{"Volumes":{"/a":{},"/b/c":{}}}})"),
              (std::vector<std::string>{"/a", "/b/c"}));
    for (const auto* none : {R"({"Config":{"Volumes":null}})", "{}", "x"})
        EXPECT_TRUE(image_volumes(none).empty()) << none;
}

TEST(Listing, AnErrorNamesAContainer) {
    const std::string id = "a893484f0815b791c2c72cc6b057f785428b0e2da707355e7f3738059931945e";
    EXPECT_EQ(container_named("joining network namespace of container " + id +
                              ": retrieving network namespace at "
                              "/run/netns/netns-8749d23e-a6de-abb3-344f-f60e00d1ad80: failed to Statfs"),
              id);
    EXPECT_EQ(container_named(id), id);
    EXPECT_EQ(container_named(id + "0"), "");
    EXPECT_EQ(container_named("the disk is bad"), "");
}

TEST(Listing, AProcessThatEndedMeanwhileIsNoFaultOfTheEngine) {
    const auto cause = [](std::string_view words) { return fmt::format(R"({{"message":"{}"}})", words); };
    EXPECT_TRUE(ended_meanwhile(500, cause("read /proc/28485/cgroup: no such process")));
    EXPECT_FALSE(ended_meanwhile(404, cause("read /proc/28485/cgroup: no such process")));
    EXPECT_FALSE(ended_meanwhile(500, cause("read /proc/28485/cgroup: permission denied")));
    EXPECT_FALSE(ended_meanwhile(500, cause("signal 9: no such process")));
}

TEST(Listing, AllIdsButSome) {
    const auto id = [](std::string_view begin) {
        return std::string{begin} + std::string(64 - begin.size(), '7');
    };
    const std::regex others{all_ids_but({id("abc"), id("abd"), id("0")}), std::regex::extended};
    for (const auto* bad : {"abc", "abd", "0"}) EXPECT_FALSE(std::regex_search(id(bad), others)) << bad;
    for (const auto* good : {"abe", "ab", "a", "1", "00", "b"})
        EXPECT_TRUE(std::regex_search(id(good), others)) << good;
}

TEST(Parse, NetworksInTheWordsOfBothApis) {
    for (
        const std::string body :
        {R"([{"Name":"n","Labels":{"hostler.network":"n-1"},"IPAM":{"Config":[{"Subnet":"10.1.0.0/24","Gateway":"10.1.0.1"}]}}])",
         R"([{"name":"n","labels":{"hostler.network":"n-1"},"subnets":[{"subnet":"10.1.0.0/24","gateway":"10.1.0.1"}]}])"}) {
        const auto seen = parse_networks(body).value();
        ASSERT_EQ(seen.size(), 1u) << body;
        EXPECT_EQ(seen[0].id, "n-1") << body;
        EXPECT_EQ(seen[0].subnet, "10.1.0.0/24") << body;
        EXPECT_EQ(seen[0].gateway, "10.1.0.1") << body;
    }
}

TEST(Parse, WhichEventsMayChangeTheList) {
    const auto event = [](const std::string& action) {
        return fmt::format(R"({{"Type":"container","Action":"{}","Actor":{{"ID":"1"}}}})", action);
    };
    // Podman writes "remove", dockerd "destroy".
    for (const std::string action : {"create", "start", "die", "oom", "kill", "stop", "destroy", "remove",
                                     "cleanup", "rename", "pause", "something-new"})
        EXPECT_TRUE(changes_a_container(event(action))) << action;
    for (const std::string action : {"exec_create: sh", "exec_die", "exec", "exec_died", "init", "attach",
                                     "health_status: healthy", "top", "resize"})
        EXPECT_FALSE(changes_a_container(event(action))) << action;
    for (const std::string odd : {"", "{", "[]", "{}", R"({"Action":7})"})
        EXPECT_TRUE(changes_a_container(odd)) << odd;
}

TEST(Parse, ImagesByEveryNameInFull) {
    const auto names =
        parse_images(R"([{"RepoTags":["nginx:1.27","quay.io/a/b:2"],"RepoDigests":["nginx@sha256:ab"]},)"
                     R"({"RepoTags":["<none>:<none>"],"RepoDigests":["<none>@<none>"]},{"RepoTags":null},{},)"
                     R"({"RepoTags":["docker.io/library/nginx:1.27"]}])");
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_EQ(*names, (std::vector<std::string>{"docker.io/library/nginx:1.27",
                                                "docker.io/library/nginx@sha256:ab", "quay.io/a/b:2"}));
    EXPECT_TRUE(parse_images("[]")->empty());
    EXPECT_FALSE(parse_images("{}"));
    EXPECT_FALSE(parse_images("no"));
}

TEST(Parse, ErrorsOfTheEngine) {
    EXPECT_EQ(engine_error(500, R"({"message":"write: no space left on device"})", "x").code,
              Code::exhausted);
    EXPECT_EQ(engine_error(500, R"({"message":"write: no space left on device"})", "x").reason, "disk_full");
    EXPECT_EQ(engine_error(404, R"({"message":"no such image"})", "x").message, "x: no such image");
    EXPECT_EQ(engine_error(500, "text", "x").code, Code::invalid);
    EXPECT_EQ(engine_error(503, "text", "x").code, Code::unavailable);
    EXPECT_TRUE(is_name_taken(409, "{}"));
    EXPECT_TRUE(is_name_taken(500, R"({"message":"the container name \"c1\" is already in use by 5d3"})"));
    EXPECT_FALSE(is_name_taken(500, R"({"message":"no space left on device"})"));
    EXPECT_TRUE(
        is_half_made("runc: runc create failed: container with given ID already exists: OCI runtime error"));
    EXPECT_FALSE(is_half_made("runc: runc create failed: no such file: OCI runtime error"));
    EXPECT_EQ(pull_error("{\"status\":\"Pulling\"}\r\n{\"error\":\"denied\",\"errorDetail\":{}}\n"),
              "denied");
    EXPECT_EQ(pull_error("{\"status\":\"done\"}\n"), std::nullopt);
    EXPECT_EQ(image_library_path(R"({"Config":{"Env":["A=b","LD_LIBRARY_PATH=/x:/y"]}})"), "/x:/y");
}

// Word by word what podman 4.3 and dockerd 20.10 say.
TEST(Parse, WhyAnImageCannotBeHad) {
    struct Case {
        Code code;
        const char* words;
    };
    const Case cases[] = {
        {Code::not_found,
         "initializing source docker://r:5/a:1: reading manifest 1 in r:5/a: manifest unknown"},
        {Code::not_found, "reading manifest 1 in r:5/a: name unknown: repository name not known to registry"},
        {Code::not_found, "manifest for x:1 not found: manifest unknown: manifest unknown"},
        {Code::forbidden, "initializing source docker://r/a:1: reading manifest 1 in r/a: unauthorized"},
        {Code::forbidden, "reading manifest latest in r/a: denied"},
        {Code::forbidden,
         "pull access denied for a, repository does not exist or may require 'docker login': denied: "
         "requested "
         "access to the resource is denied"},
        {Code::forbidden, "Head \"https://r/v2/a/manifests/1\": no basic auth credentials"},
        {Code::unavailable,
         "pinging container registry 127.0.0.1:9: Get \"https://127.0.0.1:9/v2/\": dial tcp 127.0.0.1:9: "
         "connect: connection refused"},
        {Code::unavailable,
         "Get \"https://r.invalid/v2/\": dial tcp: lookup r.invalid on 10.0.0.53:53: no such host"},
        {Code::unavailable, "Get \"https://r/v2/\": dial tcp 10.9.9.9:443: i/o timeout"},
        {Code::unavailable, "Get \"https://r/v2/\": net/http: TLS handshake timeout"},
        {Code::unavailable,
         "reading manifest 1 in r/a: received unexpected HTTP status: 500 Internal Server Error"},
        {Code::unavailable, "toomanyrequests: You have reached your pull rate limit."},
        {Code::exhausted, "writing blob: write /var/tmp/storage1: no space left on device"},
        {Code::invalid, "normalizing image: normalizing name for compat API: invalid reference format"},
    };
    std::map<Code, std::string> reasons;
    for (const auto& [code, words] : cases) {
        const Error error = pull_refused("r/a:1", words);
        EXPECT_EQ(error.code, code) << words;
        EXPECT_THAT(error.message, HasSubstr("r/a:1"));
        EXPECT_THAT(error.message, Not(HasSubstr(words))) << "they tell open ports from closed ones";
        reasons[code] = error.reason;
    }
    std::set<std::string> different;
    for (const auto& [code, reason] : reasons) different.insert(reason);
    EXPECT_EQ(different.size(), 5u);
    for (const char* words : {"Get \"https://r/v2/\": http: server gave HTTP response to HTTPS client",
                              "Get \"https://r/v2/\": tls: first record does not look like a TLS handshake",
                              "Get \"https://r/v2/\": x509: certificate signed by unknown authority"})
        EXPECT_EQ(pull_refused("r/a:1", words).reason, "registry_untrusted") << words;
}

TEST(Bodies, WhatIsWrongWithAnImageIsToldFromOtherFailures) {
    const auto reason = [](std::string_view words) {
        const auto fault = image_fault("r/a:1", words);
        return fault ? fault->reason : "";
    };
    EXPECT_EQ(reason("container uses ID mappings ([]specs...), but doesn't map UID 70000"), "image_user");
    EXPECT_EQ(reason("unable to find user nobody-here: no matching entries in passwd file"), "image_user");
    const std::string start = "runc create failed: unable to start container process: exec: \"foo\": ";
    EXPECT_EQ(reason(start + "executable file not found in $PATH"), "image_command");
    EXPECT_EQ(reason(start + "stat foo: no such file or directory: unknown"), "image_command");
    EXPECT_EQ(reason(start + "permission denied"), "image_command");
    EXPECT_EQ(reason("exec /demo: exec format error"), "image_command");
    EXPECT_EQ(reason("mounting /v: no such file or directory"), "") << "not of the image";
    EXPECT_EQ(reason("netavark: IPAM error: address already in use"), "");
}

}  // namespace
}  // namespace hostler::docker
