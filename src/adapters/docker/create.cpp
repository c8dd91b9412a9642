// How a container is asked for. Both engines get the same walls, each in its own words.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/json.hpp>
#include <limits>

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "adapters/docker/device_rules.h"
#include "adapters/docker/own_streams.h"
#include "adapters/docker/seccomp.h"
#include "domain/image/image.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

// Linux gives a process 2 MiB for it and the arguments.
constexpr std::size_t environment_bytes_max = 1 << 20;

// What package managers, sshd, and servers that drop to a user of their own do inside. Not among them, of
// what engines give: raw sockets, device nodes, the audit log.
constexpr const char* capabilities[] = {"CHOWN",   "DAC_OVERRIDE",     "FOWNER",    "FSETID",
                                        "KILL",    "NET_BIND_SERVICE", "SETFCAP",   "SETGID",
                                        "SETPCAP", "SETUID",           "SYS_CHROOT"};
// Low ports and ping need no capability in a private network namespace.
json::object sysctls() {
    return {{"net.ipv4.ip_unprivileged_port_start", "0"},
            {"net.ipv4.ping_group_range", fmt::format("0 {}", IdRange::size - 1)}};
}

struct Mount {
    std::string source;
    std::string target;
    std::vector<std::string> options;
};

bool is_clean_path(std::string_view path) {
    // ':' and ',' separate the fields of a bind, and there is no way to escape them.
    return path.starts_with('/') &&
           path.find_first_of(std::string_view{":,\0\n", 4}) == std::string_view::npos;
}

bool is_environment_name(std::string_view name) {
    return !name.empty() && name.find_first_of(std::string_view{"=\0", 2}) == std::string_view::npos;
}

// Options are what they are for mount(8); what is not said is as the engine has it.
Result<std::vector<Mount>> mounts(const ContainerSpec& spec, const CdiEdits& edits) {
    std::vector<Mount> all;
    for (const auto& mount : spec.mounts)
        all.push_back({mount.source, mount.target, {mount.read_only ? "ro" : "rw", "nosuid", "nodev"}});
    for (const auto& mount : edits.mounts) {
        Mount made{mount.host_path, mount.path, {"ro"}};
        if (std::ranges::find(mount.options, "rw") != mount.options.end()) made.options = {"rw"};
        for (const auto* option : {"nosuid", "nodev", "noexec"})
            if (std::ranges::find(mount.options, option) != mount.options.end())
                made.options.emplace_back(option);
        all.push_back(std::move(made));
    }
    for (const auto& mount : all) {
        if (!is_clean_path(mount.source))
            return fail(Code::invalid,
                        fmt::format("mount source '{}' is not a path that can be mounted", mount.source));
        if (!is_clean_path(mount.target) || mount.target == "/")
            return fail(Code::invalid,
                        fmt::format("mount target '{}' is not a path that can be mounted", mount.target));
    }
    // Nodes are mounted and not made: in a user namespace an engine cannot make them under another name.
    for (const auto& node : edits.nodes) {
        if (!is_clean_path(node.source) || !is_clean_path(node.path))
            return fail(Code::invalid, fmt::format("device '{}' has no path that can be mounted", node.path));
        all.push_back({node.source, node.path, {"rw", "nosuid", "noexec", "dev"}});
    }
    return all;
}

std::string library_path(const CdiEdits& edits, std::string_view first) {
    std::string path{first};
    for (const auto& folder : edits.library_folders) path += (path.empty() ? "" : ":") + folder;
    return path;
}

Result<std::map<std::string, std::string>> environment(const ContainerSpec& spec, const CdiEdits& edits,
                                                       std::string_view image_path) {
    auto all = spec.environment;
    if (!edits.library_folders.empty()) {
        const auto own = all.find("LD_LIBRARY_PATH");
        all["LD_LIBRARY_PATH"] =
            library_path(edits, own != all.end() ? own->second : std::string(image_path));
    }
    for (const auto& [name, value] : edits.environment) all[name] = value;  // The device's word counts.
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) {
        if (!is_environment_name(name) || value.find('\0') != std::string::npos)
            return fail(
                Code::invalid,
                fmt::format("environment variable '{}' has a name or value that cannot be set", name));
        bytes += name.size() + value.size() + 2;
    }
    if (bytes > environment_bytes_max) return fail(Code::invalid, "the environment is larger than 1 MiB");
    return all;
}

// Podman takes one by chance. The host and the other containers remember for up to a minute which one an
// address had, so that whoever got the address of a container that ended could not be reached. Docker does
// this itself.
std::string mac_of(const std::string& address) {
    boost::system::error_code wrong;
    const auto parsed = asio::ip::make_address_v4(address, wrong);
    if (wrong) return {};
    const auto bytes = parsed.to_bytes();
    return fmt::format("02:48:{:02x}:{:02x}:{:02x}:{:02x}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

// Docker refuses more than its machine has, which is no limit anyway.
std::int64_t milli_cpus(std::int64_t cpu_milli, std::int64_t machine_cpus) {
    constexpr std::int64_t milli = 1000;
    const auto most = machine_cpus > 0 ? machine_cpus : std::numeric_limits<int>::max();
    return std::min(cpu_milli, most * milli);
}

json::array capability_list() { return json::array(std::begin(capabilities), std::end(capabilities)); }

json::object labels_of(const ContainerSpec& spec) {
    json::object labels;
    for (const auto& [name, value] : spec.labels) labels[name] = value;
    return labels;
}

json::array words(const std::vector<std::string>& list) { return json::array(list.begin(), list.end()); }

// To both engines a list of one empty word is none, and an empty list the image's own.
json::array entry_words(const std::vector<std::string>& entrypoint) {
    return entrypoint.empty() ? json::array{""} : words(entrypoint);
}

// One set of limits: all or none, since one engine forgets its own defaults when any is given.
bool has_limits(const Confinement& confinement) {
    return confinement.files_max != 0 && confinement.processes_max != 0;
}

// ── Docker

json::object docker_host(const ContainerSpec& spec, const CdiEdits& edits, const std::vector<Mount>& mounted,
                         const Traits& traits, const Confinement& confinement) {
    json::array binds, rules, limits, groups;
    for (const auto& mount : mounted)  // Of their options it knows no more; it keeps those of the source.
        binds.emplace_back(fmt::format("{}:{}:{},rprivate", mount.source, mount.target, mount.options[0]));
    for (const auto& node : edits.nodes)
        rules.emplace_back(fmt::format("{} {}:{} {}", node.kind, node.major, node.minor, node.permissions));
    for (const auto group : edits.groups) groups.emplace_back(std::to_string(group));
    json::object host{{"NetworkMode", spec.network.empty() ? "none" : spec.network},
                      {"CapDrop", json::array{"ALL"}},
                      {"CapAdd", capability_list()},
                      {"SecurityOpt", json::array{"no-new-privileges", "seccomp=" + seccomp_profile()}},
                      {"CgroupnsMode", "private"},
                      {"IpcMode", "private"},
                      {"Sysctls", sysctls()},
                      {"RestartPolicy", {{"Name", "no"}}},
                      {"LogConfig",
                       {{"Type", "local"},  // The other ones change bytes that are not UTF-8.
                        {"Config",
                         {{"max-size", std::to_string(confinement.log_bytes_max)},
                          {"max-file", "2"},
                          {"compress", "false"}}}}},
                      {"Binds", std::move(binds)},
                      {"DeviceCgroupRules", std::move(rules)}};
    const auto limit = [&](const char* name, std::int64_t value) {
        limits.push_back({{"Name", name}, {"Soft", value}, {"Hard", value}});
    };
    if (has_limits(confinement)) {
        limit("nofile", confinement.files_max);
        limit("nproc", confinement.processes_max);
        limit("memlock", confinement.locked_max);
        host["Ulimits"] = std::move(limits);
    }
    if (spec.cpu_milli > 0) host["NanoCpus"] = milli_cpus(spec.cpu_milli, traits.cpus) * 1'000'000;
    if (spec.memory_bytes > 0) {
        host["Memory"] = spec.memory_bytes;
        host["MemorySwap"] = spec.memory_bytes;  // Memory and swap together: no swap.
    }
    if (spec.pids_max > 0) host["PidsLimit"] = spec.pids_max;
    if (spec.shm_bytes > 0) host["ShmSize"] = spec.shm_bytes;
    host["Init"] = !spec.no_init;
    if (!groups.empty()) host["GroupAdd"] = std::move(groups);
    return host;
}

json::object docker_body(const ContainerSpec& spec, const std::map<std::string, std::string>& variables,
                         json::object host) {
    json::array entries;
    for (const auto& [name, value] : variables) entries.emplace_back(name + "=" + value);
    json::object body{{"Image", full_image_name(spec.image)},
                      {"Labels", labels_of(spec)},
                      {"Env", std::move(entries)},
                      {"Tty", false},
                      {"OpenStdin", false},
                      {"HostConfig", std::move(host)}};
    if (!spec.hostname.empty()) body["Hostname"] = spec.hostname;
    if (!spec.command.empty()) body["Cmd"] = words(spec.command);
    if (spec.entrypoint) body["Entrypoint"] = entry_words(*spec.entrypoint);
    if (spec.network.empty()) return body;
    json::object endpoint;
    if (!spec.address.empty()) endpoint["IPAMConfig"] = {{"IPv4Address", spec.address}};
    if (!spec.hostname.empty()) endpoint["Aliases"] = json::array{spec.hostname};
    body["NetworkingConfig"] = {{"EndpointsConfig", {{spec.network, std::move(endpoint)}}}};
    return body;
}

// ── Podman

json::object of_kind(const char* kind) { return {{"nsmode", kind}}; }

json::array id_map(std::uint32_t first) {
    return {json::object{{"container_id", 0}, {"host_id", first}, {"size", IdRange::size}}};
}

void podman_limits(json::object& body, const ContainerSpec& spec, const Traits& traits,
                   const Confinement& confinement) {
    json::object limits;
    if (spec.cpu_milli > 0) {
        constexpr std::int64_t period_us = 100'000, least_us = 1000;  // The kernel's least.
        const auto quota = milli_cpus(spec.cpu_milli, traits.cpus) * period_us / 1000;
        limits["cpu"] = {{"quota", std::max(quota, least_us)}, {"period", period_us}};
    }
    if (spec.memory_bytes > 0) limits["memory"] = {{"limit", spec.memory_bytes}, {"swap", spec.memory_bytes}};
    if (spec.pids_max > 0) limits["pids"] = {{"limit", spec.pids_max}};
    if (!limits.empty()) body["resource_limits"] = std::move(limits);
    const auto limit = [](const char* name, std::int64_t value) {
        const auto most = static_cast<std::uint64_t>(value);  // Of -1 the largest: none.
        return json::value{{"type", name}, {"soft", most}, {"hard", most}};
    };
    if (has_limits(confinement))
        body["r_limits"] =
            json::array{limit("nofile", confinement.files_max), limit("nproc", confinement.processes_max),
                        limit("memlock", confinement.locked_max)};
}

// In a user namespace podman leaves the rules out without a word, and its hook puts them in: it goes by the
// annotation. Ours counts over one that the image has.
void podman_devices(json::object& body, const ContainerSpec& spec, const CdiEdits& edits) {
    json::array rules, groups;
    for (const auto& node : edits.nodes)
        rules.push_back({{"allow", true},
                         {"type", std::string(1, node.kind)},
                         {"major", node.major},
                         {"minor", node.minor},
                         {"access", node.permissions}});
    for (const auto group : edits.groups) groups.emplace_back(std::to_string(group));
    if (!rules.empty()) body["device_cgroup_rule"] = std::move(rules);
    body["annotations"].as_object()[device_annotation] = edits.nodes.empty() ? "" : spec.name;
    if (!groups.empty()) body["groups"] = std::move(groups);
}

json::object podman_body(const ContainerSpec& spec, const std::map<std::string, std::string>& variables,
                         const std::vector<Mount>& mounted, const Confinement& confinement) {
    json::object values;
    for (const auto& [name, value] : variables) values[name] = value;
    json::array binds;
    for (const auto& mount : mounted) {
        auto options = words(mount.options);
        options.insert(options.end(), {"rbind", "rprivate"});
        binds.push_back({{"type", "bind"},
                         {"source", mount.source},
                         {"destination", mount.target},
                         {"options", std::move(options)}});
    }
    json::object body{
        {"name", spec.name},
        {"image", full_image_name(spec.image)},  // Else it may be taken for an id.
        {"labels", labels_of(spec)},
        {"env", std::move(values)},
        {"httpproxy", false},  // The service's own would be given to all.
        {"cap_drop", json::array{"ALL"}},
        {"cap_add", capability_list()},
        {"no_new_privileges", true},
        {"seccomp_profile_path", confinement.seccomp_file},
        {"cgroupns", of_kind("private")},
        {"ipcns", of_kind("private")},
        {"netns", of_kind(spec.network.empty() ? "none" : "bridge")},
        {"sysctl", sysctls()},
        {"restart_policy", "no"},
        {"annotations", json::object{}},
        {"log_configuration", json::object{{"driver", "k8s-file"}, {"size", confinement.log_bytes_max}}},
        {"mounts", std::move(binds)},
        {"image_volume_mode", "ignore"}};  // They are folders as any other, of its layer.
    if (spec.ids.mapped()) {
        body["annotations"].as_object()[streams_annotation] = "own";
        body["userns"] = of_kind("private");
        body["idmappings"] = {{"HostUIDMapping", false},
                              {"HostGIDMapping", false},
                              {"UIDMap", id_map(spec.ids.first_user)},
                              {"GIDMap", id_map(spec.ids.first_group)}};
    }
    if (!spec.hostname.empty()) body["hostname"] = spec.hostname;
    if (!spec.command.empty()) body["command"] = words(spec.command);
    if (spec.entrypoint) body["entrypoint"] = entry_words(*spec.entrypoint);
    if (spec.shm_bytes > 0) body["shm_size"] = spec.shm_bytes;
    if (!spec.no_init) {
        body["init"] = true;
        body["init_path"] = confinement.init;
    }
    if (spec.network.empty()) return body;
    json::object endpoint;
    if (!spec.address.empty()) endpoint["static_ips"] = json::array{spec.address};
    if (auto mac = mac_of(spec.address); !mac.empty()) endpoint["static_mac"] = std::move(mac);
    if (!spec.hostname.empty()) endpoint["aliases"] = json::array{spec.hostname};
    body["Networks"] = {{spec.network, std::move(endpoint)}};
    return body;
}

}  // namespace

std::string create_path(const ContainerSpec& spec, Dialect dialect) {
    if (dialect == Dialect::podman) return "/libpod/containers/create";  // The name is in the body.
    return target("/containers/create", {{"name", spec.name}});
}

Result<std::string> create_body(const ContainerSpec& spec, const CdiEdits& edits, const Traits& traits,
                                const Confinement& confinement, std::string_view image_path) {
    if (spec.image.empty()) return fail(Code::invalid, fmt::format("container {} has no image", spec.name));
    if (spec.cpu_milli < 0 || spec.memory_bytes < 0 || spec.pids_max < 0 || spec.shm_bytes < 0)
        return fail(Code::invalid, fmt::format("container {} has a negative limit", spec.name));
    const auto variables = TRY(environment(spec, edits, image_path));
    const auto mounted = TRY(mounts(spec, edits));
    const bool docker = traits.dialect == Dialect::docker;
    if (!docker && !spec.no_init && confinement.init.empty())
        return fail(Code::not_found,
                    fmt::format("container {}: its host has no init to run its program below; install the "
                                "package tini there",
                                spec.name),
                    std::string{Engine::init_missing});
    if (docker)
        return json::serialize(
            docker_body(spec, variables, docker_host(spec, edits, mounted, traits, confinement)));
    auto body = podman_body(spec, variables, mounted, confinement);
    podman_limits(body, spec, traits, confinement);
    podman_devices(body, spec, edits);
    return json::serialize(body);
}

}  // namespace hostler::docker
