#include "roles/master/stock/images.h"

#include <fmt/format.h>

#include "api/types_stock.h"
#include "core/counted.h"
#include "domain/image/image.h"
#include "roles/master/command/commands.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/stock/specs.h"
#include "roles/master/template/templates.h"

namespace hostler::master {

namespace {

constexpr std::int64_t rest_min_us = 10'000'000, rest_max_us = 600'000'000;
constexpr std::int64_t done_rest_us = 60'000'000;  // For the host to say that it has it.

// The names under which a stock wants images; the template they are of, if they are.
std::vector<PreparedImage> wanted_of(const Desk& desk, const StockImages& row) {
    std::vector<PreparedImage> wanted;
    for (const std::string& image : row.images) wanted.push_back({.image = image, .template_name = ""});
    for (const std::string& name : row.templates) {
        const InstanceTemplate* from = find_template(desk.settings.templates, name);
        wanted.push_back({.image = from ? from->image : "", .template_name = name});
    }
    return wanted;
}

std::set<std::string> hosts_of(const Desk& desk, const std::string& spec) {
    std::set<std::string> hosts;
    for (const Slot* slot : desk.estate.slots.by().spec.of(spec))
        if (!slot->claim.empty()) hosts.insert(desk.estate.claims.at(slot->claim).host);
    return hosts;
}

// A name for the journal of the host, whose names are short: FNV-1a of the image's.
std::string subject_of(const std::string& host, const std::string& image) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : image) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("image-{:016x}-{}", hash, host);
}

using OnHost = std::pair<std::string, std::string>;  // Host and image.

std::set<OnHost> under_way(const Desk& desk) {
    std::set<OnHost> all;
    for (const HostCommand* command : desk.estate.commands.by().verb.of(Verb::pull_image))
        all.emplace(command->host, command->image);
    return all;
}

// A host that says nothing about images is asked for none: nobody would know when to stop.
bool takes_images(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    const auto live = desk.live.hosts.find(id);
    return host && unavailable(desk, *host).empty() && live != desk.live.hosts.end() &&
           live->second.connected && live->second.images;
}

}  // namespace

Result<> prepare_stock(Desk& desk, const api::PrepareStock& request) {
    TRY(spec_named(desk, request.spec));
    Error wrong{Code::invalid, "there is no such template", "template_not_found"};
    for (std::size_t i = 0; i < request.templates.size(); ++i)
        if (!find_template(desk.settings.templates, request.templates[i]))
            wrong.fields.push_back({fmt::format("templates[{}]", i),
                                    fmt::format("there is no template {}", request.templates[i])});
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    const StockImages* before = desk.estate.stock_images.find(request.spec);
    if (before ? before->images == request.images && before->templates == request.templates
               : request.images.empty() && request.templates.empty())
        return {};
    if (request.images.empty() && request.templates.empty()) {
        desk.estate.stock_images.erase(request.spec);
    } else if (before) {
        StockImages& row = desk.estate.stock_images.edit(request.spec);
        row.images = request.images;
        row.templates = request.templates;
    } else {
        desk.estate.stock_images.add(
            {.spec = request.spec, .images = request.images, .templates = request.templates, .meta = {}});
    }
    const std::size_t images = request.images.size() + request.templates.size();
    desk.estate.event("stock", request.spec, "", "images_changed",
                      fmt::format("Its hosts are to have {} in advance.", counted(images, "image")));
    return {};
}

std::vector<PreparedImage> prepared_images(const Desk& desk, const std::string& spec) {
    const StockImages* row = desk.estate.stock_images.find(spec);
    if (!row) return {};
    const auto hosts = hosts_of(desk, spec);
    const auto pulling = under_way(desk);
    auto all = wanted_of(desk, *row);
    for (PreparedImage& one : all) {
        one.hosts = static_cast<int>(hosts.size());
        if (one.image.empty()) {
            one.failed = one.hosts;
            one.reason = "template_not_found";
            one.message = fmt::format("there is no template {}", one.template_name);
            continue;
        }
        for (const std::string& host : hosts) {
            const auto failure = desk.live.pull_failures.find({host, one.image});
            if (has_image(desk, host, one.image)) {
                ++one.present;
            } else if (pulling.contains({host, one.image})) {
                ++one.pulling;
            } else if (failure != desk.live.pull_failures.end()) {
                ++one.failed;
                one.reason = failure->second.reason;
                one.message = fmt::format("host {}: {}", host, failure->second.message);
            }
        }
    }
    return all;
}

void reconcile_images(Desk& desk) {
    if (desk.estate.stock_images.all().empty()) {
        desk.live.pull_failures.clear();
        return;
    }
    const auto pulling = under_way(desk);
    std::set<OnHost> wanted;
    std::map<std::string, std::size_t> of_host;
    std::size_t all = pulling.size();
    for (const auto& [host, image] : pulling) ++of_host[host];
    for (const auto& [spec, row] : desk.estate.stock_images.all()) {
        const auto images = wanted_of(desk, row);
        for (const std::string& host : hosts_of(desk, spec)) {
            for (const PreparedImage& one : images) {
                if (one.image.empty() || has_image(desk, host, one.image)) continue;
                if (!wanted.emplace(host, one.image).second || pulling.contains({host, one.image})) continue;
                const std::string subject = subject_of(host, one.image);
                const auto failure = desk.live.pull_failures.find({host, one.image});
                const bool rests = failure != desk.live.pull_failures.end() &&
                                   desk.estate.micros() < failure->second.rest_until;
                if (rests || resting(desk, subject) || !takes_images(desk, host)) continue;
                if (all >= desk.settings.pulls_ahead_max ||
                    of_host[host] >= desk.settings.pulls_ahead_host_max)
                    continue;
                ++all, ++of_host[host];
                command(desk, host, Verb::pull_image, subject, 1, one.image);
            }
        }
    }
    desk.live.pull_failures.erase_if([&](const auto& row) { return !wanted.contains(row.first); });
}

void note_pull(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const OnHost what{command.host, command.image};
    if (answer.done) {
        desk.live.pull_failures.erase(what);
        auto& images = desk.live.hosts[command.host].images;
        if (images) images->insert(full_image_name(command.image));
        desk.live.rest_until[command.subject] = desk.estate.micros() + done_rest_us;
        return;
    }
    if (refused_unread(answer)) return;
    PullFailure& failure = desk.live.pull_failures[what];
    const int doublings = std::min(failure.times++, 6);
    failure.reason = answer.reason.empty() ? "image_unavailable" : answer.reason;
    failure.message = answer.message;
    failure.rest_until = desk.estate.micros() + std::min(rest_min_us << doublings, rest_max_us);
    if (failure.times == 1)
        desk.estate.event("host", command.host, "", failure.reason,
                          fmt::format("Image {} did not come in advance: {}", command.image, answer.message));
}

}  // namespace hostler::master
