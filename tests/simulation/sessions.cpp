#include "sessions.h"

#include <fmt/format.h>

#include "http/websocket.h"

namespace hostler::simulation {

namespace {

// Counts what is dialled.
class CountingNet final : public Net {
public:
    CountingNet(Net& net, int& dials) : net_(net), dials_(dials) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        auto stream = co_await net_.dial(std::move(address), deadline);
        if (stream) ++dials_;
        co_return stream;
    }
    Task<ListenerPtr> listen(std::string address) override { return net_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return net_.secure(std::move(raw), std::move(how), side, deadline);
    }

private:
    Net& net_;
    int& dials_;
};

// Passes HTTP's answer and a server's WebSocket messages on, and cuts three bytes off the first output.
class ForgetfulStream final : public Stream {
public:
    explicit ForgetfulStream(StreamPtr under) : under_(std::move(under)) {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        while (out_.empty()) {
            std::array<char, 4096> piece{};
            const auto size = TRY(under_->try_read(piece));
            if (!size || *size == 0) return size;
            in_.append(piece.data(), *size);
            pass_on();
        }
        const std::size_t size = out_.copy(into.data(), into.size());
        out_.erase(0, size);
        return size;
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return under_->try_write(from);
    }
    Task<> readable() override {
        if (!out_.empty()) co_return Result<>{};
        co_return co_await under_->readable();
    }
    Task<> writable() override { return under_->writable(); }
    Task<> finish() override { return under_->finish(); }
    void close() override { under_->close(); }
    std::string_view identity() const override { return under_->identity(); }
    std::string_view address() const override { return under_->address(); }

private:
    void pass_on() {
        if (!head_passed_) {
            const auto end = in_.find("\r\n\r\n");
            if (end == std::string::npos) return;
            out_ += in_.substr(0, end + 4);
            in_.erase(0, end + 4);
            head_passed_ = true;
        }
        while (in_.size() >= 2) {
            const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(in_[at]); };
            std::size_t size = byte(1) & 0x7f, head = 2;
            if (size == 126) {
                if (in_.size() < 4) return;
                size = static_cast<std::size_t>(byte(2)) << 8 | byte(3);
                head = 4;
            }
            if (size == 127 || in_.size() < head + size) return;  // No message is so long.
            std::string message = in_.substr(head, size);
            constexpr std::size_t message_head = 9, lost = 3;
            const bool output =
                (byte(0) & 0x0f) == 2 && message.size() >= message_head + lost && message[0] == 1;
            out_ += in_[0];
            if (output && !std::exchange(forgot_, true)) message.resize(message.size() - lost);
            if (message.size() < 126)
                out_ += static_cast<char>(message.size());
            else
                out_ += fmt::format("{}{}{}", '\x7e', static_cast<char>(message.size() >> 8),
                                    static_cast<char>(message.size() & 0xff));
            out_ += message;
            in_.erase(0, head + size);
        }
    }

    StreamPtr under_;
    std::string in_, out_;
    bool head_passed_ = false, forgot_ = false;
};

class ForgetfulNet final : public Net {
public:
    explicit ForgetfulNet(Net& net) : net_(net) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        auto stream = CO_TRY(co_await net_.dial(std::move(address), deadline));
        if (++dials_ <= 2) co_return std::move(stream);  // The terminal and the port, when they begin.
        co_return std::make_unique<ForgetfulStream>(std::move(stream));
    }
    Task<ListenerPtr> listen(std::string address) override { return net_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return net_.secure(std::move(raw), std::move(how), side, deadline);
    }

private:
    Net& net_;
    int dials_ = 0;
};

}  // namespace

std::unique_ptr<Net> forgetful_net(Net& net) { return std::make_unique<ForgetfulNet>(net); }

// One session: what was sent, and what must have come back for it.
struct SessionRide::Talk {
    Talk(cli::CliWorld& world, const cli::Way& way, std::string called, api::Params query)
        : kind(std::move(called)), session(world, way, kind, std::move(query)) {}
    const std::string kind;
    cli::Session session;
    int typed = 0;
    std::string expected;  // Of all that was typed.
    std::string got;
    std::string error;  // Why it ended before it was to.
    bool over = false;
};

SessionRide::SessionRide(std::uint64_t seed, std::function<std::unique_ptr<Net>(Net&)> client_net)
    : cloud{seed},
      dice_(cloud.world.dice.fork("sessions")),
      counting_(std::make_unique<CountingNet>(cloud.world.net, dials_)),
      net_(client_net ? client_net(*counting_) : nullptr) {}

SessionRide::~SessionRide() { cloud.end(); }

cli::CliWorld SessionRide::client_world() {
    cli::CliWorld made{.loop = cloud.world.loop,
                       .net = net_ ? *net_ : *counting_,
                       .timers = cloud.world.timers,
                       .env = [](const std::string&) { return std::nullopt; },
                       .out = [](std::string_view) {},
                       .err = [](std::string_view) {}};
    made.dice = [this] { return static_cast<std::uint32_t>(dice_.next()); };
    return made;
}

bool SessionRide::post(const std::string& target, const std::string& body) {
    const auto answer = cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", target, body));
    return answer && answer->status == 200;
}

bool SessionRide::begin() {
    if (!cloud.begin({"red-team"})) return false;
    if (!post("/stocks", R"({"number":1,"operationID":"s","specName":"one","cpu":"8","memory":"32Gi",)"
                         R"("gpuType":"H100 SXM5 80GB","gpuNum":1})") ||
        !post(
            "/gpu-instances",
            R"({"instanceID":"box","tenantID":"red-team","tenantName":"r","image":"demo:1","specName":"one",)"
            R"("template":{"ports":[{"port":8080,"isProbe":true}]}})"))
        return false;
    const auto runs = [&] {
        const auto now = cloud.term();
        if (!now || now->look().estate.instances.all().empty()) return false;
        instance_ = now->look().estate.instances.all().begin()->first;
        return now->look().estate.instances.at(instance_).phase == InstancePhase::running;
    };
    if (!cloud.world.run_until(runs, 1min)) return false;
    cloud.world.run(5s);  // Until it answers with more than that it is not ready.
    world_ = std::make_unique<cli::CliWorld>(client_world());
    const cli::Way way{.gateway = {.endpoint = {.address = "gw:8443"}, .host = "gw:8443", .prefix = ""},
                       .key = cloud.keys.at("red-team"),
                       .instance = instance_,
                       .tenant = ""};
    talks_.push_back(
        std::make_unique<Talk>(*world_, way, "exec", api::Params{{"command", "cat"}, {"input", "true"}}));
    talks_.push_back(std::make_unique<Talk>(*world_, way, "port", api::Params{{"port", "8080"}}));
    for (const auto& talk : talks_) {
        Result<> opened = cloud.world.ask(talk->session.open());
        for (int tries = 0; !opened && tries < 10; ++tries) {  // As a person would.
            cloud.world.note(opened.error().message);
            cloud.world.run(1s);
            opened = cloud.world.ask(talk->session.open());
        }
        if (!opened) return false;
        cloud.clients.start("connection", talk->session.keep());
        cloud.clients.start("typing", type(*talk));
        cloud.clients.start("listening", listen(*talk));
    }
    return true;
}

Task<> SessionRide::type(Talk& talk) {
    while (!calm_) {
        const int number = ++talk.typed;
        std::string keys;
        if (talk.kind == "exec") {
            keys = fmt::format("{} {}\n", number,
                               std::string(dice_.below(60), static_cast<char>('a' + number % 26)));
            talk.expected += keys;
        } else {
            keys = fmt::format("GET /{} HTTP/1.1\r\nHost: box\r\n\r\n", number);
            const std::string body = fmt::format("hostler-{} /{}\n", instance_, number);
            talk.expected +=
                fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}",
                            body.size(), body);
        }
        if (!co_await talk.session.talk().send(http::Channel::input, std::move(keys))) co_return Result<>{};
        CO_TRY(co_await sleep(cloud.world.timers,
                              std::chrono::milliseconds{static_cast<std::int64_t>(dice_.below(400))}));
    }
    co_return Result<>{};
}

Task<> SessionRide::listen(Talk& talk) {
    while (true) {
        auto message = co_await talk.session.receive();
        CO_TRY(co_await check_cancelled());
        if (!message) {
            talk.error = message.error().message;
            talk.over = true;
            co_return Result<>{};
        }
        if (message->channel == http::Channel::exit) {
            talk.error = "it ended by itself";
            talk.over = true;
        }
        if (message->channel != http::Channel::output) continue;
        talk.got += message->bytes;
        check(talk);
    }
}

void SessionRide::check(Talk& talk) {
    if (talk.expected.starts_with(talk.got)) return;
    std::size_t at = 0;
    while (at < talk.got.size() && at < talk.expected.size() && talk.got[at] == talk.expected[at]) ++at;
    cloud.found.report(Invariant::session,
                       fmt::format("{}: at byte {} '{}' came back in place of '{}'", talk.kind, at,
                                   talk.got.substr(at, 40), talk.expected.substr(at, 40)));
}

void SessionRide::round() {
    cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(1000 + dice_.below(8000))});
    static constexpr std::array<const char*, 4> ways = {"gw", "nj", "lon", "master"};
    const std::string victim = ways[dice_.below(ways.size())];
    const Death death = dice_.chance(0.7) ? Death::kill : Death::power;
    cloud.world.note(fmt::format("{} {}", victim, death == Death::kill ? "is killed" : "loses its power"));
    cloud.world.machine(victim).crash(death);
    cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice_.below(10'000))});
    if (!cloud.world.machine(victim).up()) cloud.world.machine(victim).boot();
}

void SessionRide::finish() {
    cloud.world.run(5s);
    calm_ = true;
    cloud.world.run_until(
        [&] {
            return std::ranges::all_of(talks_, [](const auto& talk) {
                return talk->over || talk->got.size() >= talk->expected.size();
            });
        },
        3min);
    for (const auto& talk : talks_) {
        if (talk->over)
            cloud.found.report(Invariant::session, fmt::format("{} ended: {}", talk->kind, talk->error));
        else if (talk->got != talk->expected)
            cloud.found.report(Invariant::session, fmt::format("{}: {} of {} bytes came back", talk->kind,
                                                               talk->got.size(), talk->expected.size()));
    }
}

}  // namespace hostler::simulation
