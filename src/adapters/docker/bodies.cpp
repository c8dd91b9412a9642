#include "adapters/docker/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <charconv>
#include <set>

#include "domain/image/image.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

constexpr const char* engine_down = "the container engine answered what is not its API";

}  // namespace

std::string network_body(const NetworkSpec& spec, std::string_view owner, Dialect dialect) {
    json::object options{{"com.docker.network.bridge.name", bridge_name(spec.id)}};
    if (dialect == Dialect::podman)
        options["isolate"] = "true";
    else
        // Within it; Docker keeps bridges apart by itself.
        options["com.docker.network.bridge.enable_icc"] = "true";
    return json::serialize(json::object{
        {"Name", spec.id},
        {"Driver", "bridge"},
        {"CheckDuplicate", true},
        {"Labels", {{network_label, spec.id}, {owner_label, owner}}},
        {"Options", std::move(options)},
        {"IPAM", {{"Config", json::array{{{"Subnet", spec.subnet}, {"Gateway", spec.gateway}}}}}}});
}

std::string bridge_name(std::string_view network_id) {
    // FNV-1a: ids are ours, and 60 bits are enough that two networks of one host do not meet.
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : network_id) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ULL;
    std::string name{bridge_prefix};
    for (int i = 0; i < 12; ++i, hash >>= 5) name += "abcdefghijkmnpqrstuvwxyz23456789"[hash & 31];
    return name;
}

namespace {

// One member of an object, by a path of names; null when there is none.
const json::value& at(const json::value& value, std::initializer_list<std::string_view> path) {
    static const json::value null;
    const json::value* now = &value;
    for (const auto name : path) {
        const auto* object = now->if_object();
        now = object ? object->if_contains(name) : nullptr;
        if (!now) return null;
    }
    return *now;
}

std::string text(const json::value& value) {
    return value.is_string() ? std::string(value.as_string()) : std::string{};
}
bool flag(const json::value& value) { return value.is_bool() && value.as_bool(); }
std::int64_t number(const json::value& value) {
    if (value.is_int64()) return value.as_int64();
    if (value.is_string()) return std::atoll(value.as_string().c_str());
    return 0;
}

Result<json::value> parse(std::string_view body) {
    json::error_code error;
    auto value = json::parse({body.data(), body.size()}, error);
    if (error) return fail(Code::unavailable, engine_down);
    return value;
}

std::map<std::string, std::string> labels_of(const json::value& value) {
    std::map<std::string, std::string> labels;
    if (const auto* object = value.if_object())
        for (const auto& [name, label] : *object) labels.emplace(name, text(label));
    return labels;
}

ContainerState state_of(std::string_view status) {
    for (const auto name : {"running", "paused", "restarting", "stopping"})
        if (status == name) return ContainerState::running;
    for (const auto name : {"created", "configured", "initialized"})
        if (status == name) return ContainerState::created;
    return ContainerState::exited;
}

std::string plain_name(std::string name) {
    if (name.starts_with('/')) name.erase(0, 1);
    return name;
}

// As Docker's API has it, or podman's own.
SeenNetwork network_of(const json::value& value) {
    const bool own = !at(value, {"subnets"}).is_null();
    SeenNetwork seen{.id = text(at(value, {own ? "labels" : "Labels", network_label}))};
    const auto* configs = (own ? at(value, {"subnets"}) : at(value, {"IPAM", "Config"})).if_array();
    if (configs && !configs->empty()) {
        seen.subnet = text(at(configs->front(), {own ? "subnet" : "Subnet"}));
        seen.gateway = text(at(configs->front(), {own ? "gateway" : "Gateway"}));
    }
    seen.bridge = bridge_name(seen.id);
    return seen;
}

// Podman tells it as docker would tell of another driver. Docker does not say where the one that we ask for
// writes; its files have had one form and place since 2018.
std::optional<LogFile> log_of(const json::value& value, std::string_view id, std::string_view root) {
    const auto started = parse_rfc3339(text(at(value, {"State", "StartedAt"})));
    LogFile file{.container = started.value_or(WallTime{})};
    const auto driver = text(at(value, {"HostConfig", "LogConfig", "Type"}));
    if (driver == "local" && root.starts_with('/')) {
        file.format = LogFormat::local;
        file.path = fmt::format("{}/containers/{}/local-logs/container.log", root, id);
        return file;
    }
    file.path = text(at(value, {"LogPath"}));
    if (!file.path.ends_with("/ctr.log")) return std::nullopt;
    return file;
}

// Docker keeps what belongs to a mapping in a folder of its name, "/var/lib/docker/100000.100000", and says
// it nowhere else.
IdRange ids_of_folder(std::string_view folder) {
    const auto name = folder.substr(folder.rfind('/') + 1);
    IdRange ids;
    const char* end = name.data() + name.size();
    const auto user = std::from_chars(name.data(), end, ids.first_user);
    if (user.ec != std::errc{} || user.ptr == end || *user.ptr != '.') return {};
    const auto group = std::from_chars(user.ptr + 1, end, ids.first_group);
    return group.ec == std::errc{} && group.ptr == end ? ids : IdRange{};
}

}  // namespace

Result<Traits> parse_traits(std::string_view version_body, std::string_view info_body) {
    const auto version = TRY(parse(version_body));
    const auto info = TRY(parse(info_body));
    Traits traits;
    traits.version = text(at(version, {"Version"}));
    if (traits.version.empty()) return fail(Code::unavailable, engine_down);
    if (const auto* parts = at(version, {"Components"}).if_array())
        for (const auto& part : *parts)
            if (text(at(part, {"Name"})) == "Podman Engine") traits.dialect = Dialect::podman;
    traits.cgroup_version = text(at(info, {"CgroupVersion"})) == "2" ? 2 : 1;
    if (const auto* options = at(info, {"SecurityOptions"}).if_array())
        for (const auto& option : *options)
            if (traits.dialect == Dialect::docker && text(option).starts_with("name=userns"))
                traits.shared_ids = ids_of_folder(text(at(info, {"DockerRootDir"})));
    traits.cpus = std::max<std::int64_t>(number(at(info, {"NCPU"})), 0);
    traits.storage = text(at(info, {"Driver"}));
    traits.root = text(at(info, {"DockerRootDir"}));
    return traits;
}

Result<Inspected> parse_inspect(std::string_view body, std::string_view root) {
    const auto value = TRY(parse(body));
    Inspected seen{.id = text(at(value, {"Id"}))};
    if (seen.id.empty()) return fail(Code::unavailable, engine_down);
    seen.container = {.name = plain_name(text(at(value, {"Name"}))),
                      .labels = labels_of(at(value, {"Config", "Labels"})),
                      .state = state_of(text(at(value, {"State", "Status"}))),
                      .exit_code = static_cast<int>(number(at(value, {"State", "ExitCode"}))),
                      .oom_killed = flag(at(value, {"State", "OOMKilled"})),
                      .error = text(at(value, {"State", "Error"})),
                      .id = seen.id};
    if (seen.container.state == ContainerState::running) {
        seen.pid = number(at(value, {"State", "Pid"}));
        seen.container.exit_code = 0;
    }
    if (const auto* networks = at(value, {"NetworkSettings", "Networks"}).if_object())
        for (const auto& [network, there] : *networks)
            if (auto address = text(at(there, {"IPAddress"})); !address.empty())
                seen.addresses.push_back(std::move(address));
    seen.image = text(at(value, {"Image"}));
    // Both folders of overlayfs lie side by side, with what the engine notes of the layer.
    const auto upper = text(at(value, {"GraphDriver", "Data", "UpperDir"}));
    const auto work = text(at(value, {"GraphDriver", "Data", "WorkDir"}));
    const auto folder = upper.substr(0, upper.rfind('/'));
    if (folder.size() > 1 && folder.starts_with('/') && work.substr(0, work.rfind('/')) == folder)
        seen.layer = folder;
    const auto lower = text(at(value, {"GraphDriver", "Data", "LowerDir"}));
    for (std::size_t begin = 0; begin < lower.size();) {
        const auto end = std::min(lower.find(':', begin), lower.size());
        seen.image_layers.push_back(lower.substr(begin, end - begin));
        begin = end + 1;
    }
    if (const auto* mounts = at(value, {"Mounts"}).if_array())
        for (const auto& mount : *mounts)
            if (text(at(mount, {"Type"})) == "volume" && text(at(mount, {"Driver"})) == "local")
                seen.volumes.push_back({text(at(mount, {"Source"})), text(at(mount, {"Destination"}))});
    seen.network_namespace = text(at(value, {"NetworkSettings", "SandboxKey"}));
    seen.log = log_of(value, seen.id, root);
    return seen;
}

Result<std::vector<Inspected>> parse_list(std::string_view body) {
    const auto value = TRY(parse(body));
    const auto* items = value.if_array();
    if (!items) return fail(Code::unavailable, engine_down);
    std::vector<Inspected> all;
    for (const auto& item : *items) {
        const auto* names = at(item, {"Names"}).if_array();
        if (!names || names->empty()) continue;
        all.push_back({.id = text(at(item, {"Id"})),
                       .container = {.name = plain_name(text(names->front())),
                                     .labels = labels_of(at(item, {"Labels"})),
                                     .state = state_of(text(at(item, {"State"}))),
                                     .id = text(at(item, {"Id"}))}});
    }
    return all;
}

bool changes_a_container(std::string_view event) {
    constexpr std::string_view harmless[] = {
        "exec",         "health_status", "attach", "detach",         "resize", "top",   "export",
        "archive-path", "commit",        "copy",   "extract-to-dir", "init",   "mount", "unmount"};
    const auto value = parse(event);
    if (!value || !value->is_object()) return true;
    const std::string action = text(at(*value, {"Action"}));
    return std::ranges::none_of(harmless, [&](std::string_view word) { return action.starts_with(word); });
}

Result<std::vector<std::string>> parse_images(std::string_view body) {
    const auto value = TRY(parse(body));
    const auto* items = value.if_array();
    if (!items) return fail(Code::unavailable, engine_down);
    std::set<std::string> names;
    for (const auto& item : *items)
        for (const char* list : {"RepoTags", "RepoDigests"})
            if (const auto* said = at(item, {list}).if_array())
                for (const auto& one : *said)
                    if (const auto name = text(one); !name.empty() && !name.starts_with("<none>"))
                        names.insert(full_image_name(name));
    return std::vector<std::string>{names.begin(), names.end()};
}

Result<SeenNetwork> parse_network(std::string_view body) { return network_of(TRY(parse(body))); }

Result<std::vector<SeenNetwork>> parse_networks(std::string_view body) {
    const auto value = TRY(parse(body));
    const auto* items = value.if_array();
    if (!items) return fail(Code::unavailable, engine_down);
    std::vector<SeenNetwork> all;
    for (const auto& item : *items) all.push_back(network_of(item));
    return all;
}

std::string image_library_path(std::string_view body) {
    const auto value = parse(body);
    const auto* entries = value ? at(*value, {"Config", "Env"}).if_array() : nullptr;
    constexpr std::string_view prefix = "LD_LIBRARY_PATH=";
    if (entries)
        for (const auto& entry : *entries)
            if (const auto found = text(entry); found.starts_with(prefix)) return found.substr(prefix.size());
    return {};
}

std::string image_architecture(std::string_view body) {
    const auto value = parse(body);
    return value ? text(at(*value, {"Architecture"})) : std::string{};
}

std::string image_user(std::string_view body) {
    const auto value = parse(body);
    return value ? text(at(*value, {"Config", "User"})) : std::string{};
}

std::vector<std::string> image_volumes(std::string_view body) {
    const auto value = parse(body);
    const auto* volumes = value ? at(*value, {"Config", "Volumes"}).if_object() : nullptr;
    std::vector<std::string> paths;
    if (volumes)
        for (const auto& [path, nothing] : *volumes) paths.emplace_back(path);
    return paths;
}

std::string error_text(std::string_view body) {
    const auto value = parse(body);
    if (value)
        if (auto message = text(at(*value, {"message"})); !message.empty()) return message;
    return std::string(body.substr(0, 300));
}

bool is_gone(int status, std::string_view body) {
    return status == 404 || (status == 500 && error_text(body).ends_with("no such container"));
}

bool ended_meanwhile(int status, std::string_view body) {
    if (status != 500) return false;
    const auto words = error_text(body);
    return words.contains("/proc/") && words.ends_with("no such process");
}

std::optional<std::string> pull_error(std::string_view stream) {
    while (!stream.empty()) {
        const auto end = std::min(stream.find('\n'), stream.size());
        if (const auto value = parse(stream.substr(0, end)))
            if (auto message = text(at(*value, {"error"})); !message.empty()) return message;
        stream.remove_prefix(std::min(end + 1, stream.size()));
    }
    return std::nullopt;
}

bool is_half_made(std::string_view words) { return words.contains("container with given ID already exists"); }

// Podman's words, then Docker's.
bool is_address_taken(std::string_view words) {
    return words.contains("is already allocated to container ID") || words.contains("Address already in use");
}

bool says_no_init(std::string_view words) {
    return words.contains("docker-init") && words.contains("not found");
}

bool says_disk_full(std::string_view words) {
    return words.contains("no space left on device") || words.contains("disk quota exceeded");
}

bool says_no_image(std::string_view words) {
    return words.contains("No such image") || words.contains("image not known");
}

Error pull_refused(std::string_view image, std::string_view words) {
    std::string lower{words};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto says = [&](std::initializer_list<std::string_view> any) {
        return std::ranges::any_of(any, [&](auto part) { return lower.contains(part); });
    };
    const auto refusal = [&](Code code, std::string_view reason, std::string_view sentence) {
        return Error{.code = code,
                     .message = fmt::format("image {}: {}", image, sentence),
                     .reason = std::string{reason}};
    };
    if (says_disk_full(lower)) return refusal(Code::exhausted, "disk_full", "the host's disk is full");
    if (says({"invalid reference format", "must be lowercase"}))
        return refusal(Code::invalid, "image_name_invalid", "that is no name of an image");
    if (says({"unauthorized", "authentication required", "access denied", "access to the resource is denied",
              "no basic auth credentials"}) ||
        lower.contains(": denied"))
        return refusal(Code::forbidden, "image_unauthorized",
                       "its registry gives it only to those who sign in, or does not have it");
    if (says({"http response to https client", "first record does not look like a tls handshake"}))
        return refusal(Code::forbidden, "registry_untrusted",
                       "its registry speaks plain HTTP, and this host asks registries by TLS");
    if (lower.contains("x509:"))
        return refusal(Code::forbidden, "registry_untrusted",
                       "its registry shows a certificate that this host does not trust");
    if (says({"connection refused", "no such host", "i/o timeout", "deadline exceeded", "timeout exceeded",
              "handshake timeout", "no route to host", "is unreachable", "server misbehaving",
              "connection reset", "tls:", "toomanyrequests", "too many requests", "http status: 5",
              "http status 5", "unexpected eof", "request canceled"}) ||
        lower.ends_with(": eof"))
        return refusal(Code::unavailable, "registry_unreachable", "its registry does not answer");
    return refusal(Code::not_found, "image_unavailable", "its registry does not have it");
}

namespace {

// Podman's words, then the runtime's, whose set-up of a user may fail in several places.
bool says_user_unmapped(std::string_view words) {
    return words.contains("doesn't map UID") || words.contains("doesn't map GID") ||
           (words.contains("in user namespace") && words.contains("unmapped"));
}

bool says_no_user(std::string_view words) {
    return words.contains("unable to find user") || words.contains("unable to find group") ||
           words.contains("no matching entries in passwd file") ||
           words.contains("no matching entries in group file");
}

}  // namespace

std::optional<Error> image_fault(std::string_view image, std::string_view words) {
    constexpr std::size_t program_bytes_max = 200;
    const auto fault = [&](std::string_view reason, std::string_view sentence) {
        return Error{.code = Code::invalid,
                     .message = fmt::format("image {}: {}", image, sentence),
                     .reason = std::string{reason}};
    };
    if (says_user_unmapped(words))
        return fault("image_user", fmt::format("its USER has a number over {}, and instances have users 0 to "
                                               "{}; build it with a smaller one",
                                               IdRange::size - 1, IdRange::size - 1));
    if (says_no_user(words)) return fault("image_user", "its USER is not in its /etc/passwd or /etc/group");
    // runc: `exec: "NAME": why`.
    constexpr std::string_view before = "exec: \"";
    const auto at = words.find(before);
    const auto from = at == words.npos ? words.size() : at + before.size();
    const auto program = words.substr(from, std::min(words.find('"', from), words.size()) - from);
    if (words.contains("exec format error"))
        return fault("image_command",
                     "its command is no program for this machine: a script without #!, or a program for "
                     "another architecture");
    if (program.empty() || program.size() > program_bytes_max) return std::nullopt;
    if (words.contains("executable file not found") || words.contains("no such file or directory"))
        return fault("image_command", fmt::format("its command {} is not in it", program));
    if (words.contains("permission denied"))
        return fault("image_command", fmt::format("its command {} may not be executed", program));
    return std::nullopt;
}

// "[FATAL tini (7)] exec NAME failed: No such file or directory"
std::optional<Error> init_fault(std::string_view image, std::string_view log) {
    constexpr std::string_view first = "[FATAL tini (", before = ")] exec ", after = " failed: ";
    const auto at = log.find(first);
    const auto name = at == log.npos ? at : log.find(before, at);
    const auto why = name == log.npos ? name : log.find(after, name);
    if (why == log.npos) return std::nullopt;
    const auto from = name + before.size();
    std::string words{log.substr(why + after.size(), log.find('\n', why) - why - after.size())};
    if (!words.empty())
        words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
    return image_fault(image, fmt::format("exec: \"{}\": {}", log.substr(from, why - from), words));
}

Error engine_error(int status, std::string_view body, std::string_view what) {
    const auto words = error_text(body);
    Code code = Code::unavailable;
    if (says_disk_full(words))
        code = Code::exhausted;
    else if (status == 404)
        code = Code::not_found;
    else if (status == 409)
        code = Code::conflict;
    else if (status == 503)
        code = Code::unavailable;
    else if (status >= 400)
        code = Code::invalid;  // Engines answer 500 to a spec that they refuse.
    return {.code = code,
            .message = fmt::format("{}: {}", what, words),
            .reason = code == Code::exhausted ? "disk_full" : ""};
}

Error call_error(const Answer& answer, std::string_view what) {
    auto error = engine_error(answer.status, answer.body, what);
    if (answer.status >= 500 && error.code == Code::invalid) error.code = Code::unavailable;
    return error;
}

bool is_being_removed(int status, std::string_view body) {
    return status == 409 || (status == 500 && error_text(body).contains("device or resource busy"));
}

bool is_name_taken(int status, std::string_view body) {
    return status == 409 || (status == 500 && error_text(body).find("already in use") != std::string::npos &&
                             error_text(body).find("name") != std::string::npos);
}

}  // namespace hostler::docker
