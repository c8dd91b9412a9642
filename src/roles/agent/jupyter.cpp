#include "roles/agent/jupyter.h"

#include <algorithm>
#include <boost/json.hpp>

#include <fmt/format.h>

#include "http/client.h"

namespace hostler::agent {

namespace {

namespace json = boost::json;

constexpr std::size_t answer_bytes_max = 256 * 1024;

std::string_view text_of(const json::object& from, std::string_view name) {
    const auto* found = from.if_contains(name);
    const auto* text = found ? found->if_string() : nullptr;
    return text ? std::string_view{text->data(), text->size()} : std::string_view{};
}

// The shortest among the list's items; nullopt: that is no list of theirs.
std::optional<Duration> unused_in(std::string_view body, WallTime now) {
    boost::system::error_code error;
    const auto parsed = json::parse(body, error);
    const auto* list = error ? nullptr : parsed.if_array();
    if (!list) return std::nullopt;
    Duration unused = Duration::max();
    for (const auto& item : *list) {
        const auto* one = item.if_object();
        if (!one) return std::nullopt;
        if (text_of(*one, "execution_state") == "busy") return Duration{};
        const auto last = parse_rfc3339(text_of(*one, "last_activity"));
        if (!last) return std::nullopt;
        unused = std::min(unused, std::max<Duration>(now - *last, Duration{}));
    }
    return unused;
}

}  // namespace

std::optional<Duration> unused_in_jupyter(std::string_view kernels, std::string_view terminals,
                                          WallTime now) {
    const auto kernel = unused_in(kernels, now);
    const auto terminal = unused_in(terminals, now);
    if (!kernel || !terminal) return std::nullopt;
    return std::min(*kernel, *terminal);
}

Task<Duration> JupyterWatch::ask(std::string address, std::string path) {
    while (path.ends_with('/')) path.pop_back();
    http::Client client{ports_.net, ports_.timers, {.idle_max = 0}};
    const auto get = [&](std::string_view what) -> Task<std::string> {
        http::Request request{.method = "GET", .target = fmt::format("{}/api/{}", path, what)};
        const Duration time = settings_.jupyter_deadline;
        auto answer = CO_TRY(co_await client.fetch(
            {address}, std::move(request), {.connect = time, .head = time, .idle = time, .total = time},
            answer_bytes_max));
        // A server without terminals has no list of them.
        if (answer.status == 404 && what == "terminals") co_return "[]";
        if (answer.status != 200)
            co_return fail(Code::unavailable, fmt::format("it answered {}", answer.status));
        co_return std::move(answer.body);
    };
    const std::string kernels = CO_TRY(co_await get("kernels"));
    const std::string terminals = CO_TRY(co_await get("terminals"));
    const auto unused = unused_in_jupyter(kernels, terminals, ports_.timers.wall());
    if (!unused) co_return fail(Code::invalid, "that is no answer of a Jupyter server");
    co_return *unused;
}

Task<> JupyterWatch::run() {
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, settings_.jupyter_interval));
        std::vector<Workload> servers;
        for (const auto& [instance, workload] : workloads_.all())
            if (workload.jupyter_port != 0 && workload.state == WorkloadState::running && workload.ready)
                servers.push_back(workload);
        for (const Workload& server : servers) {
            const auto unused =
                co_await ask(fmt::format("{}:{}", server.address, server.jupyter_port), server.jupyter_path);
            CO_TRY(co_await check_cancelled());
            activity_.note_jupyter(server.instance, server.jupyter_port,
                                   unused ? std::optional{*unused} : std::nullopt);
        }
    }
}

}  // namespace hostler::agent
