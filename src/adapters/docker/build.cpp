// Images that are made here: from a recipe, or from an archive.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>

#include "adapters/docker/engine.h"
#include "adapters/docker/host_files.h"
#include "adapters/docker/image.h"
#include "adapters/docker/long_process.h"
#include "adapters/docker/pull.h"

namespace hostler::docker {

namespace fs = std::filesystem;

namespace {

constexpr Duration lock_interval = std::chrono::milliseconds{200};

// One agent at a time makes images on an engine, since two would make the same one twice. The file says which
// one and how far it is, for those who wait.
class EngineLock {
public:
    explicit EngineLock(const std::string& path)
        : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
    ~EngineLock() {
        if (file_ >= 0) ::close(file_);
    }
    EngineLock(const EngineLock&) = delete;
    EngineLock& operator=(const EngineLock&) = delete;
    // Where no lock can be made there is nobody to share with.
    bool taken() const { return file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0; }
    void tell(const std::string& image, const std::string& step) const {
        const std::string text = image + "\n" + step;
        if (file_ < 0 || ::pwrite(file_, text.data(), text.size(), 0) < 0) return;
        (void)!::ftruncate(file_, static_cast<off_t>(text.size()));
    }
    // The image that its holder makes, and the step; empty where it has said nothing yet.
    std::pair<std::string, std::string> told() const {
        std::array<char, 1024> text{};
        const auto size = ::pread(file_, text.data(), text.size(), 0);
        const std::string_view all{text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
        const auto line = all.find('\n');
        if (line == std::string_view::npos) return {};
        return {std::string{all.substr(0, line)}, std::string{all.substr(line + 1)}};
    }

private:
    int file_;
};

// A file or folder that is gone with this, and before it, if one was left there.
struct Scratch {
    fs::path path;
    explicit Scratch(fs::path where) : path(std::move(where)) { clear(); }
    ~Scratch() { clear(); }
    void clear() const {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

std::string end_of(const fs::path& path) {
    constexpr std::streamoff bytes_max = 1000;
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    const auto size = static_cast<std::streamoff>(file.tellg());
    if (size <= 0) return {};
    std::string text(static_cast<std::size_t>(std::min(size, bytes_max)), '\0');
    file.seekg(size - static_cast<std::streamoff>(text.size()));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

std::unexpected<Error> build_failed(const Recipe& recipe, std::string_view why, const std::string& said) {
    return fail(Code::not_found,
                fmt::format("image {} is made on this host, and that failed: {}{}{}", recipe.image, why,
                            said.empty() ? "" : "; the last it said was:\n", said),
                "image_build_failed");
}

}  // namespace

Task<> DockerEngine::make_image(Recipe recipe, PullSeen seen) {
    const auto of_base = [&](PullProgress now) {
        if (!now.step.empty()) now.step = fmt::format("its base {}: {}", recipe.base, now.step);
        if (seen) seen(std::move(now));
    };
    if (!recipe.base.empty()) CO_TRY(co_await pull(recipe.base, of_base));
    const EngineLock lock{settings_.socket + ".images"};
    const Instant end = timers_.now() + settings_.build_time;
    while (!lock.taken()) {
        if (timers_.now() >= end)
            co_return fail(Code::timeout,
                           fmt::format("image {}: another agent makes images on this engine", recipe.image));
        auto [image, step] = lock.told();
        // Whoever had it before may have made ours, and makes another now.
        if (image != recipe.image && CO_TRY(co_await has_image(recipe.image))) co_return Result<>{};
        if (image != recipe.image)
            step = image.empty() ? "waiting for another image"
                                 : fmt::format("waiting for image {}: {}", image, step);
        if (seen) seen({.step = std::move(step)});
        CO_TRY(co_await sleep(timers_, lock_interval));
    }
    if (CO_TRY(co_await has_image(recipe.image))) co_return Result<>{};
    const auto tell = [&lock, &seen, image = recipe.image](PullProgress now) {
        lock.tell(image, now.step);
        if (seen) seen(std::move(now));
    };
    tell({.step = "first of its kind on this host"});
    if (recipe.root_file_system) co_return co_await make_root_file_system(std::move(recipe));
    co_return co_await build_image(std::move(recipe), tell);
}

Task<> DockerEngine::make_root_file_system(Recipe recipe) {
    const fs::path folder = settings_.state_folder;
    // It is killed when the agent ends, and leaves what it has made so far.
    const Scratch archive{folder / "rootfs.tar"}, log{folder / "rootfs.log"}, made{folder / "rootfs"};
    std::error_code error;
    if (!fs::create_directory(made.path, error))
        co_return fail(Code::unavailable, fmt::format("cannot make {}", made.path.string()));
    std::vector<std::string> command{"env", "TMPDIR=" + made.path.string(), recipe.folder / "rootfs.sh",
                                     archive.path};
    // A killed one leaves the mounts that it made below the folder, /dev and /sys of the host, which is
    // removed next.
    if (::geteuid() == 0) command.insert(command.begin(), {"unshare", "--mount"});
    const auto status = co_await run_long(timers_, std::move(command), log.path, settings_.build_time);
    if (!status && status.error().code == Code::cancelled) co_return std::unexpected(status.error());
    if (!status) co_return build_failed(recipe, status.error().message, end_of(log.path));
    if (*status != 0)
        co_return build_failed(recipe, fmt::format("rootfs.sh ended with status {}", *status),
                               end_of(log.path));
    co_return co_await import({.file = archive.path}, recipe.image, {}, settings_.build_time);
}

Task<> DockerEngine::build_image(Recipe recipe, PullSeen seen) {
    const Variables variables{std::getenv};
    auto context = CO_TRY(context_of(recipe, host_files("/", variables)));
    BuildStream told;
    const auto note = [&](std::string_view piece) {
        told.feed(piece);
        if (!told.step().empty()) seen({.step = told.step()});
    };
    // What is installed comes from where the host itself can reach. With `layers` off podman keeps steps and
    // stages no longer than the build takes; dockerd does not know the word.
    const auto path = target("/build", {{"t", recipe.image},
                                        {"dockerfile", "Containerfile"},
                                        {"networkmode", "host"},
                                        {"forcerm", "true"},
                                        {"layers", "false"},
                                        {"buildargs", proxy_arguments(variables)}});
    const auto answer = CO_TRY(co_await api_.stream(
        "POST", path, settings_.build_idle_time, settings_.build_time, note, {.bytes = std::move(context)}));
    told.finish();
    if (!answer.success()) co_return build_failed(recipe, error_text(answer.body), {});
    if (const auto error = told.error()) co_return build_failed(recipe, *error, told.last_lines());
    // An engine that is stopped meanwhile ends its stream as if all were said.
    if (!CO_TRY(co_await has_image(recipe.image)))
        co_return fail(Code::unavailable,
                       fmt::format("image {}: the container engine broke off its build", recipe.image));
    co_return Result<>{};
}

Task<> DockerEngine::import_image(std::string archive, std::string name, ImageChanges changes) {
    Query query;
    const auto add = [&query](std::string_view what, const std::vector<std::string>& list) {
        if (list.empty()) return;
        const boost::json::array words(list.begin(), list.end());
        query.emplace_back("changes", fmt::format("{} {}", what, boost::json::serialize(words)));
    };
    add("ENTRYPOINT", changes.entrypoint);
    add("CMD", changes.command);
    for (const auto& [variable, value] : changes.environment)
        query.emplace_back("changes", fmt::format("ENV {}={}", variable,
                                                  boost::json::serialize(boost::json::string(value))));
    for (const int port : changes.ports) query.emplace_back("changes", fmt::format("EXPOSE {}", port));
    co_return co_await import({.bytes = std::move(archive)}, std::move(name), std::move(query),
                              settings_.start_time);
}

Task<> DockerEngine::import(Payload archive, std::string name, Query changes, Duration within) {
    const Traits engine = CO_TRY(co_await traits());
    const auto [repository, tag] = split_image(name);
    // Podman does not look at `tag`, and takes it as a part of the name.
    Query query{
        {"fromSrc", "-"},
        {"repo", engine.dialect == Dialect::podman ? fmt::format("{}:{}", repository, tag) : repository},
        {"tag", tag}};
    query.insert(query.end(), changes.begin(), changes.end());
    constexpr std::size_t said_bytes_max = 64 * 1024;
    std::string said;
    const auto answer = CO_TRY(co_await api_.stream(
        "POST", target("/images/create", query), within, within,
        [&said](std::string_view piece) { said.append(piece.substr(0, said_bytes_max - said.size())); },
        std::move(archive)));
    const auto what = fmt::format("image {} cannot be imported", name);
    if (!answer.success()) co_return std::unexpected(engine_error(answer.status, answer.body, what));
    if (const auto error = pull_error(said))
        co_return fail(Code::unavailable, fmt::format("{}: {}", what, *error));
    co_return Result<>{};
}

}  // namespace hostler::docker
