#include "bin/containers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "adapters/docker/listing.h"
#include "core/log.h"
#include "core/signal.h"

namespace hostler::bin {

namespace json = boost::json;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int stop_grace_s = 3;
constexpr Duration call_time = seconds{20};

void add(std::vector<std::string>& list, std::string item) {
    if (!item.empty() && std::ranges::find(list, item) == list.end()) list.push_back(std::move(item));
}

std::vector<std::string> strings(const json::value& value, std::string_view key) {
    std::vector<std::string> list;
    const json::object* object = value.if_object();
    const json::value* at = object ? object->if_contains(key) : nullptr;
    if (const json::array* items = at ? at->if_array() : nullptr)
        for (const json::value& item : *items)
            if (item.is_string()) list.emplace_back(item.as_string());
    return list;
}

}  // namespace

Containers::Containers(Process& process, std::string socket, std::filesystem::path list,
                       docker::WallSettings wall)
    : process_(process),
      list_(std::move(list)),
      api_(*process.net, *process.timers, socket),
      worker_(make_worker(process.loop, "containers")),
      networks_(*process.net, *process.timers, *worker_,
                {.socket = socket, .owner = "up", .wall = std::move(wall)}) {}

Task<Containers::Kept> Containers::running(std::vector<std::string> hosts) {
    Kept kept;
    std::set<std::string> told;
    for (const docker::Inspected& there :
         CO_TRY(co_await docker::list_containers(api_, "hostler.host", call_time, told))) {
        if (there.container.state != ContainerState::running) continue;
        const auto label = [&](const std::string& name) {
            const auto found = there.container.labels.find(name);
            return found == there.container.labels.end() ? std::string{} : found->second;
        };
        if (std::ranges::find(hosts, label("hostler.host")) == hosts.end()) continue;
        add(kept.containers, there.id);
        add(kept.networks, label("hostler.network"));
    }
    co_return kept;
}

Containers::Kept Containers::read() const {
    boost::system::error_code error;
    const json::value value = json::parse(read_file(list_), error);
    if (error) return {};
    return {strings(value, "containers"), strings(value, "networks")};
}

Task<> Containers::stop_all(std::vector<std::string> hosts) {
    Kept kept = gone_on_;
    if (!hosts.empty()) kept = CO_TRY(co_await running(std::move(hosts)));
    if (kept.containers.empty()) co_return Result<>{};
    // Some may not have gone on since the last time; they still shall.
    for (std::string& name : read().containers) add(kept.containers, std::move(name));
    const json::object list{{"containers", json::value_from(kept.containers)},
                            {"networks", json::value_from(kept.networks)}};
    CO_TRY(write_file(list_, json::serialize(list)));
    log_info("stopping {} containers, which continue at the next start", kept.containers.size());
    std::size_t under_way = 0;
    Signal one_less;
    TaskGroup group{process_.loop};
    for (const std::string& id : kept.containers) {
        ++under_way;
        group.start(
            "stopping a container",
            [](docker::Api& api, std::string path, std::size_t& left, Signal& done) -> Task<> {
                const auto answer =
                    co_await api.call("POST", std::move(path), call_time + seconds{stop_grace_s});
                if (!answer || (!answer->success() && answer->status != 304 && answer->status != 404))
                    log_warn("a container was not stopped: {}",
                             answer ? docker::error_text(answer->body) : answer.error().message);
                --left;
                done.notify_all();
                co_return Result<>{};
            }(api_, docker::target("/containers/" + id + "/stop", {{"t", std::to_string(stop_grace_s)}}),
                                                                                    under_way, one_less));
    }
    while (under_way > 0) co_await one_less.wait_even_if_cancelled();
    for (const std::string& network : kept.networks) CO_TRY(co_await networks_.unguard(network));
    co_return co_await group.close();
}

Task<> Containers::stop(std::vector<std::string> hosts) {
    // Whoever asks has been cancelled already.
    bool over = false;
    Signal ended;
    TaskGroup group{process_.loop};
    group.start("stopping containers",
                [](Containers& self, std::vector<std::string> of, bool& done, Signal& signal) -> Task<> {
                    auto answer = co_await self.stop_all(std::move(of));
                    done = true;
                    signal.notify_all();
                    co_return answer;
                }(*this, std::move(hosts), over, ended));
    while (!over) co_await ended.wait_even_if_cancelled();
    co_return co_await group.close();
}

Task<> Containers::go_on() {
    const Kept kept = gone_on_ = read();
    for (const std::string& network : kept.networks) CO_TRY(co_await networks_.guard(network));
    for (const std::string& id : kept.containers) CO_TRY(co_await start(id));
    std::filesystem::remove(list_);
    co_return Result<>{};
}

// An engine that is busy with others, or with what its end left behind, may fail once and not again.
Task<> Containers::start(const std::string& id) {
    constexpr int tries_max = 5;
    for (int tries = 1;; ++tries) {
        const auto answer = co_await api_.call("POST", "/containers/" + id + "/start", call_time);
        CO_TRY(co_await check_cancelled());
        if (answer && (answer->success() || answer->status == 304 || answer->status == 404))
            co_return Result<>{};
        log_warn("container {} does not start again: {}", id.substr(0, 12),
                 answer ? docker::error_text(answer->body) : answer.error().message);
        if (tries == tries_max) co_return Result<>{};
        CO_TRY(co_await sleep(*process_.timers, milliseconds{500}));
    }
}

}  // namespace hostler::bin
