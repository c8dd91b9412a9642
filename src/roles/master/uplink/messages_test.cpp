// Every field that crosses the wire arrives where it belongs: the values below are all different.
#include "roles/master/uplink/messages.h"

#include <gtest/gtest.h>

#include "proto/uplink.pb.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

uplink::HostFacts facts() {
    uplink::HostFacts from;
    from.set_hostname("gpu-7");
    from.set_os("Debian");
    from.set_kernel("6.1");
    from.set_cpu_model("EPYC");
    from.set_cpus(64);
    from.set_memory_bytes(101);
    from.set_disk_bytes(102);
    from.set_disk_free_bytes(103);
    from.set_driver_version("570");
    from.set_cuda_version("12.8");
    from.set_simulated(true);
    from.set_engine("podman 4.3.1");
    from.set_serial("S41");
    from.set_system_uuid("4c4c4544");
    for (const char* address : {"192.0.2.7", "2001:db8::7"}) from.add_addresses(address);
    auto& gpu = *from.add_gpus();
    gpu.set_uuid("GPU-1");
    gpu.set_vendor("amd");
    gpu.set_model("MI300X");
    gpu.set_index(1);
    gpu.set_minor(2);
    gpu.set_pci_address("0000:07:00.0");
    gpu.set_memory_bytes(104);
    gpu.set_core_count(3);
    gpu.set_serial("s-1");
    gpu.set_vbios("v-1");
    gpu.set_architecture("gfx942");
    gpu.set_compute_capability("9.4");
    gpu.set_numa_node(4);
    gpu.set_pcie_generation(5);
    gpu.set_pcie_width(8);
    gpu.set_pcie_generation_max(6);
    gpu.set_pcie_width_max(16);
    gpu.set_driver("amdgpu");
    gpu.set_cdi_name("amd.com/gpu=1");
    gpu.set_mig("enabled");
    auto& slice = *gpu.add_slices();
    slice.set_uuid("MIG-1");
    slice.set_profile("2g.20gb");
    slice.set_gpu_instance(21);
    slice.set_compute_instance(22);
    slice.set_start(2);
    slice.set_size(23);
    slice.set_multiprocessors(24);
    slice.set_memory_bytes(25);
    auto& link = *from.add_links();
    link.set_a("GPU-1");
    link.set_b("GPU-2");
    link.set_kind("pxb");
    link.set_width(7);
    return from;
}

TEST(Messages, AHelloTellsTheHostAndWhatRuns) {
    uplink::AgentHello hello;
    hello.set_version("0.1.0");
    hello.set_boot_id("boot-1");
    *hello.mutable_facts() = facts();
    auto& running = *hello.add_workloads();
    running.set_instance("i-1");
    running.set_generation(11);
    running.set_state("running");
    running.set_ready(true);
    running.set_exit_code(12);
    running.set_oom_killed(true);
    running.set_detail("fine");
    running.set_tenant("acme");
    running.add_gpus("GPU-1");
    running.set_cpu_milli(13);
    running.set_memory_bytes(14);
    auto& absent = *hello.add_workloads();
    absent.set_instance("i-2");
    absent.set_state("absent");

    const HostReport report = report_of(hello);
    EXPECT_EQ(report.agent_version, "0.1.0");
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(report.engine, "podman 4.3.1");
    ASSERT_TRUE(report.facts);
    const HostFacts& host = *report.facts;
    EXPECT_EQ(std::tie(host.hostname, host.os, host.kernel, host.cpu_model, host.boot_id),
              std::tuple("gpu-7", "Debian", "6.1", "EPYC", "boot-1"));
    EXPECT_EQ(std::tie(host.cpus, host.memory_bytes, host.disk_bytes, host.disk_free_bytes),
              std::tuple(64, 101, 102, 103));
    EXPECT_EQ(std::tie(host.driver_version, host.cuda_version, host.simulated),
              std::tuple("570", "12.8", true));
    EXPECT_EQ(std::tie(host.serial, host.system_uuid), std::tuple("S41", "4c4c4544"));
    EXPECT_EQ(host.addresses, (std::vector<std::string>{"192.0.2.7", "2001:db8::7"}));
    ASSERT_EQ(host.gpus.size(), 1u);
    const GpuFacts& gpu = host.gpus[0];
    EXPECT_EQ(std::tie(gpu.uuid, gpu.vendor, gpu.model, gpu.index, gpu.minor, gpu.pci_address),
              std::tuple("GPU-1", GpuVendor::amd, "MI300X", 1, 2, "0000:07:00.0"));
    EXPECT_EQ(std::tie(gpu.memory_bytes, gpu.core_count, gpu.serial, gpu.vbios, gpu.architecture,
                       gpu.compute_capability),
              std::tuple(104, 3, "s-1", "v-1", "gfx942", "9.4"));
    EXPECT_EQ(std::tie(gpu.numa_node, gpu.pcie_generation, gpu.pcie_width, gpu.pcie_generation_max,
                       gpu.pcie_width_max, gpu.driver, gpu.cdi_name),
              std::tuple(4, 5, 8, 6, 16, "amdgpu", "amd.com/gpu=1"));
    EXPECT_EQ(gpu.mig, MigMode::enabled);
    EXPECT_EQ(gpu.slices, (std::vector<GpuSlice>{{"MIG-1", "2g.20gb", 21, 22, 2, 23, 24, 25}}));
    EXPECT_EQ(host.topology, (std::vector<GpuLink>{{"GPU-1", "GPU-2", GpuLinkKind::pxb, 7}}));
    EXPECT_TRUE(report.gpu_states.empty()) << "a GPU without a word about its health is healthy";

    ASSERT_EQ(report.workloads.size(), 1u) << "what is absent does not run";
    const SeenWorkload& seen = report.workloads.at("i-1");
    EXPECT_EQ(std::tie(seen.state, seen.generation, seen.ready, seen.exit_code, seen.oom_killed),
              std::tuple("running", 11u, true, 12, true));
    EXPECT_EQ(std::tie(seen.detail, seen.tenant, seen.cpu_milli, seen.memory_bytes),
              std::tuple("fine", "acme", 13, 14));
    EXPECT_EQ(seen.gpus, std::vector<std::string>{"GPU-1"});
}

TEST(Messages, WhatNoAgentOfOursWouldSayOfItsHostIsLeftOut) {
    const std::string endless(10'000, 'x');
    uplink::Report from;
    auto& host = *from.mutable_facts() = facts();
    host.set_hostname(endless);
    host.set_serial(endless);
    for (const std::string& address : {endless, std::string{"<b>"}, std::string{}})
        host.add_addresses(address);
    for (int i = 0; i < 40; ++i) host.add_addresses("192.0.2." + std::to_string(i));
    host.set_driver_version(endless);
    host.set_cpus(4'000'000'000);
    auto& evidence = *host.mutable_gpus(0)->add_evidence();
    evidence.set_kind(endless);
    evidence.set_message(endless);
    host.add_gpus()->set_uuid(endless);
    host.add_gpus()->set_model(endless);
    host.add_gpus()->set_pci_address(endless);
    host.add_gpus()->set_health_reason(endless);
    for (const char* gpu : {"GPU-1", "GPU-1", "GPU-2"}) {
        auto& use = *from.add_uses();
        use.set_gpu(gpu);
        use.set_instance("i-1");
    }
    from.mutable_host();
    HostReport report = report_of(from, {});
    ASSERT_TRUE(report.facts);
    EXPECT_EQ(report.facts->hostname + report.facts->driver_version + report.facts->serial, "");
    EXPECT_EQ(report.facts->addresses.size(), 16u);
    EXPECT_EQ(report.facts->addresses.at(2), "192.0.2.0") << "and no text for people";
    EXPECT_GT(report.facts->cpus, 0);
    ASSERT_EQ(report.facts->gpus.size(), 1u);
    EXPECT_EQ(report.gpu_states.at("GPU-1").evidence.at(0).sentence, "");
    ASSERT_TRUE(report.telemetry);
    EXPECT_EQ(report.telemetry->uses.size(), 2u);
    for (int i = 0; i < 1000; ++i) host.add_gpus()->set_uuid("GPU-x" + std::to_string(i));
    report = report_of(from, {});
    EXPECT_EQ(report.facts->gpus.size(), 256u);
}

TEST(Messages, WhatNoAgentOfOursWouldSayOfWorkloadsIsLeftOut) {
    uplink::Report from;
    from.set_workloads_complete(true);
    const auto add = [&](std::string id) -> uplink::Workload& {
        auto& workload = *from.add_workloads();
        workload.set_state("running");
        workload.set_instance(std::move(id));
        return workload;
    };
    add("");
    add(std::string("i\0-1", 4));
    add("i-2\x7f");
    add(std::string(129, 'i'));
    add("i-3").set_tenant("ac\nme");
    add("i-4").set_network(std::string("sn\0", 3));
    add("i-5").add_mounts()->set_volume(std::string(129, 'v'));
    add(std::string(128, 'i')).set_generation(UINT64_MAX);
    auto report = report_of(from);
    ASSERT_EQ(report.workloads.size(), 1u);
    EXPECT_GT(report.workloads.begin()->second.generation + 1, 0u) << "it can be stopped";
    EXPECT_TRUE(report.complete);
    for (int i = 0; i < 2000; ++i) add(fmt::format("i-{}", i));
    report = report_of(from);
    EXPECT_EQ(report.workloads.size(), 1024u);
    EXPECT_FALSE(report.complete) << "there are more";
    EXPECT_EQ(report.workloads_cut, 2001u - 1024u);
    uplink::AgentHello hello;
    *hello.mutable_workloads() = from.workloads();
    EXPECT_FALSE(report_of(hello).complete);
}

TEST(Messages, AHostWhoseEngineIsDownSaysNothingAboutWhatRuns) {
    uplink::AgentHello hello;
    hello.mutable_facts()->set_engine_error("no socket");
    EXPECT_FALSE(report_of(hello).complete);
    EXPECT_EQ(report_of(hello).engine_error, "no socket");
}

TEST(Messages, AReportTellsHealthAndSamples) {
    uplink::Report from;
    from.set_sequence(9);
    *from.mutable_facts() = facts();
    for (const auto& [uuid, health] : std::map<std::string, std::string>{
             {"GPU-2", "degraded"}, {"GPU-3", "healthy"}, {"GPU-4", "a word of a newer release"}}) {
        auto& gpu = *from.mutable_facts()->add_gpus();
        gpu.set_uuid(uuid);
        gpu.set_health(health);
        gpu.set_health_reason("because");
        gpu.set_vendor("unheard-of");
    }
    auto& sample = *from.add_gpus();
    sample.set_uuid("GPU-1");
    sample.add_values(37);
    const HostReport report = report_of(from);
    EXPECT_EQ(report.sequence, 9u);
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(report.gpu_states, (std::map<std::string, GpuState>{{"GPU-2", {GpuHealth::degraded, "because"}},
                                                                  {"GPU-4", {GpuHealth::faulty, "because"}}}))
        << "a health that nobody understands is not taken for a good one";
    EXPECT_EQ(report.facts->gpus.back().vendor, GpuVendor::other);
    EXPECT_EQ(report.telemetry->gpus.at("GPU-1").uuid, "GPU-1");
    EXPECT_EQ(report.telemetry->gpus.at("GPU-1").utilisation_percent, 37);
    EXPECT_TRUE(report.agent_version.empty());
    from.set_workloads_complete(true);
    EXPECT_TRUE(report_of(from).complete);
    from.clear_facts();
    EXPECT_FALSE(report_of(from).facts);
}

TEST(Messages, AReportTellsHowFullDisksAreAndNoMoreThanThereIs) {
    uplink::Report from;
    EXPECT_FALSE(report_of(from).disks) << "an older agent does not say";
    const auto add = [&](const std::string& volume, const std::string& instance, std::uint64_t used,
                         std::uint64_t total) {
        auto& one = *from.mutable_disks()->add_of();
        one.set_volume(volume), one.set_instance(instance);
        one.set_used_bytes(used), one.set_total_bytes(total);
        one.set_used_inodes(used), one.set_total_inodes(total);
    };
    add("v-1", "", 10, 100);
    add("", "i-1", 300, 200);
    add("v-0", "", 1, 0);
    add("v\n2", "", 1, 2);
    add("", "", 1, 2);
    add("v-3", "", ~std::uint64_t{0}, ~std::uint64_t{0});
    const auto told = report_of(from).disks;
    ASSERT_TRUE(told);
    ASSERT_EQ(told->volumes.size(), 2U);
    EXPECT_EQ(told->volumes.at("v-1"), (DiskUse{10, 100, 10, 100}));
    EXPECT_EQ(told->volumes.at("v-3").used_bytes, std::int64_t{1} << 62);
    ASSERT_EQ(told->layers.size(), 1U);
    EXPECT_EQ(told->layers.at("i-1"), (DiskUse{200, 200, 200, 200}));
    for (int i = 0; i < 5000; ++i) add(fmt::format("v-x{}", i), "", 1, 2);
    EXPECT_EQ(report_of(from).disks->volumes.size() + 1, disks_host_max);
}

TEST(Messages, AnAnswerTellsHowItEnded) {
    uplink::CommandUpdate update;
    update.set_state("failed");
    update.set_code("unavailable");
    update.set_reason("image_unavailable");
    update.set_message("no such image");
    CommandAnswer answer = answer_of(update);
    EXPECT_EQ(std::tie(answer.done, answer.code, answer.reason, answer.message),
              std::tuple(false, "unavailable", "image_unavailable", "no such image"));
    EXPECT_FALSE(answer.absent || answer.exited);
    auto& workload = *update.mutable_workload();
    workload.set_state("exited");
    answer = answer_of(update);
    EXPECT_TRUE(answer.exited) << "also with 0";
    EXPECT_FALSE(answer.absent);
    workload.set_state("absent");
    workload.set_exit_code(137);
    answer = answer_of(update);
    EXPECT_TRUE(answer.absent && answer.exited);
    EXPECT_EQ(answer.exit_code, 137);
    update.set_state("done");
    EXPECT_TRUE(answer_of(update).done);
}

struct WrittenCommands : ::testing::Test, testing::DeskRig {
    uplink::Command written(const HostCommand& command) {
        uplink::Command into;
        EXPECT_TRUE(write_command(desk, 5, command, into));
        return into;
    }
};

TEST_F(WrittenCommands, AStartCarriesAllOfTheInstance) {
    const std::string on = host("a");
    ASSERT_TRUE(stock(1));
    const std::string volume_id = volume("data");
    const std::string id = started("one");
    Instance& instance = estate.instances.edit(id);
    instance.spec.command = {"serve", "--all"};
    instance.spec.environment = {{"MODE", "fast"}};
    instance.spec.ports = {
        {.port = 8080, .protocol = "TCP", .is_public = true, .is_probe = true, .base_url = "/ok"},
        {.port = 22, .protocol = "TCP", .base_url = "/no-probe"}};
    instance.spec.volumes = {{volume_id, "/data", true}};
    const HostCommand& command = *command_of(id);
    const uplink::Command into = written(command);
    EXPECT_EQ(into.id(), command.id);
    EXPECT_EQ(into.epoch(), 5u);
    EXPECT_EQ(into.subject(), id);
    EXPECT_EQ(into.generation(), command.subject_generation);
    EXPECT_EQ(into.expires(), command.expires_at);
    const uplink::StartWorkload& start = into.start_workload();
    EXPECT_EQ(start.instance(), id);
    EXPECT_EQ(start.tenant(), "acme");
    EXPECT_EQ(start.name(), "one");
    EXPECT_EQ(start.image(), "demo:1");
    EXPECT_EQ((std::vector<std::string>{start.command().begin(), start.command().end()}),
              (std::vector<std::string>{"serve", "--all"}));
    ASSERT_EQ(start.environment_size(), 1);
    EXPECT_EQ(start.environment(0).name() + "=" + start.environment(0).value(), "MODE=fast");
    const Claim& claim = estate.claims.at(instance.claim);
    EXPECT_EQ(start.cpu_milli(), 4000);
    EXPECT_EQ(start.memory_bytes(), std::int64_t{16} << 30);
    EXPECT_EQ(start.pids_max(), settings.pids_max);
    EXPECT_EQ(start.disk_bytes(), std::int64_t{10} << 30);
    EXPECT_FALSE(start.disk_limit_required());
    EXPECT_EQ((std::vector<std::string>{start.gpus().begin(), start.gpus().end()}), claim.gpus);
    EXPECT_EQ(claim.gpus.size(), 1u);
    const Subnet& subnet = estate.subnets.at(instance.subnet);
    EXPECT_EQ(start.network().network(), subnet.id);
    EXPECT_EQ(start.network().subnet(), pool.subnet(subnet.index));
    EXPECT_EQ(start.network().gateway(), pool.address(subnet.index, 1));
    EXPECT_EQ(start.address(), instance.address);
    ASSERT_EQ(start.ports_size(), 2);
    EXPECT_EQ(start.ports(0).port(), 8080u);
    EXPECT_EQ(start.ports(0).protocol(), "TCP");
    EXPECT_TRUE(start.ports(0).probe());
    EXPECT_EQ(start.ports(0).probe_path(), "/ok");
    EXPECT_FALSE(start.ports(1).probe());
    EXPECT_EQ(start.ports(1).probe_path(), "") << "only a probe asks for a path";
    ASSERT_EQ(start.mounts_size(), 1);
    EXPECT_EQ(start.mounts(0).volume() + start.mounts(0).path(), volume_id + "/data");
    EXPECT_TRUE(start.mounts(0).read_only());
    EXPECT_EQ(start.stop_grace_ms(), 30'000);
    EXPECT_EQ(start.shm_bytes(), std::int64_t{8} << 30) << "half of its memory";
    EXPECT_FALSE(start.replaces_entrypoint() || start.no_init());
    EXPECT_EQ(start.ready_deadline_ms(), 300'000);
}

TEST_F(WrittenCommands, TheProgramIsRunAsItsOwnerWants) {
    host("a");
    ASSERT_TRUE(stock(1));
    const std::string id = started("one");
    InstanceSpec& spec = estate.instances.edit(id).spec;
    spec.replaces_entrypoint = true;
    spec.entrypoint = {"tini", "--"};
    spec.no_init = true;
    spec.shm_bytes = 1 << 30;
    spec.stop_grace_s = 120;
    uplink::StartWorkload start = written(*command_of(id)).start_workload();
    EXPECT_TRUE(start.replaces_entrypoint() && start.no_init());
    ASSERT_EQ(start.entrypoint_size(), 2);
    EXPECT_EQ(start.entrypoint(0) + " " + start.entrypoint(1), "tini --");
    EXPECT_EQ(start.shm_bytes(), 1 << 30);
    EXPECT_EQ(start.stop_grace_ms(), 120'000);
    HostCommand stop{.id = "cmd-1", .host = "h-a", .verb = Verb::stop_workload, .subject = id};
    EXPECT_EQ(written(stop).stop_workload().grace_ms(), 120'000);
    stop.verb = Verb::stop_unused;
    estate.instances.edit(id).schedule.inactivity_s = 60;
    EXPECT_EQ(written(stop).stop_workload().grace_ms(), 120'000);
    settings.stop_grace_max = std::chrono::seconds{60};
    EXPECT_EQ(written(stop).stop_workload().grace_ms(), 60'000) << "the operator's limit became lower";
}

TEST_F(WrittenCommands, WhatHasGoneIsNotCommanded) {
    const std::string on = host("a");
    ASSERT_TRUE(stock(1));
    const std::string id = started("one");
    HostCommand command = *command_of(id);
    uplink::Command into;
    ++estate.instances.edit(id).meta.generation;
    EXPECT_FALSE(write_command(desk, 1, command, into)) << "a start of an older generation";
    command.subject = "i-gone";
    EXPECT_FALSE(write_command(desk, 1, command, into));
    command.verb = Verb::create_volume;
    EXPECT_FALSE(write_command(desk, 1, command, into));
}

TEST_F(WrittenCommands, TheOthersNameTheirSubject) {
    const std::string volume_id = volume("data");
    HostCommand command{.id = "cmd-1", .host = "h-a", .subject = volume_id};
    command.verb = Verb::create_volume;
    EXPECT_EQ(written(command).create_volume().volume(), volume_id);
    EXPECT_EQ(written(command).create_volume().size_bytes(), 1u << 30);
    command.verb = Verb::delete_volume;
    EXPECT_EQ(written(command).delete_volume().volume(), volume_id);
    command.verb = Verb::remove_network;
    EXPECT_EQ(written(command).remove_network().network(), volume_id);
    command.verb = Verb::stop_workload;
    EXPECT_EQ(written(command).stop_workload().instance(), volume_id);
    EXPECT_EQ(written(command).stop_workload().grace_ms(), 30'000);
}

TEST_F(WrittenCommands, ARouteForEachPort) {
    const std::string on = host("a");
    ASSERT_TRUE(stock(1));
    const std::string id = running("one");
    Instance& instance = estate.instances.edit(id);
    instance.spec.ports = {{.port = 8080, .is_public = true}, {.port = 9090, .own_port = 20001}};
    instance.run_generation = 3;
    instance.message = "all is well";
    estate.access_points.add({.name = "access-nj", .zone = "nj", .control_address = "10.0.0.1:7482"});
    uplink::Routes routes;
    write_routes(desk, instance, routes);
    ASSERT_EQ(routes.routes_size(), 2);
    const uplink::Route& first = routes.routes(0);
    EXPECT_EQ(first.name(), "8080-" + id);
    EXPECT_EQ(first.tenant(), "acme");
    EXPECT_EQ(first.instance(), id);
    EXPECT_EQ(first.shown_as(), "one");
    EXPECT_EQ(first.generation(), 3u);
    EXPECT_EQ(first.port(), 8080u);
    EXPECT_TRUE(first.open_to_all());
    EXPECT_EQ(first.state(), "running");
    EXPECT_EQ(first.detail(), "all is well");
    EXPECT_EQ(first.host(), on);
    ASSERT_EQ(first.access_size(), 1);
    EXPECT_EQ(first.access(0), "10.0.0.1:7482");
    EXPECT_EQ(routes.routes(1).own_port(), 20001u);
    EXPECT_FALSE(routes.routes(1).open_to_all());
    estate.policies.add({.id = Policy::id_of("acme"), .tenant = "acme", .public_ports = false});
    uplink::Routes closed;
    write_routes(desk, instance, closed);
    EXPECT_FALSE(closed.routes(0).open_to_all()) << "a policy forbids it";
    estate.policies.erase(Policy::id_of("acme"));
    estate.tenants.edit("acme").disabled_at = 1;
    uplink::Routes disabled;
    write_routes(desk, instance, disabled);
    EXPECT_FALSE(disabled.routes(0).open_to_all()) << "its tenant is disabled";
    live.hosts[on].access = "elsewhere";
    live.hosts[on].ways = {{"elsewhere", 1}};
    uplink::Routes again;
    write_routes(desk, instance, again);
    EXPECT_EQ(again.routes(0).access_size(), 0) << "an access point that nobody knows is none";
}

}  // namespace
}  // namespace hostler::master
