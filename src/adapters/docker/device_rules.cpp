#include "adapters/docker/device_rules.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "adapters/docker/inside.h"
#include "adapters/docker/oci_hook.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

constexpr std::size_t config_bytes_max = 16 << 20, rules_bytes_max = 1 << 20;
constexpr std::size_t id_size = 64;

// Errors: unavailable, too large.
Result<std::string> read_all(int fd, std::size_t bytes_max) {
    std::string text;
    char piece[65536];
    while (true) {
        const auto size = ::read(fd, piece, sizeof piece);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return fail(Code::unavailable, std::strerror(errno));
        if (size == 0) return text;
        text.append(piece, static_cast<std::size_t>(size));
        if (text.size() > bytes_max) return fail(Code::invalid, "it is too large");
    }
}

Result<json::value> parse(std::string_view text) {
    boost::system::error_code error;
    auto value = json::parse({text.data(), text.size()}, error);
    if (error) return fail(Code::invalid, error.message());
    return value;
}

Result<> check_folder(const std::string& folder) {
    struct stat status{};
    if (::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & 0077) == 0)
        return {};
    return fail(Code::unavailable,
                fmt::format("{} is to be a folder of ours alone, for rules of devices", folder));
}

std::string text_of(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string() ? std::string{value->get_string()} : std::string{};
}

// What is kept under this name; nullopt: nothing.
Result<std::optional<json::value>> kept(const std::string& folder, const std::string& name) {
    if (name.empty() || name.front() == '.' || name.contains('/') || name.contains('\0')) return std::nullopt;
    const auto path = folder + "/" + name;
    const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENAMETOOLONG)) return std::nullopt;
    if (fd < 0) return fail(Code::unavailable, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    struct stat status{};
    const bool ours = check_folder(folder) && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0;
    Result<std::string> text = fail(Code::unavailable, "it is not a file of ours alone");
    if (ours) text = read_all(fd, rules_bytes_max);
    ::close(fd);
    auto value = text ? parse(*text) : Result<json::value>{std::unexpected(text.error())};
    if (!value) return fail(value.error().code, fmt::format("{}: {}", path, value.error().message));
    return std::move(*value);
}

// Podman names the control group of a container by its id, whatever the image says. So rules that were kept
// for one container are never another's.
bool is_of(std::string_view control_group, std::string_view id) {
    if (id.size() != id_size || !control_group.ends_with(id) || control_group.size() == id_size) return false;
    return std::string_view{"-/:"}.contains(control_group[control_group.size() - id_size - 1]);
}

json::object& object_at(json::object& object, std::string_view key) {
    auto& value = object[key];
    return value.is_object() ? value.get_object() : value.emplace_object();
}

// Without any rule some runtimes refuse every device and some none: what is refused is said.
void add(json::object& config, const json::array& rules) {
    auto& devices = object_at(object_at(config, "linux"), "resources")["devices"];
    auto& list = devices.is_array() ? devices.get_array() : devices.emplace_array();
    if (list.empty()) list.push_back({{"allow", false}, {"access", "rwm"}});
    for (const auto& rule : rules)
        if (std::ranges::find(list, rule) == list.end()) list.push_back(rule);
}

}  // namespace

std::string hook_file(const DeviceHook& hook) {
    return oci_hook_file(hook.agent, {hook_command, hook.rules}, device_annotation, "precreate");
}

bool hook_installed() {
    std::error_code ignored;
    return std::filesystem::exists("/usr/share/containers/oci/hooks.d/hostler-devices.json", ignored);
}

Result<> keep_rules(const std::string& folder, const std::string& name, std::string_view id,
                    std::span<const CdiNode> nodes) {
    json::array rules;
    for (const auto& node : nodes)
        rules.push_back({{"allow", true},
                         {"type", std::string(1, node.kind)},
                         {"major", node.major},
                         {"minor", node.minor},
                         {"access", node.permissions}});
    std::error_code wrong;
    const auto parent = std::filesystem::path{folder}.parent_path();
    if (std::filesystem::create_directories(parent, wrong))
        std::filesystem::permissions(parent, std::filesystem::perms::owner_all, wrong);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(Code::unavailable,
                    fmt::format("cannot make {} for rules of devices: {}", folder, std::strerror(errno)));
    TRY(check_folder(folder));
    return keep_file(folder, name,
                     json::serialize(json::object{{"container", id}, {"rules", std::move(rules)}}));
}

void remove_rules(const std::string& folder, const std::string& name) {
    std::error_code ignored;
    std::filesystem::remove(folder + "/" + name, ignored);
}

Result<std::string> with_rules(std::string config, const std::string& folder) {
    auto value = parse(config);
    if (!value || !value->is_object())
        return fail(Code::invalid, "the input is not a container configuration");
    auto& object = value->get_object();
    const auto* annotations = object.if_contains("annotations");
    if (!annotations || !annotations->is_object()) return config;
    const auto found = TRY(kept(folder, text_of(annotations->get_object(), device_annotation)));
    if (!found || !found->is_object()) return config;
    const auto* rules = found->get_object().if_contains("rules");
    const auto control_group = text_of(object_at(object, "linux"), "cgroupsPath");
    if (!rules || !rules->is_array() || !is_of(control_group, text_of(found->get_object(), "container")))
        return config;
    add(object, rules->get_array());
    return json::serialize(object);
}

int hook_main(const std::string& folder) {
    auto config = read_all(STDIN_FILENO, config_bytes_max);
    auto changed = config ? with_rules(std::move(*config), folder) : std::move(config);
    if (!changed) {
        fmt::print(stderr, "hostler-agent: rules of devices: {}\n", changed.error().message);
        return 1;
    }
    std::fwrite(changed->data(), 1, changed->size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace hostler::docker
