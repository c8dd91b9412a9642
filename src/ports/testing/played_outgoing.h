// Other people's servers, played: what each answers is a function, and what was sent is kept.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "core/timers.h"
#include "ports/outgoing.h"

namespace hostler::testing {

class PlayedOutgoing final : public Outgoing {
public:
    explicit PlayedOutgoing(Timers& timers) : timers_(timers) {}

    using Server = std::function<Result<HttpAnswer>(const HttpCall&)>;
    using MailServer = std::function<Result<>(const Mail&)>;

    // By the beginning of their URLs, the longest that fits. Where there is none nobody listens.
    std::map<std::string, Server> servers;
    std::map<std::string, MailServer> mail_servers;
    std::vector<HttpCall> sent;  // That a server got, in the order in which they came.
    std::vector<Mail> mailed;
    Duration way{};                                            // There, and the same back.
    std::function<bool()> lose_answer = [] { return false; };  // Asked once a call has arrived.

    Task<HttpAnswer> send(HttpCall call) override {
        CO_TRY(check(call));
        if (way > Duration{}) CO_TRY(co_await sleep(timers_, way));
        const Server* server = find(servers, call.url);
        if (!server) co_return fail(Code::unavailable, "nobody listens at " + call.url);
        sent.push_back(call);
        auto answer = (*server)(call);
        if (way > Duration{}) CO_TRY(co_await sleep(timers_, way));
        if (lose_answer()) co_return fail(Code::timeout, "no answer in time");
        co_return answer;
    }

    Task<> mail(Mail letter) override {
        CO_TRY(check(letter));
        if (way > Duration{}) CO_TRY(co_await sleep(timers_, way));
        const MailServer* server = find(mail_servers, letter.server);
        if (!server) co_return fail(Code::unavailable, "nobody listens at " + letter.server);
        mailed.push_back(letter);
        auto answer = (*server)(letter);
        if (way > Duration{}) CO_TRY(co_await sleep(timers_, way));
        if (lose_answer()) co_return fail(Code::timeout, "no answer in time");
        co_return answer;
    }

private:
    template <class Servers>
    static auto find(const Servers& servers, std::string_view url) -> const typename Servers::mapped_type* {
        const typename Servers::mapped_type* best = nullptr;
        for (const auto& [prefix, server] : servers)
            if (url.starts_with(prefix)) best = &server;  // In order: a longer one comes later.
        return best;
    }

    Timers& timers_;
};

}  // namespace hostler::testing
