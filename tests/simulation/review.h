// An operator after a restore, who has nothing but the API: what `hostler reconcile review` lists is decided
// on, one after the other, until nothing is foreign.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "checkers/estate_check.h"
#include "cloud.h"

namespace hostler::simulation {

class Review {
public:
    explicit Review(Cloud& cloud) : cloud_(cloud), dice_(cloud.world.dice.fork("review")) {}

    // What can be adopted is; of the rest some is kept for a while, and in the end removed. Empty: all is
    // settled. Else what is not.
    std::string settle(Duration time) {
        const Instant until = cloud_.world.timers.now() + time;
        while (cloud_.world.timers.now() < until) {
            const auto open = list("?decision=open");
            if (open)
                for (const std::string& id : *open) decide(id);
            if (open && open->empty() && heard()) {
                const auto rest = list("");
                if (rest && rest->empty() && strays().empty()) return {};
                if (rest)
                    for (const std::string& id : *rest) post(id, "remove");
            }
            cloud_.world.run(5s);
        }
        const auto rest = list("");
        return fmt::format("{} are foreign; {}", rest ? std::to_string(rest->size()) : "nobody says how many",
                           strays());
    }

    int adopted = 0, kept = 0, removed = 0;

private:
    void decide(const std::string& id) {
        if (post(id, "adopt"))
            ++adopted;
        else if (dice_.chance(0.3))
            kept += post(id, "keep") ? 1 : 0;
        else
            removed += post(id, "remove") ? 1 : 0;
    }
    bool post(const std::string& id, const char* decision) {
        const auto answer = cloud_.world.ask(
            cloud_.call(std::string{Cloud::operator_key}, "POST",
                        fmt::format("/v1/foreign-workloads/{}/{}", id, decision),
                        decision == std::string_view{"adopt"} ? "" : R"({"why":"so be it"})"));
        return answer && answer->status == 200;
    }
    // nullopt: nobody answered all of it. Page by page, and the pages are small.
    std::optional<std::vector<std::string>> list(const std::string& query) {
        std::vector<std::string> ids;
        std::string cursor;
        do {
            const auto answer = cloud_.world.ask(cloud_.call(
                std::string{Cloud::operator_key}, "GET",
                fmt::format("/v1/foreign-workloads{}{}limit=2{}", query, query.empty() ? "?" : "&",
                            cursor.empty() ? "" : "&cursor=" + cursor)));
            if (!answer || answer->status != 200) return std::nullopt;
            const auto page = boost::json::parse(answer->body);
            for (const auto& item : page.at("items").as_array()) ids.emplace_back(item.at("id").as_string());
            const auto* next = page.as_object().if_contains("nextCursor");
            cursor = next && next->is_string() ? std::string{next->as_string()} : "";
        } while (!cursor.empty());
        return ids;
    }
    bool heard() {
        const auto now = cloud_.term();
        return now && std::ranges::count_if(now->look().live.hosts, [](const auto& row) {
                          return row.second.connected && row.second.complete;
                      }) == std::ssize(cloud_.hosts);
    }
    // What runs and is no instance's.
    std::string strays() {
        const auto now = cloud_.term();
        if (!now) return "nobody leads";
        for (const std::string& host : cloud_.hosts)
            for (const auto& container : cloud_.world.machine(host).engine.standing()) {
                const Instance* instance =
                    now->look().estate.instances.find(instance_of(container.spec.name));
                if (!instance || is_final(instance->phase))
                    return fmt::format("{} stands on {} and is nobody's", container.spec.name, host);
            }
        return {};
    }

    Cloud& cloud_;
    sim::Dice dice_;
};

}  // namespace hostler::simulation
