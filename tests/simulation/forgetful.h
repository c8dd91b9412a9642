// An agent that forgets: a mistake that storms find.
#pragma once

#include <algorithm>

#include "cloud.h"

namespace hostler::simulation {

// Shows after a restart none of the keys with this beginning.
class ForgetfulJournal final : public Journal {
public:
    ForgetfulJournal(Journal& journal, std::vector<std::string> forgotten) : journal_(journal) {
        for (const auto& [key, value] : journal.all())
            if (std::ranges::none_of(
                    forgotten, [&](const std::string& beginning) { return key.starts_with(beginning); }))
                seen_[key] = value;
    }
    const std::map<std::string, std::string>& all() const override { return seen_; }
    Task<> put_all(std::vector<Entry> entries) override {
        CO_TRY(co_await journal_.put_all(entries));
        for (auto& [key, value] : entries) seen_[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        CO_TRY(co_await journal_.erase(key));
        seen_.erase(key);
        co_return Result<>{};
    }

private:
    Journal& journal_;
    std::map<std::string, std::string> seen_;
};

inline Mistakes forgetful_agent(std::vector<std::string> forgotten) {
    Mistakes made;
    made.agent_journal = [forgotten](Journal& journal) {
        return std::make_unique<ForgetfulJournal>(journal, forgotten);
    };
    return made;
}

}  // namespace hostler::simulation
