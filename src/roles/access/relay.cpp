#include "roles/access/relay.h"

#include <fmt/format.h>

namespace hostler::access {

Result<SessionPtr> Relay::open(std::string host, std::string address, Instant now) {
    if (draining_) return fail(Code::exhausted, "this access point takes no new hosts; use another one");
    if (!host.empty())
        if (const auto of_host = by_host_.find(host);
            of_host != by_host_.end() && of_host->second.size() >= limits_.per_host_max)
            close(sessions_.at(*of_host->second.begin()), "a newer connection of this host took its place");
    if (sessions_.size() >= limits_.sessions_max)
        return fail(Code::exhausted, "this access point has as many agents as it may; use another one");
    auto session = std::make_shared<Session>();
    session->number = ++last_;
    session->host = std::move(host);
    session->address = std::move(address);
    session->heard = now;
    sessions_.emplace(session->number, session);
    if (!session->host.empty()) by_host_[session->host].insert(session->number);
    if (linked_) {
        begun_.push_back(session);
        filled_.notify_all();
    }
    return session;
}

void Relay::close(SessionPtr session, std::string why) {
    if (session->over()) return;
    session->why = why.empty() ? "it ended" : std::move(why);
    sessions_.erase(session->number);
    if (const auto of_host = by_host_.find(session->host); of_host != by_host_.end()) {
        of_host->second.erase(session->number);
        if (of_host->second.empty()) by_host_.erase(of_host);
    }
    // What it said and the master has not got is said again: agents keep it until it is acknowledged.
    session->up.clear();
    session->up_bytes = 0;
    session->up_drained.notify_all();
    session->down_filled.notify_all();
    if (auto hang_up = std::exchange(session->hang_up, nullptr)) hang_up();
    if (announced_.erase(session->number) > 0) {
        ended_.push_back({session->number, session->why});
        filled_.notify_all();
    }
}

void Relay::close_host(std::string_view host, std::string_view why) {
    const auto of_host = by_host_.find(host);
    if (of_host == by_host_.end()) return;
    const auto numbers = of_host->second;
    for (const auto number : numbers) close(sessions_.at(number), std::string{why});
}

SessionPtr Relay::find(std::uint64_t number) const {
    const auto found = sessions_.find(number);
    return found == sessions_.end() ? nullptr : found->second;
}

SessionPtr Relay::newest(const std::string& host) const {
    const auto of_host = by_host_.find(host);
    return of_host == by_host_.end() ? nullptr : sessions_.at(*of_host->second.rbegin());
}

Task<> Relay::push_up(SessionPtr session, std::string frame) {
    while (!session->over() && session->up_bytes > 0 &&
           session->up_bytes + frame.size() > limits_.up_bytes_max)
        CO_TRY(co_await session->up_drained.wait());
    if (session->over()) co_return fail(Code::unavailable, session->why);
    session->up_bytes += frame.size();
    session->up.push_back(std::move(frame));
    if (session->up.size() == 1) enqueue(session);
    co_return Result<>{};
}

bool Relay::push_down(std::uint64_t number, std::string frame) {
    const auto session = find(number);
    if (!session) return false;
    if (session->down_bytes > 0 && session->down_bytes + frame.size() > limits_.down_bytes_max) {
        close(session, "it takes frames too slowly");
        return false;
    }
    session->down_bytes += frame.size();
    session->down.push_back(std::move(frame));
    session->down_filled.notify_all();
    return true;
}

Task<std::string> Relay::pop_down(SessionPtr session) {
    while (session->down.empty() && !session->over()) CO_TRY(co_await session->down_filled.wait());
    if (session->over()) co_return fail(Code::unavailable, session->why);
    std::string frame = std::move(session->down.front());
    session->down.pop_front();
    session->down_bytes -= frame.size();
    co_return frame;
}

std::optional<Relay::Item> Relay::next() {
    if (!linked_) return std::nullopt;
    if (!ended_.empty()) {
        Ended ended = std::move(ended_.front());
        ended_.pop_front();
        return ended;
    }
    while (!begun_.empty()) {
        auto session = std::move(begun_.front());
        begun_.pop_front();
        if (session->over()) continue;
        announced_.insert(session->number);
        if (!session->up.empty()) turns_.push_back(session);
        return Begun{std::move(session)};
    }
    while (!turns_.empty()) {
        const auto session = std::move(turns_.front());
        turns_.pop_front();
        if (session->over() || session->up.empty()) continue;
        Said said{session->number, std::move(session->up.front())};
        session->up.pop_front();
        session->up_bytes -= said.frame.size();
        session->up_drained.notify_all();
        if (!session->up.empty()) turns_.push_back(session);
        return said;
    }
    return std::nullopt;
}

void Relay::link_up() {
    link_down();
    linked_ = true;
    for (const auto& [number, session] : sessions_) begun_.push_back(session);
    filled_.notify_all();
}

void Relay::link_down() {
    linked_ = false;
    announced_.clear();
    begun_.clear();
    ended_.clear();
    turns_.clear();
}

void Relay::enqueue(const SessionPtr& session) {
    if (!announced_.contains(session->number)) return;  // It gets its turn when it is announced.
    turns_.push_back(session);
    filled_.notify_all();
}

}  // namespace hostler::access
