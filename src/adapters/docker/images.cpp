// The images of the engine: which are here, and how others come.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/docker/architecture.h"
#include "adapters/docker/engine.h"
#include "adapters/docker/image.h"
#include "adapters/docker/pull.h"
#include "core/log.h"
#include "core/percent.h"
#include "domain/image/image.h"

namespace hostler::docker {

namespace {

// A registry wrote part of it.
std::string printable(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
    return text;
}

}  // namespace

// By its full name alone: an engine that is asked for a short one takes it for the beginning of an image's
// id, too, whoever that image was pulled for.
Task<std::string> DockerEngine::image_facts(std::string image) {
    auto answer = CO_TRY(co_await api_.call(
        "GET", fmt::format("/images/{}/json", percent_encode(full_image_name(image))), settings_.call_time));
    if (answer.status == 404)
        co_return fail(Code::not_found, fmt::format("image {} is not on this host", image),
                       std::string{image_missing});
    if (!answer.success()) co_return std::unexpected(call_error(answer, "cannot look for image " + image));
    co_return std::move(answer.body);
}

Task<bool> DockerEngine::has_image(std::string name) {
    const auto facts = co_await image_facts(std::move(name));
    if (!facts && facts.error().code != Code::not_found) co_return std::unexpected(facts.error());
    co_return facts.has_value();
}

// Here, and of programs that this machine runs. Errors: invalid (image_architecture), unavailable.
Task<bool> DockerEngine::is_usable(std::string image) {
    const auto facts = co_await image_facts(image);
    if (!facts && facts.error().code == Code::not_found) co_return false;
    if (!facts) co_return std::unexpected(facts.error());
    const std::string architecture = image_architecture(*facts);
    if (runs_programs_of(architecture)) co_return true;
    co_return fail(Code::invalid,
                   fmt::format("image {} is for {} machines, and its host is {}", image, architecture,
                               machine_architecture()),
                   "image_architecture");
}

Task<std::vector<std::string>> DockerEngine::image_names() {
    const auto answer = CO_TRY(co_await api_.call("GET", "/images/json", settings_.call_time));
    if (!answer.success()) co_return std::unexpected(call_error(answer, "images cannot be listed"));
    co_return CO_TRY(parse_images(answer.body));
}

// The engine looks the name up once more when it connects, and follows where its registry sends it.
Task<> DockerEngine::check_registry(std::string image) {
    const std::string registry = registry_of(full_image_name(image));
    if (settings_.registries.names(registry)) co_return Result<>{};
    const auto refused = [&](std::string_view why) {
        return fail(Code::forbidden, fmt::format("image {}: {} (--registries)", image, why),
                    "registry_refused");
    };
    if (settings_.registries.only || !settings_.names)
        co_return refused("its registry is not among those that the operator allows");
    const std::string endpoint = registry.contains(':') ? registry : registry + ":443";
    const auto addresses = co_await settings_.names->addresses(endpoint, settings_.names_time);
    if (!addresses && addresses.error().code == Code::cancelled) co_return std::unexpected(addresses.error());
    if (!addresses)
        co_return fail(Code::unavailable, fmt::format("image {}: its registry's name leads nowhere", image),
                       "registry_unreachable");
    const auto networks = CO_TRY(co_await run_on<std::vector<IpRange>>(worker_, networks_of_host));
    if (const std::string why = refusal_of(*addresses, networks); !why.empty()) co_return refused(why);
    co_return Result<>{};
}

Task<> DockerEngine::pull(ImageWanted wanted, PullSeen seen) {
    const std::string image = std::move(wanted.name);
    if (image.empty()) co_return fail(Code::invalid, "no image is named");
    // What comes from no registry is asked of none.
    const Recipe* recipe = find_recipe(settings_.recipes, image);
    const bool local = recipe || image.starts_with("localhost/");
    if ((!wanted.ask || local) && CO_TRY(co_await is_usable(image))) co_return Result<>{};
    if (recipe) co_return co_await make_image(*recipe, std::move(seen));
    if (local)
        co_return fail(
            Code::not_found,
            fmt::format("image {}: it is not on this host, and a name that begins with localhost/ is "
                        "asked of no registry",
                        image),
            "image_unavailable");
    CO_TRY(co_await check_registry(image));
    const auto [name, tag] = split_image(full_image_name(image));
    PullStream told;
    const auto note = [&](std::string_view piece) {
        told.feed(piece);
        if (seen) seen(told.progress());
    };
    const auto answer = co_await api_.stream(
        "POST", target("/images/create", {{"fromImage", name}, {"tag", tag}}), settings_.pull_idle_time,
        settings_.pull_time, note, {}, wanted.login ? registry_auth(*wanted.login) : std::string{});
    if (!answer && answer.error().code == Code::timeout)
        co_return fail(Code::timeout, fmt::format("image {}: its registry is too slow", image),
                       "registry_unreachable");
    if (!answer) co_return std::unexpected(answer.error());
    told.finish();
    auto error = told.error();
    if (!answer->success()) error = error_text(answer->body);
    if (error) {
        // Its words are the operator's to read: they say which machine answered what at which port.
        log_warn("image {}: the container engine says: {}", image, printable(*error));
        co_return std::unexpected(pull_refused(image, *error));
    }
    // An engine that is stopped meanwhile ends its stream as if all were said.
    if (!CO_TRY(co_await is_usable(image)))
        co_return fail(Code::unavailable,
                       fmt::format("image {}: the container engine broke off its pull", image));
    co_return Result<>{};
}

}  // namespace hostler::docker
