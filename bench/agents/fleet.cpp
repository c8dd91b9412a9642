#include "bench/agents/fleet.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "adapters/net/endpoint.h"
#include "adapters/net/socket.h"
#include "bench/agents/load.h"
#include "core/log.h"
#include "core/version.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"
#include "roles/agent/settings.h"
#include "wire/channel.h"
#include "wire/link.h"

namespace hostler::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// An address of 127.0.0.0/8 for each agent, as hosts have: access points count what an address does.
sockaddr_in own_address(std::size_t index) {
    constexpr std::uint32_t first = 0x7f01'0001;  // 127.1.0.1
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(first + static_cast<std::uint32_t>(index));
    return at;
}

Task<StreamPtr> dial_from(Loop& loop, Timers& timers, sockaddr_in from, std::string address, Duration time) {
    const auto to = CO_TRY(co_await net::resolve(loop, timers, address, time)).front();
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) co_return net::socket_failure("dialling", address, errno);
    auto stream = std::make_unique<net::Socket>(loop, fd, address);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        (::connect(fd, to.raw(), to.size) != 0 && errno != EINPROGRESS))
        co_return net::socket_failure("dialling", address, errno);
    const Deadline limit{timers, time, [&] { stream->close(); }};
    CO_TRY(co_await stream->writable());
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) co_return net::socket_failure("dialling", address, error);
    co_return stream;
}

std::uint64_t stamp_us(Timers& timers) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(timers.now_with_sleep().time_since_epoch())
            .count());
}

}  // namespace

// One agent; it lives as long as the fleet.
class Fleet::Agent {
public:
    Agent(Fleet& fleet, std::size_t index, JoinedHost host)
        : fleet_(fleet),
          index_(index),
          host_(std::move(host)),
          load_(index, fleet.settings_.gpus, fleet.settings_.seed) {}

    // For ever: one connection after the other.
    Task<> live() {
        const auto turn =
            std::chrono::duration<double>{static_cast<double>(index_) / fleet_.settings_.connects_per_second};
        CO_TRY(co_await sleep(fleet_.timers_, std::chrono::duration_cast<Duration>(turn)));
        Duration pause = settings_.backoff_min;
        while (true) {
            const Instant begun = fleet_.timers_.now();
            const auto ended = co_await connection();
            CO_TRY(co_await check_cancelled());
            log_warn("{}: {}", host_.id, ended ? "the connection ended" : ended.error().message);
            if (fleet_.timers_.now() - begun > seconds{30}) pause = settings_.backoff_min;
            CO_TRY(co_await sleep(fleet_.timers_, pause / 2 + chance(pause / 2)));
            pause = std::min(pause * 2, settings_.backoff_max);
        }
    }

    // At its moments, which are spread over the interval; whether or not it is connected.
    Task<> report() {
        while (turn_ == 0) CO_TRY(co_await welcomed_.wait());
        while (true) {
            const Instant due = next_moment();
            CO_TRY(co_await sleep(fleet_.timers_, due - fleet_.timers_.now()));
            if (fleet_.resting_) co_return Result<>{};
            fleet_.note_late(fleet_.timers_.now() - due);
            make_report();
        }
    }

    // As agents do: how far the access point is.
    Task<> measure() {
        while (true) {
            const Duration pause = settings_.measure_then;
            CO_TRY(co_await sleep(fleet_.timers_, pause * 3 / 4 + chance(pause / 2)));
            const auto far = co_await dial();
            CO_TRY(co_await check_cancelled());
        }
    }

private:
    Duration chance(Duration up_to) {
        return up_to * static_cast<std::int64_t>(random_number(fleet_.random_) % 1024) / 1024;
    }

    Task<StreamPtr> dial() {
        return dial_from(fleet_.loop_, fleet_.timers_, own_address(index_), fleet_.settings_.access,
                         settings_.dial_deadline);
    }

    Task<StreamPtr> secure(StreamPtr raw, std::string expect) {
        return fleet_.net_.secure(std::move(raw), {.own = host_.credentials, .expect = std::move(expect)},
                                  Side::client, settings_.dial_deadline);
    }

    Task<> connection() {
        StreamPtr raw = CO_TRY(co_await dial());
        StreamPtr stream = CO_TRY(co_await secure(std::move(raw), "access/"));
        wire::Link access{fleet_.loop_, fleet_.timers_, std::move(stream)};
        TaskGroup tasks{fleet_.loop_};
        tasks.start("uplink", [](wire::Link& on, Duration interval, Duration patience) -> Task<> {
            (void)co_await on.keep_alive(interval, patience);
            co_return Result<>{};
        }(access, settings_.ping_interval, settings_.patience));
        ++fleet_.count_.connections;
        Result<> ended{};
        while (ended) {
            auto frame = co_await access.receive();
            ended = frame ? obey_access(access, tasks, std::move(*frame)) : std::unexpected(frame.error());
        }
        ++fleet_.count_.lost;
        hang_up("the connection ended");
        access.close();
        (void)co_await tasks.close();
        channel_ = nullptr;
        co_return ended;
    }

    Result<> obey_access(wire::Link& access, TaskGroup& tasks, uplink::Frame frame) {
        if (frame.has_goodbye()) return fail(Code::unavailable, frame.goodbye().why());
        if (frame.has_invite()) {
            hang_up("the master invites again");
            number_ = frame.invite().channel();
            channel_ = std::make_unique<wire::Channel>(
                fleet_.loop_, "the master", [to = &access, number = number_](std::string piece) {
                    uplink::Frame sealed;
                    sealed.mutable_sealed()->set_channel(number);
                    sealed.mutable_sealed()->set_bytes(std::move(piece));
                    return to->send(std::move(sealed));
                });
            tasks.start("master", converse(channel_->stream(), &access, &tasks, number_));
        } else if (frame.has_sealed() && channel_ && frame.sealed().channel() == number_) {
            if (frame.sealed().end())
                hang_up("the master has ended the channel");
            else
                (void)channel_->feed(std::move(*frame.mutable_sealed()->mutable_bytes()));
        }
        return {};
    }

    // With the master, to the end of what is said on one channel.
    Task<> converse(StreamPtr raw, wire::Link* access, TaskGroup* tasks, std::uint64_t number) {
        const auto ended = co_await [](Agent& self, StreamPtr inner, TaskGroup* group) -> Task<> {
            StreamPtr stream = CO_TRY(co_await self.secure(std::move(inner), "master/"));
            const auto link =
                std::make_shared<wire::Link>(self.fleet_.loop_, self.fleet_.timers_, std::move(stream));
            group->start("hello", self.greet(link));
            while (true) {
                const uplink::Frame frame = CO_TRY(co_await link->receive());
                if (frame.has_report_ack()) self.acknowledged(frame.report_ack().sequence());
                if (frame.has_agent_welcome()) group->start("hello", self.greet(link));
            }
        }(*this, std::move(raw), tasks);
        CO_TRY(co_await check_cancelled());
        if (number != number_) co_return Result<>{};
        hang_up("it is over");
        uplink::Frame frame;
        frame.mutable_sealed()->set_channel(number);
        frame.mutable_sealed()->set_end(true);
        (void)access->try_send(frame);
        co_return Result<>{};
    }

    Task<> greet(std::shared_ptr<wire::Link> link) {
        uplink::Frame frame;
        auto& hello = *frame.mutable_agent_hello();
        hello.set_version(std::string{version});
        hello.set_boot_id("boot-" + host_.id);
        *hello.mutable_facts() = agent::facts_message(load_.facts(), health::Book{settings_.gpu_test});
        hello.mutable_facts()->set_engine("simulated");
        hello.set_life("life-" + host_.id);
        hello.set_turn(++turns_);
        hello.set_settled(waiting_.empty() ? sequence_ : waiting_.front().report().sequence() - 1);
        hello.set_keeps_leases(true);
        hello.set_stamp_us(stamp_us(fleet_.timers_));
        agent::name_metrics(hello);
        const auto answer = co_await link->ask(std::move(frame), settings_.call_deadline);
        CO_TRY(co_await check_cancelled());
        if (!answer) {
            link->close();
            co_return std::unexpected(answer.error());
        }
        if (!master_) ++fleet_.count_.welcomed;
        master_ = link;
        turn_ = turns_;
        if (const auto ms = answer->agent_welcome().report_interval_ms(); ms > 0)
            interval_ = milliseconds{ms};
        fleet_.count_.sent_again += waiting_.size();
        for (auto& report : waiting_) {
            report.mutable_report()->set_workloads_complete(false);  // It is history.
            send(report);
        }
        welcomed_.notify_all();
        co_return Result<>{};
    }

    void hang_up(const std::string& why) {
        number_ = 0;
        if (channel_) channel_->end({Code::unavailable, why});
        if (!master_) return;
        master_ = nullptr;
        --fleet_.count_.welcomed;
    }

    // The first of its moments that is not too close: after a late report the next comes at its time, or is
    // left out.
    Instant next_moment() const {
        const auto agents = static_cast<std::int64_t>(fleet_.agents_.size());
        const Instant first = fleet_.begun_ + interval_ * static_cast<std::int64_t>(index_) / agents;
        const auto passed = std::max(fleet_.timers_.now() + interval_ / 2 - first, Duration{0});
        return first + (passed / interval_ + 1) * interval_;
    }

    void make_report() {
        uplink::Frame& frame = waiting_.emplace_back();
        uplink::Report& report = *frame.mutable_report();
        const WallTime now = fleet_.timers_.wall();
        const std::int64_t marker = ++fleet_.markers_;
        report.set_sequence(++sequence_);
        report.set_time(now.time_since_epoch().count());
        report.set_made_us(stamp_us(fleet_.timers_));
        report.set_workloads_complete(true);
        load_.sample(report, marker);
        ++fleet_.count_.made;
        if (fleet_.wanted_ && master_) {
            fleet_.wanted_ = false;
            fleet_.marked_ = Marked{host_.id, marker, now};
            fleet_.came_.notify_all();
        }
        send(frame);
    }

    void send(uplink::Frame& frame) {
        if (!master_) return;
        frame.mutable_report()->set_turn(turn_);
        frame.mutable_report()->set_stamp_us(stamp_us(fleet_.timers_));
        if (!master_->try_send(frame)) master_->close();  // Without room: all is sent again.
    }

    void acknowledged(std::uint64_t sequence) {
        while (!waiting_.empty() && waiting_.front().report().sequence() <= sequence) {
            waiting_.pop_front();
            ++fleet_.count_.acknowledged;
        }
    }

    static const inline agent::Settings settings_{};
    Fleet& fleet_;
    const std::size_t index_;
    const JoinedHost host_;
    HostLoad load_;
    std::uint64_t number_ = 0;  // Of the channel.
    std::unique_ptr<wire::Channel> channel_;
    std::shared_ptr<wire::Link> master_;  // Who has welcomed us; null: nobody at the moment.
    std::uint64_t turns_ = 0, turn_ = 0;  // Hellos that were said, and the one that was answered last.
    Duration interval_ = seconds{10};
    std::uint64_t sequence_ = 0;
    std::list<uplink::Frame> waiting_;  // Reports without an answer.
    Signal welcomed_;
};

Fleet::Fleet(Loop& loop, Timers& timers, Net& net, Random& random, FleetSettings settings,
             std::vector<JoinedHost> hosts)
    : loop_(loop),
      timers_(timers),
      net_(net),
      random_(random),
      settings_(std::move(settings)),
      begun_(timers.now()),
      tasks_(loop) {
    for (auto& host : hosts)
        agents_.push_back(std::make_unique<Agent>(*this, agents_.size(), std::move(host)));
    count_.agents = agents_.size();
}

Fleet::~Fleet() = default;

void Fleet::start() {
    for (const auto& agent : agents_) {
        tasks_.start("agent", agent->live());
        tasks_.start("reports", agent->report());
        tasks_.start("round trip", agent->measure());
    }
}

Task<> Fleet::close() { return tasks_.close(); }

void Fleet::note_late(Duration late) {
    const auto ms = std::chrono::duration_cast<milliseconds>(late).count();
    ++late_ms_[static_cast<std::size_t>(std::clamp<std::int64_t>(ms, 0, late_max_ms))];
}

Fleet::Count Fleet::count() {
    Count now = count_;
    std::uint64_t all = 0, within = 0;
    for (const std::uint32_t count : late_ms_) all += count;
    std::size_t ms = 0;
    while (ms < late_max_ms && (within += late_ms_[ms]) * 100 < all * 99) ++ms;
    now.late = milliseconds{ms};
    std::ranges::fill(late_ms_, 0);
    return now;
}

Task<Fleet::Marked> Fleet::mark() {
    marked_.reset();
    wanted_ = true;
    while (!marked_) CO_TRY(co_await came_.wait());
    co_return *marked_;
}

}  // namespace hostler::bench
