#include "adapters/net/names.h"

#include <algorithm>

#include "adapters/net/endpoint.h"

namespace hostler::net {

namespace {

class SystemNames final : public Names {
public:
    SystemNames(Loop& loop, Timers& timers) : loop_(loop), timers_(timers) {}

    Task<std::vector<std::string>> addresses(std::string name, Duration deadline) override {
        std::vector<std::string> all;
        for (const Endpoint& endpoint : CO_TRY(co_await resolve(loop_, timers_, std::move(name), deadline)))
            if (std::string text = endpoint.text(); std::ranges::count(all, text) == 0)
                all.push_back(std::move(text));
        co_return all;
    }

private:
    Loop& loop_;
    Timers& timers_;
};

}  // namespace

std::unique_ptr<Names> make_names(Loop& loop, Timers& timers) {
    return std::make_unique<SystemNames>(loop, timers);
}

}  // namespace hostler::net
