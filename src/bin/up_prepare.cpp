// Images that hosts make before anybody asks for them, while the cloud is used already.
#include <algorithm>
#include <cstdio>
#include <set>

#include "bin/up.h"
#include "core/log.h"

namespace hostler::bin {

namespace json = boost::json;

namespace {

constexpr Duration look_interval = std::chrono::seconds{1};

std::string text_of(const json::value& item, const char* name) {
    const json::value* found = item.as_object().if_contains(name);
    return found && found->is_string() ? std::string{found->as_string()} : std::string{};
}

std::int64_t number_of(const json::value& item, const char* name) {
    const json::value* found = item.as_object().if_contains(name);
    return found && found->is_int64() ? found->as_int64() : 0;
}

void say(const std::string& line) {
    fmt::print("  {}\n", line);
    std::fflush(stdout);
}

bool is_everywhere(const json::value& image) {
    return number_of(image, "hosts") > 0 && number_of(image, "present") == number_of(image, "hosts");
}

}  // namespace

// Asks for the templates of --prepare beside what the stock's hosts are to have anyhow.
Task<json::value> Up::ask_for_images() {
    const json::value stock = CO_TRY(co_await call("GET", "/v1/stocks/demo"));
    json::array images, templates;
    for (const json::value& image : stock.at("images").as_array()) {
        const std::string of = text_of(image, "template");
        if (of.empty())
            images.push_back(image.at("image"));
        else
            templates.emplace_back(of);
    }
    const std::size_t before = templates.size();
    for (const std::string& name : settings_.prepare)
        if (std::ranges::find(templates, json::value(name)) == templates.end()) templates.emplace_back(name);
    if (templates.size() == before) co_return stock;
    co_return co_await call("PUT", "/v1/stocks/demo/images",
                            json::object{{"images", images}, {"templates", templates}});
}

Task<> Up::prepare_images() {
    auto asked = co_await ask_for_images();
    if (!asked) {
        log_warn("--prepare: {}", asked.error().message);
        co_return Result<>{};
    }
    json::value stock = std::move(*asked);
    std::set<std::string> said, failed;
    for (std::size_t left = settings_.prepare.size(); left > 0;) {
        left = 0;
        for (const json::value& image : stock.at("images").as_array()) {
            const std::string name = text_of(image, "template");
            if (std::ranges::find(settings_.prepare, name) == settings_.prepare.end()) continue;
            if (is_everywhere(image)) {
                if (said.erase(name) > 0)
                    say(fmt::format(
                        "The image of template {0} is ready: hostler instance create nb --template {0} "
                        "--tenant demo --spec demo --wait",
                        name));
                continue;
            }
            ++left;
            if (said.insert(name).second)
                say(fmt::format(
                    "The image of template {} is being made in the background; that takes minutes.", name));
            if (number_of(image, "failed") > 0 && failed.insert(name).second)
                say(fmt::format("The image of template {} could not be made, and is tried again: {}", name,
                                text_of(image, "message")));
        }
        if (left == 0) break;
        CO_TRY(co_await sleep(*process_.timers, look_interval));
        // A master that starts again is asked again.
        if (auto now = co_await call("GET", "/v1/stocks/demo")) stock = std::move(*now);
    }
    co_return Result<>{};
}

}  // namespace hostler::bin
