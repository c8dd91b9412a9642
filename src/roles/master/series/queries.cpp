#include "roles/master/series/queries.h"

#include <optional>

#include "core/signal.h"

namespace hostler::master {

struct Queries::Answer {
    std::optional<Result<std::vector<series::Line>>> lines;
    Signal come;
};

Task<std::vector<series::Line>> Queries::ask(std::string who, series::Query query) {
    const auto own = whose_.find(who);
    if (under_way_ >= all_max || (own != whose_.end() && own->second >= one_max)) {
        ++refused_;
        Error error{Code::exhausted, "too many queries are being answered", "too_many_queries"};
        error.help = "Ask again in a moment, for less or with a longer step.";
        co_return std::unexpected(std::move(error));
    }
    ++under_way_;
    ++whose_[who];
    const auto answer = std::make_shared<Answer>();
    tasks_.start("query", perform(std::move(who), std::move(query), answer));
    const Deadline deadline{timers_, answer_max, [answer] { answer->come.notify_all(); }};
    while (!answer->lines && !deadline.expired()) CO_TRY(co_await answer->come.wait());
    if (!answer->lines)
        co_return fail(Code::timeout, "the query was not answered in time: ask for less, or for fewer hours");
    co_return std::move(*answer->lines);
}

Task<> Queries::perform(std::string who, series::Query query, std::shared_ptr<Answer> into) {
    auto lines = co_await store_.query(std::move(query));
    --under_way_;
    if (--whose_[who] == 0) whose_.erase(who);
    into->lines.emplace(std::move(lines));
    into->come.notify_all();
    co_return Result<>{};
}

}  // namespace hostler::master
