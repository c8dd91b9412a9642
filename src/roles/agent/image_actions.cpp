// How the image of a start comes to the host, and to whom it is given.
#include <fmt/format.h>

#include <algorithm>

#include "domain/image/image.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"

namespace hostler::agent {

namespace {

constexpr std::size_t images_max = 1024;

}  // namespace

std::string login_scope(const uplink::StartWorkload& wanted) {
    if (wanted.project().empty() || wanted.project() == "default") return wanted.tenant();
    return wanted.tenant() + "/" + wanted.project();
}

Task<bool> Executor::is_here(std::string image) {
    if (!ports_.images) co_return false;
    auto names = co_await persist(ports_.timers, [&] { return ports_.images->image_names(); });
    if (!names) co_return std::unexpected(because(names.error(), "engine_failed"));
    co_return std::ranges::find(*names, full_image_name(image)) != names->end();
}

// For its project: an image that came by somebody's login is given to others by their registry alone.
Task<> Executor::fetch(JobPtr job, std::string image) {
    const auto& start = job->command.start_workload();
    const std::string scope = login_scope(start);
    ImageWanted wanted{image};
    if (start.has_login())
        wanted.login = {start.login().server(), start.login().username(), start.login().password()};
    wanted.ask = private_images_.is_closed_to(image, scope);
    // What is here and nobody closed is everybody's. No login: so it stays, if somebody removes it meanwhile.
    if (wanted.login && !wanted.ask && CO_TRY(co_await is_here(image))) wanted.login.reset();
    if (wanted.login)
        if (auto closed = co_await private_images_.close(image); !closed)
            co_return std::unexpected(because(closed.error(), "journal_failed"));
    const bool asked = wanted.ask, by_login = wanted.login.has_value();
    CO_TRY(co_await pull(job, std::move(wanted)));
    if (!asked && !by_login) co_return Result<>{};
    if (auto noted = co_await private_images_.given(image, scope, by_login); !noted)
        co_return std::unexpected(because(noted.error(), "journal_failed"));
    co_return Result<>{};
}

Task<> Executor::pull(JobPtr job, ImageWanted wanted) {
    const std::string image = wanted.name;
    progress(*job, "pulling", fmt::format("pulling image {}", image));
    constexpr Duration between = seconds{1};  // Each is a commit of the master's.
    Instant told = ports_.timers.now();
    const auto seen = [&](PullProgress now) {
        if ((now.bytes_known == 0 && now.step.empty()) || ports_.timers.now() - told < between) return;
        told = ports_.timers.now();
        if (!now.step.empty())
            return progress(*job, "pulling", fmt::format("making image {}: {}", image, now.step));
        constexpr double mb = 1e6;
        const std::string layers =
            now.layers_known == 0 ? "" : fmt::format(", {} of {} layers", now.layers, now.layers_known);
        progress(
            *job, "pulling",
            fmt::format("pulling image {}: {:.1f} of {:.1f} MB{}", image, static_cast<double>(now.bytes) / mb,
                        static_cast<double>(now.bytes_known) / mb, layers));
    };
    // A registry that cannot be reached is asked again, more slowly than an engine.
    Result<> refused{};
    const auto ask = [&]() -> Task<> {
        refused = Result<>{};
        auto answer = co_await ports_.engine.pull(wanted, seen);
        if (answer || answer.error().reason != "registry_unreachable") co_return answer;
        refused = std::move(answer);
        co_return Result<>{};
    };
    Result<> pulled;
    Duration wait = settings_.registry_pause;
    for (int tries = 1;; ++tries, wait *= 2) {
        pulled = co_await persist(ports_.timers, ask);
        if (!pulled || refused || tries >= settings_.registry_tries_max) break;
        progress(*job, "pulling",
                 fmt::format("pulling image {}: {}; try {} of {} follows in {} s", image,
                             refused.error().message, tries + 1, settings_.registry_tries_max,
                             std::chrono::duration_cast<seconds>(wait).count()));
        CO_TRY(co_await sleep(ports_.timers, wait));
    }
    if (pulled && !refused)
        refused.error().message +=
            fmt::format(" (asked {} times: registry_tries_max)", settings_.registry_tries_max);
    if (pulled) pulled = std::move(refused);
    if (!pulled) co_return std::unexpected(because(pulled.error(), "image_unavailable"));
    hooks_.pulled(image);
    if (images_.size() >= images_max) images_.clear();
    images_.insert(std::move(image));
    co_return Result<>{};
}

}  // namespace hostler::agent
