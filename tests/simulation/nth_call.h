// Ports whose n-th call fails, counted over all lives of whoever calls: made to fail in turn, n = 1, 2, 3, …,
// until what was to be done is done untouched.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "ports/engine.h"
#include "ports/journal.h"
#include "ports/network.h"
#include "ports/sealer.h"
#include "ports/store.h"
#include "ports/volumes.h"

namespace hostler::simulation {

enum class Failing {
    refused,      // It did not take effect.
    answer_lost,  // It took effect, and whoever called is told that it is not known.
    disk_full,    // It did not take effect, for want of room.
};

struct Fate {
    std::uint64_t fails_at = 0;  // 0: none.
    Failing how = Failing::refused;
    std::uint64_t calls = 0;
    std::string failed{};  // What it was.

    bool strikes(std::string_view what);
    Error error() const;

    // `call` is made, or not, as its number says.
    template <class T>
    Task<T> of(std::string_view what, std::function<Task<T>()> call) {
        if (!strikes(what)) return call();
        return end(error(), how == Failing::answer_lost ? std::optional<Task<T>>{call()} : std::nullopt);
    }

    // The same of a port that answers at once.
    template <class T>
    Result<T> now(std::string_view what, const std::function<Result<T>()>& call) {
        if (!strikes(what)) return call();
        if (how == Failing::answer_lost) (void)call();
        return std::unexpected(error());
    }

private:
    template <class T>
    static Task<T> end(Error error, std::optional<Task<T>> lost) {
        if (lost) CO_TRY(co_await std::move(*lost));
        co_return std::unexpected(std::move(error));
    }
};

class FatefulStore final : public Store {
public:
    FatefulStore(Store& store, Fate& fate) : store_(store), fate_(fate) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override;
    Task<> renew() override {
        return fate_.of<void>("renew", [&] { return store_.renew(); });
    }
    Task<> resign() override {
        return fate_.of<void>("resign", [&] { return store_.resign(); });
    }
    Task<std::optional<Leader>> leader() override {
        return fate_.of<std::optional<Leader>>("leader", [&] { return store_.leader(); });
    }
    Task<> commit(Changes changes) override;
    Task<Snapshot> load() override {
        return fate_.of<Snapshot>("load", [&] { return store_.load(); });
    }
    Task<Snapshot> load_since(StorePoint point) override {
        return fate_.of<Snapshot>("load_since", [this, point] { return store_.load_since(point); });
    }
    Task<Page> list(ListQuery query) override {
        return fate_.of<Page>("list", [&] { return store_.list(std::move(query)); });
    }
    Task<Object> find(std::string kind, std::string id) override {
        return fate_.of<Object>("find", [&] { return store_.find(std::move(kind), std::move(id)); });
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return fate_.of<std::vector<EventRecord>>("events", [&] { return store_.events(std::move(query)); });
    }
    Task<AuditPage> audit(AuditQuery query) override {
        return fate_.of<AuditPage>("audit", [&] { return store_.audit(std::move(query)); });
    }
    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        return fate_.of<AuditAnchors>("audit_anchors", [&] { return store_.audit_anchors(after, limit); });
    }
    Task<std::uint64_t> prune_audit(WallTime before) override {
        return fate_.of<std::uint64_t>("prune_audit", [&] { return store_.prune_audit(before); });
    }
    Task<> prune(WallTime before) override {
        return fate_.of<void>("prune", [&] { return store_.prune(before); });
    }
    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        return store_.backup(taken, digest);  // Nobody makes one in these scenarios.
    }

private:
    static Task<> end(Error error);
    static Task<> lose(Task<> written, Error error);
    Store& store_;
    Fate& fate_;
    std::optional<Error> ended_;  // Since a commit failed.
};

// What a file has a part in, and opening: what was read may have been changed. Sealing fails for nothing but
// a key that is not here, and the current one is: a failure would be a mistake of ours.
class FatefulSealer final : public Sealer {
public:
    FatefulSealer(Sealer& sealer, Fate& fate) : sealer_(sealer), fate_(fate) {}
    std::vector<std::string> keys() const override { return sealer_.keys(); }
    Result<std::string> make() override {
        return fate_.now<std::string>("make key", [&] { return sealer_.make(); });
    }
    Result<> forget(std::string key) override {
        return fate_.now<void>("forget key", [&] { return sealer_.forget(std::move(key)); });
    }
    Result<> read() override {
        return fate_.now<void>("read keys", [&] { return sealer_.read(); });
    }
    Result<std::string> seal(std::string_view key, std::string_view place,
                             std::string_view plain) const override {
        return sealer_.seal(key, place, plain);
    }
    Result<std::string> open(std::string_view key, std::string_view place,
                             std::string_view sealed) const override {
        auto opened = fate_.now<std::string>("open", [&] { return sealer_.open(key, place, sealed); });
        if (!opened) opened.error().code = Code::unauthenticated;
        return opened;
    }

private:
    Sealer& sealer_;
    Fate& fate_;
};

class FatefulEngine final : public Engine {
public:
    FatefulEngine(Engine& engine, Fate& fate) : engine_(engine), fate_(fate) {}
    Task<EngineFacts> describe() override {
        return fate_.of<EngineFacts>("describe", [&] { return engine_.describe(); });
    }
    Task<> pull(ImageWanted image, PullSeen seen) override {
        return fate_.of<void>("pull", [&] { return engine_.pull(std::move(image), std::move(seen)); });
    }
    Task<Container> launch(ContainerSpec spec) override {
        return fate_.of<Container>("launch", [&] { return engine_.launch(std::move(spec)); });
    }
    Task<StopEnd> stop(std::string name, Duration grace) override {
        return fate_.of<StopEnd>("stop", [&] { return engine_.stop(std::move(name), grace); });
    }
    Task<> remove(std::string name, LayerEnd layer) override {
        return fate_.of<void>("remove", [&] { return engine_.remove(std::move(name), layer); });
    }
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        return fate_.of<std::vector<Container>>(
            "list", [&] { return engine_.list(std::move(label), std::move(value)); });
    }
    Task<LogPart> logs(std::string name, LogsWanted wanted) override {
        return fate_.of<LogPart>("logs", [&] { return engine_.logs(std::move(name), wanted); });
    }

private:
    Engine& engine_;
    Fate& fate_;
};

class FatefulVolumes final : public HostVolumes {
public:
    FatefulVolumes(HostVolumes& volumes, Fate& fate) : volumes_(volumes), fate_(fate) {}
    Task<> create(std::string id, std::uint64_t size_bytes) override {
        return fate_.of<void>("create", [&] { return volumes_.create(std::move(id), size_bytes); });
    }
    Task<Attached> attach(std::string id, IdRange ids) override {
        return fate_.of<Attached>("attach", [&] { return volumes_.attach(std::move(id), ids); });
    }
    Task<> remove(std::string id) override {
        return fate_.of<void>("remove volume", [&] { return volumes_.remove(std::move(id)); });
    }
    Task<std::vector<std::string>> list() override {
        return fate_.of<std::vector<std::string>>("list volumes", [&] { return volumes_.list(); });
    }
    Task<Room> room() override {
        return fate_.of<Room>("room", [&] { return volumes_.room(); });
    }
    Task<std::map<std::string, DiskUse>> uses() override {
        return fate_.of<std::map<std::string, DiskUse>>("uses", [&] { return volumes_.uses(); });
    }

private:
    HostVolumes& volumes_;
    Fate& fate_;
};

class FatefulNetworks final : public HostNetwork {
public:
    FatefulNetworks(HostNetwork& networks, Fate& fate) : networks_(networks), fate_(fate) {}
    Task<> ensure(NetworkSpec spec) override {
        return fate_.of<void>("ensure", [&] { return networks_.ensure(std::move(spec)); });
    }
    Task<> remove(std::string id) override {
        return fate_.of<void>("remove network", [&] { return networks_.remove(std::move(id)); });
    }
    Task<std::vector<std::string>> list() override {
        return fate_.of<std::vector<std::string>>("list networks", [&] { return networks_.list(); });
    }

private:
    HostNetwork& networks_;
    Fate& fate_;
};

class FatefulJournal final : public Journal {
public:
    FatefulJournal(Journal& journal, Fate& fate) : journal_(journal), fate_(fate) {}
    const std::map<std::string, std::string>& all() const override { return journal_.all(); }
    Task<> put_all(std::vector<Entry> entries) override {
        return fate_.of<void>("put", [&] { return journal_.put_all(std::move(entries)); });
    }
    Task<> erase(std::string key) override {
        return fate_.of<void>("erase", [&] { return journal_.erase(std::move(key)); });
    }

private:
    Journal& journal_;
    Fate& fate_;
};

}  // namespace hostler::simulation
