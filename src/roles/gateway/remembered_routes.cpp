#include "roles/gateway/remembered_routes.h"

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/route_frames.h"

namespace hostler::gateway {

namespace {

constexpr std::string_view prefix = "routes/";
constexpr Duration write_again = std::chrono::seconds{5};
constexpr std::string_view whole_key = "routes-whole";  // Written last; its value: the sign-in page.

std::string key_of(std::size_t bucket) { return fmt::format("{}{}", prefix, bucket); }

}  // namespace

RememberedRoutes::RememberedRoutes(Journal& journal, Timers& timers, RouteTable& routes)
    : journal_(journal), timers_(timers), routes_(routes) {}

// FNV-1a: the same in each run.
std::size_t RememberedRoutes::bucket_of(std::string_view name) {
    std::uint32_t hash = 2166136261U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash % buckets;
}

std::string RememberedRoutes::recall() {
    const auto& kept = journal_.all();
    const auto whole = kept.find(std::string{whole_key});
    if (whole == kept.end()) return {};
    std::vector<Route> routes;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        const auto at = kept.find(key_of(bucket));
        uplink::Routes read;
        if (at == kept.end() || !read.ParseFromString(at->second)) continue;
        for (const auto& one : read.routes())
            if (auto route = route_of(one)) routes.push_back(std::move(*route));
    }
    log_info("gateway: {} routes are known from before", routes.size());
    (void)routes_.replace(std::move(routes));
    return sign_in_ = whole->second;
}

void RememberedRoutes::replaced(std::string sign_in) {
    sign_in_ = std::move(sign_in);
    complete_ = true;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) dirty_.insert(bucket);
    changed_.notify_all();
}

void RememberedRoutes::note(std::size_t bucket) {
    dirty_.insert(bucket);
    changed_.notify_all();
}

Task<> RememberedRoutes::run() {
    while (true) {
        while (dirty_.empty()) CO_TRY(co_await changed_.wait());
        CO_TRY(co_await sleep(timers_, pause));
        std::array<uplink::Routes, buckets> parts;
        for (const auto& [name, route] : routes_.all())
            if (const std::size_t bucket = bucket_of(name); dirty_.contains(bucket))
                write_route(*route, *parts[bucket].add_routes());
        std::vector<Journal::Entry> entries;
        const auto add = [&](std::string key, std::string text) {
            const auto before = journal_.all().find(key);
            if (before == journal_.all().end() ? !text.empty() || key == whole_key : before->second != text)
                entries.push_back({std::move(key), std::move(text)});
        };
        auto batch = std::exchange(dirty_, {});
        for (const std::size_t bucket : batch) add(key_of(bucket), parts[bucket].SerializeAsString());
        if (complete_) add(std::string{whole_key}, sign_in_);
        if (entries.empty()) continue;
        const auto kept = co_await journal_.put_all(std::move(entries));
        CO_TRY(co_await check_cancelled());
        if (kept) continue;
        log_warn("gateway: routes are not written down yet: {}", kept.error().message);
        dirty_.merge(batch);
        CO_TRY(co_await sleep(timers_, write_again));
    }
}

}  // namespace hostler::gateway
