// A web server of the test's own, on its loop: it keeps what it is told and answers what it is asked to.
#pragma once

#include <functional>
#include <vector>

#include "adapters/net/net.h"
#include "core/task_group.h"
#include "http/server.h"

namespace hostler::contract {

class Receiver {
public:
    struct Heard {
        http::Request request;
        std::string body;
    };
    using Answer = std::function<Task<http::Response>(const Heard&)>;

    // With credentials by TLS. To be started before and stopped after by its loop.
    Receiver(Loop& loop, Timers& timers, std::shared_ptr<const Credentials> own = {})
        : timers_(timers), net_(net::make_net(loop)), own_(std::move(own)), group_(loop) {}

    Task<> start() {
        listener_ = CO_TRY(co_await net_->listen("127.0.0.1:0"));
        group_.start("receiver", accept(*this));
        co_return Result<>{};
    }
    Task<> stop() { co_return co_await group_.close(); }

    std::string address() const { return std::string{listener_->address()}; }
    int port() const { return std::stoi(address().substr(address().rfind(':') + 1)); }
    Answer answer = [](const Heard&) -> Task<http::Response> { co_return http::Response{.status = 200}; };
    std::vector<Heard> heard;
    std::size_t connections = 0;

private:
    static Task<> accept(Receiver& self) {
        while (true) {
            auto stream = CO_TRY(co_await self.listener_->accept());
            ++self.connections;
            self.group_.start("connection", serve(self, std::move(stream)));
        }
    }
    static Task<> serve(Receiver& self, StreamPtr stream) {
        if (self.own_) {
            auto secured =
                co_await self.net_->secure(std::move(stream), {.own = self.own_, .peer_required = false},
                                           Side::server, std::chrono::seconds{5});
            if (!secured) co_return Result<>{};  // The client did not believe us.
            stream = std::move(*secured);
        }
        const http::Handler handler = [&self](http::Exchange& exchange) { return hear(self, exchange); };
        co_return co_await http::serve(std::move(stream), self.timers_, {}, handler);
    }
    static Task<> hear(Receiver& self, http::Exchange& exchange) {
        std::string body = CO_TRY(co_await exchange.read_all(64 << 20));
        const Heard heard{exchange.request, std::move(body)};
        self.heard.push_back(heard);
        co_return co_await exchange.respond(CO_TRY(co_await self.answer(heard)));
    }

    Timers& timers_;
    std::unique_ptr<Net> net_;
    std::shared_ptr<const Credentials> own_;
    ListenerPtr listener_;
    TaskGroup group_;
};

}  // namespace hostler::contract
