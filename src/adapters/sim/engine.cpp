#include "adapters/sim/engine.h"

#include <fmt/format.h>

#include <deque>

#include "core/log_lines.h"
#include "domain/image/image.h"

namespace hostler::sim {

struct SimEngine::Box {
    explicit Box(Loop& loop) : tasks(loop) {}
    ContainerSpec spec;
    Container seen;
    std::optional<Error> failure;
    std::deque<std::pair<WallTime, std::string>> log;  // Lines.
    bool log_cut = false;                              // Others were before them.
    std::string responder;                             // "127.0.0.1:41233"
    Instant began{}, ready{};
    std::string written;
    bool stopping = false;
    MemoryKills kills;
    Signal changed;
    TaskGroup tasks;  // Of what runs in it.
};

// Somebody who is told what happens.
struct SimEngine::Follower {
    Follower(std::vector<Follower*>& all, std::string of_label, std::string of_value)
        : label(std::move(of_label)), value(std::move(of_value)), all_(all) {
        all_.push_back(this);
    }
    ~Follower() { std::erase(all_, this); }
    Follower(const Follower&) = delete;
    std::string label, value;
    std::uint64_t happened = 0;
    Signal more;

private:
    std::vector<Follower*>& all_;
};

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t log_lines_max = 1000;  // Of a container.

bool says(const std::string& image, std::string_view word) { return image.find(word) != std::string::npos; }

bool nobody_has(const std::string& image) { return says(image, "missing") || says(image, "nobody-has"); }

std::unexpected<Error> no_image(const std::string& image) {
    return fail(Code::not_found, fmt::format("no registry has the image {}", image), "image_unavailable");
}

// The container's address in front of its port, for what is dialled.
class ContainerNet final : public Net {
public:
    ContainerNet(SimEngine& engine, Net& below) : engine_(engine), below_(below) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        const auto colon = address.rfind(':');
        const std::string host = address.substr(0, std::min(colon, address.size()));
        if (engine_.refuses(host)) return refuse(std::move(address));
        const std::string there = engine_.responder(host);
        return below_.dial(there.empty() ? address : there, deadline);
    }
    Task<ListenerPtr> listen(std::string address) override { return below_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return below_.secure(std::move(raw), std::move(how), side, deadline);
    }

private:
    static Task<StreamPtr> refuse(std::string address) {
        co_return fail(Code::unavailable, fmt::format("dialling {}: Connection refused", address));
    }
    SimEngine& engine_;
    Net& below_;
};

}  // namespace

SimEngine::SimEngine(Loop& loop, Timers& timers, Net& net, Dice dice)
    : loop_(loop), timers_(timers), net_(net), dice_(dice), news_dice_(dice.fork("news")), tasks_(loop) {}

SimEngine::~SimEngine() {
    for (auto& [name, box] : boxes_) box->tasks.cancel();
}

Task<> SimEngine::close() {
    co_await tasks_.close();
    for (auto& [name, box] : boxes_) co_await box->tasks.close();
    co_return Result<>{};
}

std::unique_ptr<Net> SimEngine::container_net(Net& below) {
    return std::make_unique<ContainerNet>(*this, below);
}

std::string SimEngine::responder(const std::string& address) const {
    for (const auto& [name, box] : boxes_)
        if (!address.empty() && box->spec.address == address && box->seen.state == ContainerState::running)
            return box->responder;
    return {};
}

bool SimEngine::refuses(const std::string& address) const {
    return !address.empty() && std::ranges::any_of(boxes_, [&](const auto& one) {
        const Box& box = *one.second;
        return box.spec.address == address && box.seen.state == ContainerState::running &&
               says(box.spec.image, "loopback");
    });
}

std::vector<SimEngine::Standing> SimEngine::standing() const {
    std::vector<Standing> all;
    for (const auto& [name, box] : boxes_) all.push_back({box->spec, box->seen.state, box->written});
    return all;
}

// Half of the CPU that it may have, and traffic where it has a network.
std::optional<InstanceSample> SimEngine::sample_of(const std::string& id) const {
    for (const auto& [name, box] : boxes_) {
        if (box->seen.id != id || box->seen.state != ContainerState::running) continue;
        const Duration ran = timers_.now() - box->began;
        if (ran < times.measured) return std::nullopt;
        const std::int64_t ms = std::chrono::duration_cast<milliseconds>(ran).count();
        const ContainerSpec& spec = box->spec;
        InstanceSample sample{
            .cpu_ms = ms * (spec.cpu_milli > 0 ? spec.cpu_milli : 1000) / 2000,
            .memory_bytes = spec.memory_bytes > 0 ? spec.memory_bytes / 4 : std::int64_t{64} << 20,
            .disk_read_bytes = ms * 20,
            .disk_written_bytes = ms * 10};
        if (spec.network.empty()) return sample;
        sample.network_sent_bytes = ms * 100;
        sample.network_received_bytes = ms * 300;
        return sample;
    }
    return std::nullopt;
}

bool SimEngine::runs(const std::string& name) const {
    const auto found = boxes_.find(name);
    return found != boxes_.end() && found->second->seen.state == ContainerState::running;
}

Task<> SimEngine::answer() {
    constexpr seconds patience{30};
    CO_TRY(co_await sleep(timers_,
                          faults.down ? std::min<Duration>(times.call, patience) : times.call + faults.slow));
    if (faults.down) co_return fail(Code::unavailable, "the engine does not answer");
    co_return Result<>{};
}

Task<EngineFacts> SimEngine::describe() {
    CO_TRY(co_await answer());
    co_return EngineFacts{.name = "simulated engine",
                          .cgroup_version = 2,
                          .simulated = true,
                          .user_namespaces = UserNamespaces::chosen};
}

Task<> SimEngine::pull(ImageWanted image, PullSeen) {
    CO_TRY(co_await answer());
    if (images_.contains(image.name) && !image.ask) co_return Result<>{};
    CO_TRY(co_await sleep(timers_, times.pull));
    if (nobody_has(image.name)) co_return no_image(image.name);
    // Its registry gives it to one user, of whatever cloud.
    if (says(image.name, "private") && (!image.login || image.login->password != "opensesame"))
        co_return fail(Code::forbidden, fmt::format("image {}: its registry wants a login", image.name),
                       "image_unauthorized");
    images_.insert(std::move(image.name));
    co_return Result<>{};
}

Task<std::vector<std::string>> SimEngine::image_names() {
    CO_TRY(co_await answer());
    std::set<std::string> names;
    for (const auto& image : images_) names.insert(full_image_name(image));
    co_return std::vector<std::string>{names.begin(), names.end()};
}

Result<> SimEngine::admit(const ContainerSpec& spec) {
    if (!images_.contains(spec.image))
        return fail(Code::not_found, fmt::format("the image {} is not on this host", spec.image),
                    std::string{image_missing});
    if (spec.layer == LayerStart::kept && !kept_.contains(spec.name)) {
        layers_missed.insert(spec.name);
        return fail(Code::not_found,
                    fmt::format("the files written by container {} are not on this host", spec.name),
                    std::string{layer_missing});
    }
    if (says(spec.image, "refused"))
        return fail(Code::invalid, fmt::format("the engine refuses {}", spec.image));
    if (spec.entrypoint && spec.entrypoint->empty() && spec.command.empty())
        return fail(Code::invalid, "there is nothing to run: no command, and the entry point is replaced");
    for (const auto& device : spec.cdi_devices)
        if (!devices.contains(device))
            return fail(Code::not_found, fmt::format("there is no CDI device {}", device));
    if (spec.address.empty()) return {};
    for (const auto& [name, box] : boxes_)
        if (box->spec.address == spec.address && box->seen.state != ContainerState::exited)
            return fail(Code::conflict, fmt::format("the address {} belongs to {}", spec.address, name),
                        std::string{address_taken});
    return {};
}

// The engine goes on with a start whose caller has died.
Task<Container> SimEngine::launch(ContainerSpec spec) {
    CO_TRY(co_await answer());
    auto found = boxes_.find(spec.name);
    if (found == boxes_.end()) {
        CO_TRY(admit(spec));
        auto box = std::make_shared<Box>(loop_);
        box->seen = {.name = spec.name, .labels = spec.labels, .id = "sim-" + spec.name};
        box->spec = std::move(spec);
        found = boxes_.emplace(box->spec.name, box).first;
        count_networks();
        tasks_.start("engine", bring_up(box));
    } else if (found->second->spec.labels != spec.labels) {
        co_return fail(Code::conflict, fmt::format("a container {} exists with other labels", spec.name),
                       std::string{name_taken});
    }
    const BoxPtr box = found->second;
    while (box->seen.state == ContainerState::created && !box->failure) CO_TRY(co_await box->changed.wait());
    if (box->failure) co_return std::unexpected(*box->failure);
    co_return box->seen;
}

Task<> SimEngine::bring_up(BoxPtr box) {
    CO_TRY(co_await sleep(timers_, times.start));
    const bool there = boxes_.contains(box->spec.name) && boxes_.at(box->spec.name) == box;
    if (!there || dice_.chance(faults.refuse_start)) {
        box->failure = there ? Error{Code::invalid, "the engine could not start it: OCI runtime error"}
                             : Error{Code::conflict, "it was removed while it started"};
        if (there) boxes_.erase(box->spec.name);
        if (there && box->spec.layer_end == LayerEnd::lost) kept_.erase(box->spec.name);
        count_networks();
        box->changed.notify_all();
        co_return Result<>{};
    }
    auto listener = co_await net_.listen("127.0.0.1:0");
    if (!listener) co_return std::unexpected(std::move(listener).error());
    box->responder = (*listener)->address();
    box->ready = timers_.now() + (says(box->spec.image, "slow") ? Duration{seconds{30}} : times.ready);
    box->began = timers_.now();
    box->seen.state = ContainerState::running;
    const auto before = kept_.extract(box->spec.name);
    if (before && box->spec.layer == LayerStart::kept) box->written = before.mapped();
    const auto generation = box->spec.labels.find("hostler.generation");
    box->written += (generation == box->spec.labels.end() ? "?" : generation->second) + " ";
    say(box, "runs");
    box->tasks.start("container", [](SimEngine& engine, BoxPtr in, ListenerPtr door) -> Task<> {
        while (true) {
            auto stream = CO_TRY(co_await door->accept());
            in->tasks.start("container", engine.serve(in, std::move(stream)));
        }
    }(*this, box, std::move(*listener)));
    const auto& command = box->spec.command;
    if (command.size() == 2 && command[0] == "exit") {
        box->log.emplace_back(timers_.wall(), "leaving\n");
        box->tasks.start("container", end_later(box, milliseconds{10}, std::atoi(command[1].c_str())));
    } else if (command.size() == 3 && command[0] == "work") {
        const seconds works{std::atoi(command[1].c_str())};
        box->tasks.start("container", end_later(box, works, std::atoi(command[2].c_str())));
    } else if (says(box->spec.image, "exits")) {
        box->log.emplace_back(timers_.wall(), "leaving\n");
        box->tasks.start("container", end_later(box, seconds{1}, 1));
    }
    box->changed.notify_all();
    co_return Result<>{};
}

Task<> SimEngine::end_later(BoxPtr box, Duration time, int code) {
    CO_TRY(co_await sleep(timers_, time));
    end(box, code);
    co_return Result<>{};
}

void SimEngine::end(const BoxPtr& box, int code) {
    if (box->seen.state != ContainerState::running) return;
    box->seen.state = ContainerState::exited;
    box->seen.exit_code = code;
    say(box, "ends");
    box->tasks.cancel();
    box->changed.notify_all();
    ended.notify_all();
}

Task<StopEnd> SimEngine::stop(std::string name, Duration grace) {
    CO_TRY(co_await answer());
    const auto found = std::ranges::find_if(
        boxes_, [&](const auto& box) { return name == box.first || name == box.second->seen.id; });
    if (found == boxes_.end()) co_return StopEnd::ended;
    const BoxPtr box = found->second;
    while (box->seen.state == ContainerState::created && !box->failure) CO_TRY(co_await box->changed.wait());
    if (box->seen.state != ContainerState::running) co_return StopEnd::ended;
    const Instant asked = timers_.now();
    if (!std::exchange(box->stopping, true)) {
        box->log.emplace_back(timers_.wall(), "SIGTERM\n");
        const bool stubborn = says(box->spec.image, "stubborn");
        tasks_.start("engine",
                     end_later(box, stubborn ? grace : std::min(grace, times.stop), stubborn ? 137 : 0));
    }
    while (box->seen.state == ContainerState::running) CO_TRY(co_await box->changed.wait());
    co_return box->seen.exit_code == 137 && timers_.now() - asked >= grace ? StopEnd::killed : StopEnd::ended;
}

Task<std::vector<KeptLayer>> SimEngine::kept() {
    CO_TRY(co_await answer());
    std::vector<KeptLayer> all;
    for (const auto& [name, written] : kept_) all.push_back({name, 64 << 20, 1});
    co_return all;
}

// The disk is asked, which answers while the engine does not.
Task<std::map<std::string, DiskUse>> SimEngine::uses() {
    constexpr std::int64_t inode_bytes = 512;
    std::map<std::string, DiskUse> all;
    for (const auto& [name, box] : boxes_) {
        const std::int64_t total = box->spec.disk_bytes;
        if (total <= 0) continue;
        const auto used =
            std::min<std::int64_t>(total, total / 50 + static_cast<std::int64_t>(box->written.size()));
        all[name] = {.used_bytes = used,
                     .total_bytes = total,
                     .used_inodes = std::min<std::int64_t>(4, total / 4 / inode_bytes),
                     .total_inodes = total / 4 / inode_bytes};
    }
    co_return all;
}

Task<std::size_t> SimEngine::make_ahead(std::size_t count, std::uint64_t) {
    CO_TRY(co_await answer());
    co_return layers_ahead = count;
}

Task<> SimEngine::remove(std::string name, LayerEnd layer) {
    CO_TRY(co_await answer());
    if (layer == LayerEnd::lost) kept_.erase(name);
    const auto found = boxes_.find(name);
    if (found == boxes_.end()) co_return Result<>{};
    const BoxPtr box = found->second;
    end(box, 137);
    if (layer == LayerEnd::kept && !box->written.empty()) kept_[name] = box->written;
    boxes_.erase(found);
    count_networks();
    say(box, "is removed");
    co_return Result<>{};
}

Task<std::vector<Container>> SimEngine::list(std::string label, std::string value) {
    CO_TRY(co_await answer());
    std::vector<Container> all;
    for (const auto& [name, box] : boxes_) {
        const auto found = box->spec.labels.find(label);
        if (found == box->spec.labels.end() || found->second != value) continue;
        all.push_back(box->seen);
        if (faults.unseen.contains(name))
            all.back() = {.name = "",
                          .labels = {},
                          .state = ContainerState::running,
                          .error = "the engine cannot look at it",
                          .id = box->seen.id};
    }
    co_return all;
}

// As podman: what happens while a follower begins may stay untold, and news take their time.
Task<> SimEngine::follow(std::string label, std::string value, std::function<void(EngineNews)> tell) {
    CO_TRY(co_await answer());
    tell(EngineNews::follows);
    CO_TRY(co_await sleep(timers_, times.untold));
    Follower follower{followers_, std::move(label), std::move(value)};
    std::uint64_t told = 0;
    bool deaf = false;
    while (true) {
        while (told == follower.happened) CO_TRY(co_await follower.more.wait());
        CO_TRY(co_await sleep(timers_, times.news + faults.late_news));
        if (faults.down) co_return fail(Code::unavailable, "the engine does not answer");
        if (faults.end_news > 0 && news_dice_.chance(faults.end_news)) co_return Result<>{};
        deaf = deaf || (faults.drop_news > 0 && news_dice_.chance(faults.drop_news));
        told = follower.happened;
        if (!deaf) tell(EngineNews::changed);
    }
}

Task<LogPart> SimEngine::logs(std::string name, LogsWanted wanted) {
    CO_TRY(co_await answer());
    const auto found = boxes_.find(name);
    if (found == boxes_.end()) co_return fail(Code::not_found, fmt::format("there is no container {}", name));
    std::vector<LogPiece> pieces;
    for (const auto& [time, line] : found->second->log) pieces.push_back({time, line});
    co_return log_part(pieces, !found->second->log_cut, wanted);
}

void SimEngine::kill(const std::string& name, int code) {
    if (const auto found = boxes_.find(name); found != boxes_.end()) end(BoxPtr{found->second}, code);
}

void SimEngine::kill_child(const std::string& name, std::string process) {
    const auto found = boxes_.find(name);
    if (found == boxes_.end() || found->second->seen.state != ContainerState::running) return;
    MemoryKills& kills = found->second->kills;
    kills = {kills.count + 1, std::move(process)};
}

Task<std::vector<std::string>> SimEngine::listening(std::string container, std::uint16_t) {
    CO_TRY(co_await answer());
    if (!runs(container))
        co_return fail(Code::not_found, fmt::format("container {} does not run", container));
    const bool local = says(boxes_.at(container)->spec.image, "loopback");
    co_return std::vector<std::string>{local ? "127.0.0.1" : "0.0.0.0"};
}

Task<std::map<std::string, MemoryKills>> SimEngine::memory_kills(std::vector<std::string> containers) {
    CO_TRY(co_await answer());
    std::map<std::string, MemoryKills> all;
    for (const auto& container : containers)
        if (runs(container)) all[container] = boxes_.at(container)->kills;
    co_return all;
}

void SimEngine::power_cut() {
    for (auto it = boxes_.begin(); it != boxes_.end();) {
        const BoxPtr box = (it++)->second;
        if (box->seen.state == ContainerState::running) {
            end(box, 137);
        } else if (box->seen.state == ContainerState::created) {
            boxes_.erase(box->spec.name);
        }
    }
    count_networks();
}

void SimEngine::say(const BoxPtr& box, std::string_view what) {
    if (note) note(fmt::format("container {} {}", box->spec.name, what));
    for (Follower* follower : followers_) {
        const auto found = box->spec.labels.find(follower->label);
        if (found == box->spec.labels.end() || found->second != follower->value) continue;
        ++follower->happened;
        follower->more.notify_all();
    }
}

void SimEngine::count_networks() {
    if (!networks_in_use) return;
    networks_in_use->clear();
    for (const auto& [name, box] : boxes_)
        if (!box->spec.network.empty()) networks_in_use->insert(box->spec.network);
}

// As much HTTP as a probe and a request need.
Task<> SimEngine::serve(BoxPtr box, StreamPtr stream) {
    constexpr std::size_t head_max = 16 * 1024;
    std::string in;
    while (true) {
        auto end = in.find("\r\n\r\n");
        while (end == std::string::npos) {
            if (in.size() > head_max) co_return Result<>{};
            thread_local std::array<char, 4096> scratch;
            const auto taken = CO_TRY(stream->try_read(scratch));
            if (!taken) {
                CO_TRY(co_await stream->readable());
                continue;
            }
            if (*taken == 0) co_return Result<>{};
            in.append(scratch.data(), *taken);
            end = in.find("\r\n\r\n");
        }
        const std::string head = in.substr(0, end);
        in.erase(0, end + 4);
        const auto path_at = head.find(' ');
        const std::string path = path_at == std::string::npos
                                     ? "/"
                                     : head.substr(path_at + 1, head.find(' ', path_at + 1) - path_at - 1);
        const bool good = timers_.now() >= box->ready && !says(box->spec.image, "never-ready");
        const std::string body = good ? fmt::format("{} {}\n", box->spec.name, path) : "not ready\n";
        const bool last = head.find("Connection: close") != std::string::npos;
        CO_TRY(co_await write_all(
            *stream,
            fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n{}\r\n{}",
                        good ? "200 OK" : "503 Service Unavailable", body.size(),
                        last ? "Connection: close\r\n" : "", head.starts_with("HEAD ") ? "" : body)));
        box->log.emplace_back(timers_.wall(), head.substr(0, head.find('\r')) + "\n");
        if (box->log.size() > log_lines_max) {
            box->log.pop_front();
            box->log_cut = true;
        }
        if (last) co_return co_await stream->finish();
    }
}

}  // namespace hostler::sim
