// For tests: the world of an agent, in memory.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/log.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "domain/image/image.h"
#include "roles/agent/settings.h"

namespace hostler::agent::testing {

using hostler::testing::memory_pair;
using hostler::testing::MemoryStream;

class FakeRandom : public Random {
public:
    void fill(std::span<std::uint8_t> into) override {
        for (auto& byte : into)
            byte = static_cast<std::uint8_t>((state_ = state_ * 6364136223846793005ULL + 1) >> 56);
    }

private:
    std::uint64_t state_ = 7;
};

// Certificates are words: "CERT <identity> <from> <until> <authority> <key>".
struct Words {
    std::string identity, authority, key;
    std::int64_t from = 0, until = 0;
    static std::optional<Words> of(std::string_view text) {
        char identity[128], authority[64], key[64];
        long long from = 0, until = 0;
        const std::string copy{text};
        if (std::sscanf(copy.c_str(), "CERT %127s %lld %lld %63s %63s", identity, &from, &until, authority,
                        key) != 5)
            return std::nullopt;
        return Words{identity, authority, key, from, until};
    }
    std::string text() const {
        return fmt::format("CERT {} {} {} {} {}", identity, from, until, authority, key);
    }
};

class FakeKeys : public Keys {
public:
    Result<KeyRequest> make(Identity) override { return request(fmt::format("KEY-{}", ++made)); }
    Result<KeyRequest> renew(std::string key, Identity) override { return request(key); }
    Result<CertificateFacts> read(std::string text) const override {
        const auto words = Words::of(text);
        if (!words) return fail(Code::invalid, "not a certificate");
        CertificateFacts facts;
        const auto slash = words->identity.find('/');
        facts.identity = {words->identity.substr(0, slash), words->identity.substr(slash + 1)};
        facts.key_fingerprint = words->key;
        facts.not_before = WallTime{std::chrono::microseconds{words->from}};
        facts.not_after = WallTime{std::chrono::microseconds{words->until}};
        return facts;
    }
    // Authorities stand beside each other: "CA-1 CA-2".
    Result<std::vector<std::string>> fingerprints(std::string authorities) const override {
        std::vector<std::string> all;
        for (std::istringstream text{authorities}; text >> authorities;)
            all.emplace_back(64, authorities.back());
        return all;
    }
    int made = 0;

private:
    static KeyRequest request(const std::string& key) { return {key, "CSR " + key}; }
};

// What TLS promises, without TLS: each end sends its certificate as a line and looks at the other's.
class SecuredStream : public Stream {
public:
    SecuredStream(StreamPtr under, std::string identity)
        : under_(std::move(under)), identity_(std::move(identity)) {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        return under_->try_read(into);
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return under_->try_write(from);
    }
    Task<> readable() override { return under_->readable(); }
    Task<> writable() override { return under_->writable(); }
    Task<> finish() override { return under_->finish(); }
    void close() override { under_->close(); }
    std::string_view identity() const override { return identity_; }
    std::string_view address() const override { return under_->address(); }

private:
    StreamPtr under_;
    std::string identity_;
};

class FakeNet : public Net {
public:
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        dialled.push_back(address);
        if (hung.contains(address)) {
            CO_TRY(co_await sleep(*timers, deadline));
            co_return fail(Code::timeout, address + " does not answer");
        }
        const auto found = listening_.find(address);
        if (found == listening_.end()) co_return fail(Code::unavailable, "nobody listens on " + address);
        auto [client, server] = memory_pair();
        found->second->waiting.push_back(std::move(server));
        found->second->arrived.notify_one();
        co_return StreamPtr{std::move(client)};
    }

    Task<ListenerPtr> listen(std::string address) override {
        auto& door = listening_[address];
        door = std::make_shared<Door>();
        co_return std::make_unique<FakeListener>(door, address);
    }

    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side, Duration) override {
        CO_TRY(co_await write_all(*raw, how.own->certificate + "\n"));
        std::string line;
        while (!line.ends_with('\n')) {
            char c = 0;
            if (CO_TRY(co_await read_some(*raw, {&c, 1})) == 0)
                co_return fail(Code::unavailable, "the peer has gone");
            line += c;
        }
        const auto words = Words::of(line);
        const auto refused = [&](std::string why) { return fail(Code::unauthenticated, std::move(why)); };
        if (!words && how.peer_required) co_return refused("the peer has no certificate");
        if (words && !how.own->authority.empty() && words->authority != how.own->authority)
            co_return refused("the peer's certificate is of another authority");
        const std::string identity = words ? words->identity : "";
        const bool any =
            how.expect.empty() || (how.expect.ends_with('/') && identity.starts_with(how.expect));
        if (!any && identity != how.expect) co_return refused("the peer is " + identity);
        co_return std::make_unique<SecuredStream>(std::move(raw), identity);
    }

    void stop_listening(const std::string& address) { listening_.erase(address); }
    std::vector<std::string> dialled;
    std::set<std::string> hung;  // No answer comes from there, and no refusal; by `timers`.
    Timers* timers = nullptr;

private:
    struct Door {
        std::deque<StreamPtr> waiting;
        Signal arrived;
        bool closed = false;
    };
    class FakeListener : public Listener {
    public:
        FakeListener(std::shared_ptr<Door> door, std::string address)
            : door_(std::move(door)), address_(std::move(address)) {}
        ~FakeListener() override { close(); }
        Task<StreamPtr> accept() override {
            const auto door = door_;
            while (door->waiting.empty()) {
                if (door->closed) co_return fail(Code::cancelled, "closed");
                CO_TRY(co_await door->arrived.wait());
            }
            StreamPtr next = std::move(door->waiting.front());
            door->waiting.pop_front();
            co_return next;
        }
        std::string_view address() const override { return address_; }
        void close() override {
            door_->closed = true;
            door_->arrived.notify_all();
        }

    private:
        std::shared_ptr<Door> door_;
        std::string address_;
    };
    std::map<std::string, std::shared_ptr<Door>> listening_;
};

// Sleeps until it is cancelled: the moment after a crash.
inline Task<> never() {
    Signal signal;
    co_return co_await signal.wait();
}

class FakeJournal : public Journal {
public:
    enum class Crash { none, before, after };
    const std::map<std::string, std::string>& all() const override { return kept; }
    std::string damage() const override { return damaged; }
    // A machine that stops in the middle leaves the first entry of several.
    Task<> put_all(std::vector<Entry> entries) override {
        for (const auto& [key, value] : entries) CO_TRY(co_await write([&] { kept[key] = value; }));
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        co_return co_await write([&] { kept.erase(key); });
    }

    std::map<std::string, std::string> kept;
    std::string damaged;
    int writes = 0;
    int crash_at = -1;  // At which write the machine stops, once.
    Crash crash = Crash::none;
    bool crashed = false;
    bool full = false;

private:
    template <class Do>
    Task<> write(Do change) {
        if (crashed) co_return co_await never();
        if (full) co_return fail(Code::exhausted, "the disk is full");
        const bool now = writes++ == crash_at;
        if (!now || crash == Crash::after) change();
        if (!now) co_return Result<>{};
        crashed = true;
        co_return co_await never();
    }
};

class FakeLogs : public LogStore {
public:
    Task<> keep(std::string instance, std::string text) override {
        kept[instance] = text;
        co_return Result<>{};
    }
    Task<std::string> read(std::string instance, std::size_t bytes_max) override {
        const auto found = kept.find(instance);
        if (found == kept.end()) co_return fail(Code::not_found, "no logs are kept");
        const auto& text = found->second;
        co_return text.substr(text.size() - std::min(text.size(), bytes_max));
    }
    std::map<std::string, std::string> kept;
};

class FakeLeases : public LeaseBook {
public:
    Task<std::vector<RunLease>> granted() override { co_return granted_; }
    Task<> grant(std::vector<RunLease> all) override {
        if (full) co_return fail(Code::exhausted, "the disk is full; make room on it");
        granted_ = std::move(all);
        if (answers) answer();
        co_return Result<>{};
    }
    Task<std::vector<WatchedLease>> watched() override { co_return watched_; }
    Task<> watch(std::vector<WatchedLease> all) override {
        watched_ = std::move(all);
        co_return Result<>{};
    }
    Task<> supervise(std::string) override {
        ++supervisors;
        co_return Result<>{};
    }
    void answer() {  // As a supervisor does.
        watched_.clear();
        for (const RunLease& lease : granted_) watched_.push_back({lease.instance, lease.generation, ""});
    }
    std::vector<RunLease> granted_;
    std::vector<WatchedLease> watched_;
    bool answers = false;
    bool full = false;    // Nothing is written.
    int supervisors = 0;  // Times that one was to be there.
};

class FakeEngine : public Engine, public Images, public KeptLayers, public EngineEvents {
public:
    std::set<std::string> unseen;  // Containers that it cannot look at.
    std::string refuse_list;       // Its words when it is to list all of a host.
    std::set<std::string> layers;  // Kept ones, by the names of their containers.
    Task<std::vector<KeptLayer>> kept() override {
        CO_TRY(alive());
        std::vector<KeptLayer> all;
        for (const auto& name : layers) all.push_back({name, 4096, 7});
        co_return all;
    }
    std::map<std::string, DiskUse> layer_uses;  // By container.
    Task<std::map<std::string, DiskUse>> uses() override {
        CO_TRY(alive());
        co_return layer_uses;
    }
    std::vector<std::pair<std::size_t, std::uint64_t>> ahead;  // Count and bytes, as asked for.
    Task<std::size_t> make_ahead(std::size_t count, std::uint64_t bytes) override {
        CO_TRY(alive());
        ahead.emplace_back(count, bytes);
        co_return count;
    }
    UserNamespaces user_namespaces = UserNamespaces::none;
    std::string disk_unlimited;
    Task<EngineFacts> describe() override {
        CO_TRY(alive());
        co_return EngineFacts{"fake 1", 1, true, user_namespaces, {100'000, 200'000}, disk_unlimited};
    }
    Task<> pull(ImageWanted image, PullSeen seen) override {
        CO_TRY(alive());
        ++pulls;
        while (pull_hangs) {
            CO_TRY(co_await pulling.wait());
            if (seen) seen(pulled);
        }
        if (registry_away > 0) {
            --registry_away;
            co_return fail(Code::unavailable, "its registry does not answer", "registry_unreachable");
        }
        asked.push_back(image);
        // Those that are here are given to everybody, unless their registry is to say it.
        if (const auto wants = private_images.find(image.name); wants != private_images.end()) {
            const bool here = present.contains(image.name) && !image.ask;
            if (!here && (!image.login || image.login->password != wants->second))
                co_return fail(Code::forbidden, "its registry wants a login", "image_unauthorized");
            present.insert(image.name);
        }
        if (!images.contains(image.name)) co_return fail(Code::not_found, "no registry has " + image.name);
        co_return Result<>{};
    }
    Task<Container> launch(ContainerSpec spec) override {
        CO_TRY(alive());
        if (!refuse_launch.empty()) co_return fail(Code::invalid, refuse_launch);
        if (const auto found = containers.find(spec.name); found != containers.end()) {
            if (found->second.labels != spec.labels)
                co_return fail(Code::conflict, spec.name + " has other labels", std::string{name_taken});
            co_return found->second;
        }
        if (!images.contains(spec.image))
            co_return fail(Code::not_found, spec.image + " is not here", std::string{image_missing});
        if (spec.layer == LayerStart::kept && !layers.contains(spec.name))
            co_return fail(Code::not_found, "nothing was kept", std::string{layer_missing});
        layers.erase(spec.name);
        ++launches;
        specs[spec.name] = spec;
        Container made{spec.name, spec.labels, ContainerState::running};
        if (exit_at_once) {
            made.state = ContainerState::exited;
            made.exit_code = *exit_at_once;
        }
        containers[spec.name] = made;
        if (on_launch) on_launch(spec);
        co_return made;
    }
    Task<StopEnd> stop(std::string name, Duration grace) override {
        CO_TRY(alive());
        graces.push_back(grace);
        const auto found = containers.find(name);
        const bool ran = found != containers.end() && found->second.state == ContainerState::running;
        if (found != containers.end()) found->second.state = ContainerState::exited;
        ++stops;
        co_return ran&& stubborn ? StopEnd::killed : StopEnd::ended;
    }
    Task<> remove(std::string name, LayerEnd layer) override {
        CO_TRY(alive());
        if (layer == LayerEnd::lost) layers.erase(name);
        if (layer == LayerEnd::kept && containers.contains(name)) layers.insert(name);
        containers.erase(name);
        removed.push_back(name);
        co_return Result<>{};
    }
    Task<> follow(std::string, std::string, std::function<void(EngineNews)> tell) override {
        CO_TRY(alive());
        ++follows;
        tell(EngineNews::follows);
        while (true) {
            CO_TRY(co_await news.wait());
            if (std::exchange(ends_news, false)) co_return fail(Code::unavailable, "the stream broke");
            tell(EngineNews::changed);
        }
    }
    Task<> answers() override {
        CO_TRY(alive());
        co_return Result<>{};
    }
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        ++lists;
        while (lists_hang) CO_TRY(co_await listing.wait());
        CO_TRY(alive());
        if (label == "hostler.host" && !refuse_list.empty()) co_return fail(Code::unavailable, refuse_list);
        std::vector<Container> made;
        for (const auto& [name, container] : containers)
            if (const auto at = container.labels.find(label);
                at != container.labels.end() && at->second == value) {
                made.push_back(container);
                if (unseen.contains(name)) made.back() = {.error = "no such mount", .id = container.id};
            }
        co_return made;
    }
    Task<LogPart> logs(std::string name, LogsWanted wanted) override {
        CO_TRY(alive());
        if (!containers.contains(name)) co_return fail(Code::not_found, "no such container");
        std::string timed;
        for (std::string_view text = written[name]; !text.empty();) {
            const auto line = text.substr(0, text.find('\n') + 1);
            append_piece(timed, {written_at, line.empty() ? text : line});
            text.remove_prefix(line.empty() ? text.size() : line.size());
        }
        co_return log_part(log_pieces(timed), true, wanted);
    }

    Task<std::vector<std::string>> image_names() override {
        CO_TRY(alive());
        ++image_looks;
        std::vector<std::string> names;
        for (const auto& image : images)
            if (!private_images.contains(image) || present.contains(image))
                names.push_back(full_image_name(image));
        std::ranges::sort(names);
        co_return names;
    }

    std::map<std::string, Container> containers;
    std::map<std::string, ContainerSpec> specs;
    std::map<std::string, std::string> written;
    WallTime written_at = *parse_rfc3339("2026-11-21T11:40:29Z");  // Each line of it.
    std::set<std::string> images{"demo"};
    std::vector<std::string> removed;
    std::vector<Duration> graces;
    std::optional<int> exit_at_once;
    bool stubborn = false;  // What runs ignores SIGTERM.
    std::function<void(const ContainerSpec&)> on_launch;
    std::string refuse_launch;
    bool down = false;
    std::vector<ImageWanted> asked;                     // By pull().
    std::map<std::string, std::string> private_images;  // With the password that their registry wants.
    std::set<std::string> present;                      // Of those.
    bool pull_hangs = false;
    int registry_away = 0;  // So many pulls find nobody there.
    PullProgress pulled;    // Told whenever `pulling` is notified.
    Signal pulling;
    Signal news;  // Something is told; or, with ends_news, nothing more.
    bool ends_news = false;
    bool lists_hang = false;  // Until `listing` is notified without it.
    Signal listing;
    int launches = 0, pulls = 0, stops = 0, image_looks = 0, lists = 0, follows = 0;

private:
    Result<> alive() const {
        if (down) return fail(Code::unavailable, "the engine's socket refuses");
        return {};
    }
};

class FakeProcesses : public Processes {
public:
    Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) override {
        ++looks;
        while (hangs) CO_TRY(co_await awake.wait());
        const auto found = listeners.find({container, port});
        co_return found == listeners.end() ? std::vector<std::string>{} : found->second;
    }
    Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) override {
        asked = containers;
        std::map<std::string, MemoryKills> made;
        for (const auto& container : containers)
            if (const auto found = kills.find(container); found != kills.end()) made.insert(*found);
        co_return made;
    }
    std::map<std::pair<std::string, std::uint16_t>, std::vector<std::string>> listeners;
    std::map<std::string, MemoryKills> kills;
    std::vector<std::string> asked;  // For kills.
    int looks = 0;                   // For who listens.
    bool hangs = false;              // Until `awake` is notified without it.
    Signal awake;
};

class FakeNetworks : public HostNetwork {
public:
    Task<> ensure(NetworkSpec spec) override {
        kept[spec.id] = spec.subnet;
        co_return Result<>{};
    }
    Task<> remove(std::string id) override {
        kept.erase(id);
        co_return Result<>{};
    }
    Task<std::vector<std::string>> list() override {
        std::vector<std::string> made;
        for (const auto& [id, subnet] : kept) made.push_back(id);
        co_return made;
    }
    std::map<std::string, std::string> kept;
};

class FakeVolumes : public HostVolumes {
public:
    Task<> create(std::string id, std::uint64_t) override {
        kept.insert(id);
        co_return Result<>{};
    }
    Task<> remove(std::string id) override {
        kept.erase(id);
        co_return Result<>{};
    }
    Task<std::vector<std::string>> list() override { co_return std::vector(kept.begin(), kept.end()); }
    Task<Attached> attach(std::string id, IdRange) override {
        if (!kept.contains(id)) co_return fail(Code::not_found, "no such volume");
        co_return Attached{"/volumes/" + id, note};
    }
    Task<Room> room() override { co_return Room{room_bytes, refused}; }
    Task<std::map<std::string, DiskUse>> uses() override {
        if (!unmeasurable.empty()) co_return fail(Code::unavailable, unmeasurable);
        co_return used;
    }
    std::map<std::string, DiskUse> used;
    std::string unmeasurable;
    std::set<std::string> kept;
    std::string note, refused;
    std::uint64_t room_bytes = std::uint64_t{1} << 40;
};

class FakeTelemetry : public Telemetry {
public:
    FakeTelemetry() {
        inventory.source = "fake";
        inventory.simulated = true;
        GpuFacts gpu;
        gpu.uuid = "GPU-1";
        gpu.model = "H100 SXM5 80GB";
        gpu.vendor = GpuVendor::nvidia;
        gpu.pci_address = "0000:07:00.0";
        gpu.cdi_name = "nvidia.com/gpu=GPU-1";
        gpu.pcie_generation_max = 5;
        gpu.pcie_width_max = 16;
        gpu.nvlinks = {{.link = 0, .active = true, .remote_switch = true}};
        inventory.gpus.push_back(gpu);
        shown.uuid = "GPU-1";
        shown.utilisation_percent = 42;
    }
    std::string_view name() const override { return "fake"; }
    Task<GpuInventory> discover() override {
        ++discoveries;
        co_return inventory;
    }
    Task<std::vector<GpuSample>> sample() override {
        while (hangs) CO_TRY(co_await awake.wait());
        ++samples;
        if (shown.energy_mj) ++*shown.energy_mj;
        shown.processes = processes;
        if (sampling) std::exchange(sampling, nullptr)();
        // Of what was found only.
        co_return inventory.gpus.empty() ? std::vector<GpuSample>{} : std::vector{shown};
    }
    std::vector<GpuFault> take_faults() override { return std::exchange(faults, {}); }
    GpuInventory inventory;
    std::vector<GpuFault> faults;
    GpuSample shown;
    std::function<void()> sampling;  // Is called in the next sample, once.
    int samples = 0;
    bool hangs = false;
    Signal awake;
    int discoveries = 0;
    std::optional<std::vector<GpuProcess>> processes;
};

class FakeHost : public HostTelemetry {
public:
    Task<HostFacts> facts() override {
        HostFacts made;
        made.hostname = "box";
        made.cpus = 8;
        made.boot_id = boot_id;
        made.serial = "S41";
        made.system_uuid = "4c4c4544";
        made.addresses = {"192.0.2.7"};
        co_return made;
    }
    Task<HostSample> sample() override {
        HostSample made;
        made.load_milli = 700;
        made.network_sent_bytes = made.network_received_bytes = (network_bytes_ += network_per_sample) / 2;
        co_return made;
    }
    std::int64_t network_per_sample = 0;  // Moved between two of them.
    std::string boot_id = "boot-1";
    Task<std::map<std::int64_t, std::string>> containers_of(std::vector<std::int64_t> pids) override {
        std::map<std::int64_t, std::string> made;
        for (const std::int64_t pid : pids)
            if (const auto found = containers.find(pid); found != containers.end()) made.insert(*found);
        co_return made;
    }
    std::map<std::int64_t, std::string> containers;  // By process.
    Task<std::map<std::string, ProcessUse>> processes_of(std::vector<std::string> of) override {
        std::map<std::string, ProcessUse> made;
        for (const auto& id : of)
            if (const auto found = processes.find(id); found != processes.end()) made.insert(*found);
        co_return made;
    }
    std::map<std::string, ProcessUse> processes;  // By container.
    Task<std::map<std::string, InstanceSample>> samples_of(std::vector<std::string> of) override {
        std::map<std::string, InstanceSample> made;
        for (const auto& id : of)
            if (const auto found = samples.find(id); found != samples.end()) made.insert(*found);
        co_return made;
    }
    std::map<std::string, InstanceSample> samples;  // The same.

private:
    std::int64_t network_bytes_ = 0;
};

}  // namespace hostler::agent::testing
