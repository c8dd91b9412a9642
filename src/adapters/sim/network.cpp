#include "adapters/sim/network.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::sim {

namespace {

constexpr std::size_t window = 256 * 1024;  // Bytes that may wait in one direction.
constexpr std::size_t backlog_max = 128;    // Connections that nobody has accepted so far.

std::unexpected<Error> gone(std::string_view peer) {
    return fail(Code::unavailable, fmt::format("the connection with {} was lost", peer));
}

}  // namespace

// One direction: what was written on a side, on its way to the other.
struct Way {
    struct Piece {
        std::string bytes;
        bool end = false;  // Nothing more will come.
        Instant at{};
    };
    std::deque<Piece> travelling;
    std::size_t travelling_bytes = 0;
    Instant last{};  // When the last piece arrives: later ones do not overtake it.
    bool waking = false;
    std::string arrived;    // And was not read so far.
    bool finished = false;  // By its writer,
    bool ended = false;     // and its reader knows.
    Signal changed;         // For both.
};

struct Connection {
    std::uint64_t id = 0;
    std::array<std::string, 2> machines;   // 0 dialled, 1 accepted.
    std::array<std::uint64_t, 2> nets{};   // Whose ends they are.
    std::array<std::string, 2> addresses;  // Of each side.
    std::array<Way, 2> ways;               // Written by side 0, by side 1.
    std::array<bool, 2> closed{};          // By its own side.
    std::array<bool, 2> lost{};            // This side knows that it is over.
};

// Where connections come in.
struct Door {
    std::string machine;
    std::uint64_t net = 0;
    std::string address;
    bool own_only = false;
    bool closed = false;
    std::deque<StreamPtr> waiting;
    Signal came;
};

class SimStream final : public Stream {
public:
    SimStream(Network& network, std::shared_ptr<Connection> connection, int side)
        : network_(network), connection_(std::move(connection)), side_(side) {}
    ~SimStream() override { SimStream::close(); }

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        Way& way = connection_->ways[other()];
        if (over()) return gone(address());
        if (into.empty()) return std::size_t{0};
        if (way.arrived.empty()) {
            if (way.ended) return std::size_t{0};
            return std::nullopt;
        }
        const std::size_t size = std::min(into.size(), way.arrived.size());
        way.arrived.copy(into.data(), size);
        way.arrived.erase(0, size);
        way.changed.notify_all();
        return size;
    }

    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        Way& way = connection_->ways[mine()];
        if (over() || way.finished) return gone(address());
        const std::size_t waiting = way.travelling_bytes + way.arrived.size();
        std::size_t room = window > waiting ? window - waiting : 0;
        std::string bytes;
        bool any = false;
        for (const auto& buffer : from) {
            any |= buffer.size() > 0;
            const std::size_t part = std::min(room, buffer.size());
            bytes.append(static_cast<const char*>(buffer.data()), part);
            room -= part;
        }
        if (bytes.empty() && any) return std::nullopt;
        const std::size_t taken = bytes.size();
        if (taken > 0) send({std::move(bytes)});
        return taken;
    }

    Task<> readable() override {
        const auto connection = connection_;
        const Way& way = connection->ways[other()];
        return wait(connection, side_, other(), [&way] { return !way.arrived.empty() || way.ended; });
    }

    Task<> writable() override {
        const auto connection = connection_;
        const Way& way = connection->ways[mine()];
        return wait(connection, side_, mine(),
                    [&way] { return way.travelling_bytes + way.arrived.size() < window; });
    }

    Task<> finish() override {
        if (over()) co_return gone(address());
        Way& way = connection_->ways[mine()];
        if (!std::exchange(way.finished, true)) send({.bytes = {}, .end = true});
        co_return Result<>{};
    }

    void close() override {
        if (std::exchange(connection_->closed[mine()], true)) return;
        if (!connection_->lost[mine()]) send({.bytes = {}, .end = true});
        for (auto& way : connection_->ways) way.changed.notify_all();
    }

    std::string_view address() const override { return connection_->addresses[other()]; }

private:
    std::size_t mine() const { return static_cast<std::size_t>(side_); }
    std::size_t other() const { return 1 - mine(); }
    bool over() const { return connection_->closed[mine()] || connection_->lost[mine()]; }

    void send(Way::Piece piece) {
        Way& way = connection_->ways[mine()];
        piece.at = way.last = std::max(way.last, network_.clock_.now() + network_.travel());
        way.travelling_bytes += piece.bytes.size();
        way.travelling.push_back(std::move(piece));
        network_.deliver(connection_, side_);
    }

    static Task<> wait(std::shared_ptr<Connection> connection, int side, std::size_t way,
                       std::function<bool()> done) {
        const auto me = static_cast<std::size_t>(side);
        while (!connection->closed[me] && !connection->lost[me] && !done())
            CO_TRY(co_await connection->ways[way].changed.wait());
        if (connection->closed[me]) co_return fail(Code::cancelled, "the connection was closed");
        co_return Result<>{};
    }

    Network& network_;
    std::shared_ptr<Connection> connection_;
    int side_;
};

class SimListener final : public Listener {
public:
    explicit SimListener(std::shared_ptr<Door> door) : door_(std::move(door)) {}
    ~SimListener() override { SimListener::close(); }

    Task<StreamPtr> accept() override {
        const auto door = door_;
        while (door->waiting.empty()) {
            if (door->closed) co_return fail(Code::cancelled, "the listener was closed");
            CO_TRY(co_await door->came.wait());
        }
        StreamPtr stream = std::move(door->waiting.front());
        door->waiting.pop_front();
        co_return stream;
    }
    std::string_view address() const override { return door_->address; }
    void close() override {
        door_->closed = true;
        door_->waiting.clear();
        door_->came.notify_all();
    }

private:
    std::shared_ptr<Door> door_;
};

void Network::partition(const std::string& from, const std::string& to, Ways ways) {
    cuts_.insert({from, to});
    if (ways == Ways::both) cuts_.insert({to, from});
}

void Network::heal(const std::string& from, const std::string& to) {
    cuts_.erase({from, to});
    cuts_.erase({to, from});
}

bool Network::reaches(const std::string& from, const std::string& to) const {
    return from == to || !cuts_.contains({from, to});
}

Duration Network::travel() {
    Duration time = faults.latency;
    if (faults.jitter > Duration{})
        time += Duration{
            static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(faults.jitter.count())))};
    if (faults.delay > 0 && dice_.chance(faults.delay))
        time += Duration{
            static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(faults.delay_max.count())))};
    return time;
}

// A piece that meets a cut waits for its end, as TCP would send it again and again.
void Network::deliver(const std::shared_ptr<Connection>& connection, int side) {
    constexpr std::chrono::milliseconds again{200};
    const auto from = static_cast<std::size_t>(side);
    Way& way = connection->ways[from];
    if (way.waking || way.travelling.empty()) return;
    way.waking = true;
    clock_.schedule(way.travelling.front().at, [this, connection, side, from, again] {
        Way& there = connection->ways[from];
        there.waking = false;
        if (there.travelling.empty()) return;
        const std::size_t to = 1 - from;
        if (!reaches(connection->machines[from], connection->machines[to])) {
            there.travelling.front().at = clock_.now() + again;
            return deliver(connection, side);
        }
        Way::Piece piece = std::move(there.travelling.front());
        there.travelling.pop_front();
        there.travelling_bytes -= piece.bytes.size();
        clock_.digest.add(connection->id * 2 + from);
        clock_.digest.add(piece.bytes);
        if (!connection->closed[to]) there.arrived += piece.bytes;
        there.ended |= piece.end;
        // Whoever writes to a closed end hears of it, if a machine is there to say so.
        if (!piece.bytes.empty() && connection->closed[to] && !off_.contains(connection->machines[to]))
            connection->lost[from] = true;
        for (auto& one : connection->ways) one.changed.notify_all();
        deliver(connection, side);
    });
}

void Network::break_now(Connection& connection) {
    connection.lost = {true, true};
    for (auto& way : connection.ways) {
        way.travelling.clear();
        way.travelling_bytes = 0;
        way.arrived.clear();
        way.changed.notify_all();
    }
}

void Network::break_connections(const std::string& machine, double chance, Dice dice) {
    std::erase_if(open_, [](const auto& one) { return one.second.expired(); });
    for (const auto& [id, weak] : open_)
        if (const auto connection = weak.lock();
            connection && std::ranges::count(connection->machines, machine) > 0 && dice.chance(chance))
            break_now(*connection);
}

std::size_t Network::connections() const {
    std::size_t count = 0;
    for (const auto& [id, weak] : open_)
        if (const auto one = weak.lock()) count += !one->closed[0] || !one->closed[1];
    return count;
}

Task<StreamPtr> SimNet::dial(std::string address, Duration deadline) {
    if (cut_) co_return fail(Code::unavailable, "this machine is off");
    const auto colon = address.rfind(':');
    const std::string host = address.substr(0, std::min(colon, address.size()));
    const bool own = host == "127.0.0.1" || host == "localhost" || address.starts_with("unix:");
    const std::string key =
        own ? machine_ + "|" + address.substr(address.starts_with("unix:") ? 0 : colon) : address;
    const std::string target = own ? machine_ : host;
    const Duration there_and_back = network_.travel() + network_.travel();
    const bool silent = network_.off_.contains(target) || !network_.reaches(machine_, target) ||
                        !network_.reaches(target, machine_);
    if (silent || there_and_back > deadline) {
        CO_TRY(co_await sleep(timers_, deadline));
        co_return fail(Code::timeout, fmt::format("{} did not answer in time", address));
    }
    CO_TRY(co_await sleep(timers_, there_and_back));
    const auto found = network_.doors_.find(key);
    const auto door = found == network_.doors_.end() ? nullptr : found->second.lock();
    if (cut_ || !door || door->closed || door->waiting.size() >= backlog_max ||
        network_.dice_.chance(network_.faults.refuse_dial))
        co_return fail(Code::unavailable, fmt::format("{} refuses the connection", address));
    auto connection = std::make_shared<Connection>();
    connection->id = ++network_.last_connection_;
    connection->machines = {machine_, door->machine};
    connection->nets = {id_, door->net};
    connection->addresses = {fmt::format("{}:{}", machine_, 40'000 + connection->id % 20'000), address};
    network_.open_.emplace(connection->id, connection);
    door->waiting.push_back(std::make_unique<SimStream>(network_, connection, 1));
    door->came.notify_one();
    co_return std::make_unique<SimStream>(network_, connection, 0);
}

Task<ListenerPtr> SimNet::listen(std::string address) {
    if (cut_) co_return fail(Code::unavailable, "this machine is off");
    auto door = std::make_shared<Door>();
    door->machine = machine_;
    door->net = id_;
    std::string key;
    if (address.starts_with("unix:")) {
        key = machine_ + "|" + address;
        door->address = address;
    } else {
        const auto colon = address.rfind(':');
        const std::string host = address.substr(0, colon);
        std::string port = address.substr(colon + 1);
        if (port == "0") port = std::to_string(++network_.last_port_);
        door->own_only = host == "127.0.0.1" || host == "localhost";
        door->address = (door->own_only ? "127.0.0.1" : machine_) + ":" + port;
        key = door->own_only ? machine_ + "|:" + port : door->address;
    }
    const auto found = network_.doors_.find(key);
    if (found != network_.doors_.end())
        if (const auto there = found->second.lock(); there && !there->closed)
            co_return fail(Code::unavailable, fmt::format("{} is in use", address));
    network_.doors_[key] = door;
    doors_.push_back(door);
    co_return std::make_unique<SimListener>(std::move(door));
}

Task<StreamPtr> SimNet::secure(StreamPtr raw, Secure how, Side side, Duration deadline) {
    return secure_stream(timers_, std::move(raw), std::move(how), side, deadline);
}

void SimNet::cut(Cut how) {
    if (std::exchange(cut_, true)) return;
    for (const auto& [id, weak] : network_.open_) {
        const auto connection = weak.lock();
        if (!connection) continue;
        for (std::size_t side = 0; side < 2; ++side) {
            if (connection->nets[side] != id_ || connection->closed[side]) continue;
            connection->closed[side] = true;
            Way& way = connection->ways[side];
            if (how == Cut::silence) {
                way.travelling.clear();
                way.travelling_bytes = 0;
            } else {
                // What it had written may arrive; then its peer hears that it is gone.
                way.travelling.push_back(
                    {.bytes = {},
                     .end = true,
                     .at = way.last = std::max(way.last, network_.clock_.now() + network_.travel())});
                network_.deliver(connection, static_cast<int>(side));
            }
            for (auto& one : connection->ways) one.changed.notify_all();
        }
    }
    for (const auto& weak : doors_) {
        const auto door = weak.lock();
        if (!door) continue;
        door->closed = true;
        door->waiting.clear();
        door->came.notify_all();
    }
}

}  // namespace hostler::sim
