#include "adapters/program/plan.h"

#include <algorithm>
#include <boost/json.hpp>

#include "core/names.h"

namespace hostler::program {

namespace json = boost::json;

namespace {

constexpr std::size_t hostname_max = 64;
constexpr std::size_t words_bytes_max = 1 << 20;
constexpr std::size_t mounts_max = 64;
constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool has_nul(std::string_view text) { return text.find('\0') != text.npos; }

bool is_below(std::string_view path, std::string_view folder) {
    return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// Absolute, and each part of it is a name: no "..", no empty part.
bool is_plain_path(std::string_view path) {
    if (path.size() < 2 || path.size() > 1024 || path.front() != '/' || has_nul(path)) return false;
    while (!path.empty()) {
        path.remove_prefix(1);
        const auto part = path.substr(0, path.find('/'));
        if (part.empty() || part == "." || part == "..") return false;
        path.remove_prefix(part.size());
    }
    return true;
}

bool is_hostname(std::string_view name) {
    return name.size() <= hostname_max && std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_';
           });
}

class Check {
public:
    void that(bool right, std::string path, std::string message) {
        if (!right) fields_.push_back({std::move(path), std::move(message)});
    }
    // Where the program finds something that we lay there.
    void target(const std::string& path, const std::string& field) {
        that(is_plain_path(path), field, "must be an absolute path without '..'");
        for (const std::string_view of_kernel : {"/proc", "/sys", "/dev"})
            that(!is_below(path, of_kernel), field, fmt::format("must not lie in {}", of_kernel));
        for (const auto& other : targets_)
            that(!is_below(path, other) && !is_below(other, path), field,
                 fmt::format("must not lie in or above {}", other));
        targets_.push_back(path);
    }
    Result<> end(const std::string& name) {
        if (fields_.empty()) return {};
        std::string message = fmt::format("program '{}' cannot be run:", name.substr(0, 128));
        for (const auto& field : fields_) message += fmt::format(" {} {};", field.path, field.message);
        message.back() = '.';
        return std::unexpected(Error{Code::invalid, std::move(message), {}, std::move(fields_), {}});
    }

private:
    std::vector<FieldError> fields_;
    std::vector<std::string> targets_;
};

void check_words(Check& check, const ContainerSpec& spec) {
    std::size_t words = spec.command.size(), bytes = 0;
    for (const auto& word : spec.command) {
        bytes += word.size();
        check.that(!has_nul(word), "command", "must not contain a zero byte");
    }
    if (spec.entrypoint)
        for (const auto& word : *spec.entrypoint) {
            ++words, bytes += word.size();
            check.that(!has_nul(word), "entrypoint", "must not contain a zero byte");
        }
    check.that(words > 0, "command", "must not be empty: a program has no image with a command");
    for (const auto& [name, value] : spec.environment) {
        bytes += name.size() + value.size();
        check.that(!name.empty() && name.find('=') == name.npos && !has_nul(name) && !has_nul(value),
                   "environment", "must have names without '=' and no zero byte");
    }
    check.that(bytes <= words_bytes_max, "command", "and environment must not be longer than 1 MiB");
}

std::string text_or(const std::map<std::string, std::string>& values, const char* name, const char* other) {
    const auto found = values.find(name);
    return found == values.end() ? other : found->second;
}

}  // namespace

Result<> check_spec(const ContainerSpec& spec) {
    if (!spec.image.empty() && spec.image != image_name)
        return fail(Code::not_found,
                    fmt::format("image {} cannot be run as a program without a container", spec.image),
                    std::string{Engine::image_missing});
    Check check;
    check.that(is_plain_name(spec.name), "name",
               "must be 1 to 128 letters, digits, '-', '_' or '.', and not begin with '.'");
    check_words(check, spec);
    check.that(!spec.no_init, "no_init", "is not possible for a program: process 1 is Hostler's own");
    check.that(spec.network.empty(), "network", "is not possible for a program: use a container");
    check.that(spec.address.empty(), "address", "is not possible for a program: use a container");
    check.that(is_hostname(spec.hostname), "hostname", "must be a host name of at most 64 characters");
    check.that(spec.cpu_milli >= 0, "cpu_milli", "must not be negative");
    check.that(spec.memory_bytes >= 0, "memory_bytes", "must not be negative");
    check.that(spec.pids_max >= 0, "pids_max", "must not be negative");
    check.that(spec.shm_bytes >= 0, "shm_bytes", "must not be negative");
    check.that(spec.disk_bytes >= 0, "disk_bytes", "must not be negative");
    check.that(spec.mounts.size() + spec.secret_files.size() <= mounts_max, "mounts",
               fmt::format("must not be more than {}, with secret_files", mounts_max));
    for (std::size_t i = 0; i < spec.mounts.size(); ++i) {
        check.that(is_plain_path(spec.mounts[i].source), fmt::format("mounts[{}].source", i),
                   "must be an absolute path without '..'");
        check.target(spec.mounts[i].target, fmt::format("mounts[{}].target", i));
    }
    for (std::size_t i = 0; i < spec.secret_files.size(); ++i)
        check.target(spec.secret_files[i].path, fmt::format("secret_files[{}].path", i));
    TRY(check.end(spec.name));
    if (spec.layer == LayerStart::kept)
        return fail(Code::not_found,
                    fmt::format("nothing was kept of program {}: /tmp of a program is in memory", spec.name),
                    std::string{Engine::layer_missing});
    return {};
}

Plan make_plan(const ContainerSpec& spec, const ProgramSettings& settings, const DeviceEdits& edits) {
    Plan plan{.name = spec.name,
              .folder = settings.state_folder + "/programs/" + spec.name,
              .hostname = spec.hostname.empty() ? "program" : spec.hostname,
              .mount_owner = spec.ids.mapped() ? spec.ids.first_user : settings.mount_owner,
              .hidden = settings.hidden,
              .scratch_bytes = spec.disk_bytes > 0 ? spec.disk_bytes : settings.scratch_bytes,
              .shm_bytes = spec.shm_bytes > 0 ? spec.shm_bytes : settings.shm_bytes,
              .open_files_max = settings.open_files_max,
              .processes_max = spec.pids_max > 0 ? spec.pids_max : settings.pids_max,
              .log_bytes_max = settings.log_bytes_max,
              .log_bytes_per_s = settings.log_bytes_per_s,
              .start_ms = settings.start_time.count(),
              .share_network = settings.share_network};
    if (spec.entrypoint) plan.command = *spec.entrypoint;
    plan.command.insert(plan.command.end(), spec.command.begin(), spec.command.end());
    auto environment = spec.environment;
    for (const auto& [name, value] : edits.environment) environment[name] = value;
    environment["PATH"] = text_or(environment, "PATH", default_path);
    environment["HOME"] = text_or(environment, "HOME", "/tmp");
    for (const auto& [name, value] : environment) plan.environment.push_back(name + "=" + value);
    plan.hidden.push_back(settings.state_folder);
    for (const auto& mount : spec.mounts)
        plan.mounts.push_back({mount.source, mount.target, mount.read_only});
    for (const auto& [source, target] : edits.mounts) {
        const bool hidden = std::ranges::any_of(
            plan.hidden, [&](const std::string& folder) { return is_below(target, folder); });
        if (source != target || hidden) plan.mounts.push_back({source, target, true});
    }
    for (const auto& secret : spec.secret_files) plan.secrets.push_back({secret.path, secret.text});
    return plan;
}

std::string to_text(const Plan& plan) { return json::serialize(json::value_from(plan)); }

Result<Plan> parse_plan(std::string_view text) {
    boost::system::error_code error;
    json::parse_options options;
    options.allow_invalid_utf8 = true;  // Arguments and paths are bytes.
    const auto value = json::parse({text.data(), text.size()}, error, {}, options);
    if (error) return fail(Code::invalid, fmt::format("a plan cannot be read: {}", error.message()));
    auto plan = json::try_value_to<Plan>(value);
    if (!plan) return fail(Code::invalid, fmt::format("a plan cannot be read: {}", plan.error().message()));
    return std::move(*plan);
}

}  // namespace hostler::program
