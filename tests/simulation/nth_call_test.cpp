// Each call to a port is made to fail in turn, while one tenant does all that tenants do; it is done in the
// end, and every invariant holds on the way.
#include "nth_call.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>

#include "cloud.h"
#include "roles/master/sealing/count.h"

namespace hostler::simulation {

namespace {

// What somebody does from the first to the last, asked for until it is done.
class Errand {
public:
    Errand(Mistakes mistakes, int hosts, Control control = {})
        : cloud{1, std::move(mistakes), hosts, 2, control} {}
    virtual ~Errand() = default;

    // `last` is what is done when all else is. Empty: all went as it should. Else what did not.
    std::string run(const std::function<void(Cloud&)>& last) {
        std::string wrong = steps();
        if (wrong.empty()) last(cloud);
        if (wrong.empty() && !settles()) wrong = "at last: " + cloud.unsettled();
        if (cloud.found.any()) wrong += cloud.found.text();
        cloud.end();
        return wrong;
    }

    Cloud cloud;

protected:
    virtual std::string steps() = 0;  // As run().

    // false: it is never answered so.
    bool ask(const std::string& key, const std::string& method, const std::string& target, int wanted,
             const std::string& body = "", const std::string& idempotency = "") {
        for (int tries = 0; tries < 90; ++tries) {
            const auto answer = cloud.world.ask(cloud.call(key, method, target, body, idempotency));
            if (answer && answer->status == wanted) return true;
            cloud.world.run(1s);
        }
        return false;
    }

    bool settles() {
        return cloud.world.run_until([&] { return cloud.unsettled().empty(); }, 5min);
    }

    const std::string boss_{Cloud::operator_key};
};

// A tenant's. An instance may fail meanwhile, if it says why: then it is deleted, and nothing of it is left.
class LifeOfAnInstance final : public Errand {
public:
    explicit LifeOfAnInstance(Mistakes mistakes) : Errand(std::move(mistakes), 1) {}

private:
    std::string steps() override {
        std::string wrong = begin();
        if (wrong.empty() && lives()) wrong = rests();
        return wrong.empty() ? end() : wrong;
    }

    std::string begin() {
        if (!cloud.begin({"red-team"}) && !settles()) return "it did not begin: " + cloud.unsettled();
        me_ = cloud.keys.at("red-team");
        if (!ask(boss_, "POST", "/stocks", 200,
                 R"({"number":1,"operationID":"s","specName":"one","cpu":"8","memory":"32Gi",)"
                 R"("gpuType":"H100 SXM5 80GB","gpuNum":1})"))
            return "no stock";
        if (!ask(me_, "POST", "/v1/volumes", 201, R"({"name":"files","size":"1Gi"})", "files"))
            return "no volume";
        if (!ask(
                me_, "POST", "/gpu-instances", 200,
                R"({"instanceID":"box","tenantID":"red-team","tenantName":"r","image":"registry.example/app:1",)"
                R"("specName":"one","template":{"ports":[{"port":8080,"isProbe":true}],)"
                R"("volumes":[{"name":"files","mountPath":"/data","readOnly":false}]}})"))
            return "no instance";
        return reaches(InstancePhase::running) ? "" : "it neither runs nor fails: " + cloud.unsettled();
    }

    std::string rests() {
        for (const char* target : {"/v1/instances?all=true", "/v1/events", "/v1/instances/box/events"})
            if (!ask(me_, "GET", target, 200)) return fmt::format("{} is not answered", target);
        if (!ask(me_, "POST", "/v1/instances/box/stop", 200)) return "it cannot be stopped";
        if (!reaches(InstancePhase::resting)) return "it never rests: " + cloud.unsettled();
        if (!ask(me_, "POST", "/v1/instances/box/start", 200)) return "it cannot be started again";
        return reaches(InstancePhase::running) ? "" : "it neither runs again nor fails: " + cloud.unsettled();
    }

    std::string end() {
        if (!ask(me_, "DELETE", "/gpu-instances/box", 200)) return "it cannot be deleted";
        if (!settles()) return "after its end: " + cloud.unsettled();
        ask(me_, "DELETE", "/v1/volumes/files", 404);  // Until it is gone.
        if (!ask(boss_, "DELETE", "/stocks", 200, R"({"number":1,"operationID":"d","specName":"one"})"))
            return "its stock cannot be taken back";
        if (!ask(me_, "GET", "/v1/instances?all=true", 200)) return "what has ended is not listed";
        const auto now = cloud.term();
        return now && now->look().estate.volumes.all().empty() ? "" : "its volume is still there";
    }

    const Instance* box() {
        const auto now = cloud.term();
        if (!now || now->look().estate.instances.all().empty()) return nullptr;
        return &now->look().estate.instances.all().begin()->second;
    }
    bool lives() { return box() && !is_final(box()->phase); }
    bool reaches(InstancePhase wanted) {
        return cloud.world.run_until(
            [&] { return box() && (box()->phase == wanted || is_final(box()->phase)); }, 5min);
    }

    std::string me_;
};

// An operator's: one sealing key takes the place of another, while masters die and others take over.
template <int masters>
class NewSealingKey final : public Errand {
public:
    explicit NewSealingKey(Mistakes mistakes) : Errand(std::move(mistakes), 0, {.masters = masters}) {}

private:
    std::string steps() override {
        if (!cloud.begin({}) && !settles()) return "it did not begin: " + cloud.unsettled();
        for (int i = 0; i < receivers; ++i)
            if (!ask(boss_, "POST", "/v1/alert-receivers", 201,
                     fmt::format(R"({{"name":"r-{}","type":"webhook","url":"https://hooks.example/{}",)"
                                 R"("secret":"{}"}})",
                                 i, i, Cloud::secret),
                     fmt::format("receiver-{}", i)))
                return "no receiver";
        const std::string first = key(SealingPhase::current);
        for (const std::string step : {"begin", "finish"}) {
            if (!ask(boss_, "POST", "/v1/sealing-keys/rotate", 200, fmt::format(R"({{"step":"{}"}})", step)))
                return "the rotation does not " + step;
            if (!takes_over()) return "nobody leads after " + step;
        }
        if (!cloud.world.run_until([&] { return sealed_anew(first); }, 5min))
            return "not all is sealed by the key that followed";
        if (!ask(boss_, "POST", fmt::format("/v1/sealing-keys/{}/forget", first), 200))
            return "the former key cannot be forgotten";
        if (!cloud.world.run_until([&] { return std::ranges::count(cloud.sealer.keys(), first) == 0; }, 2min))
            return "the former key stays in the ring";
        if (!takes_over()) return "nobody leads without the former key";
        return knows_all() ? "" : "a secret is lost";
    }

    std::string key(SealingPhase phase) {
        std::string found;
        (void)cloud.world.run_until([&] { return cloud.term() != nullptr; }, 2min);
        if (const auto now = cloud.term())
            for (const auto& [id, key] : now->look().estate.sealing_keys.all())
                if (key.phase == phase) found = id;
        return found;
    }
    bool sealed_anew(const std::string& former) {
        const auto now = cloud.term();
        if (!now || !now->look().live.template part<master::SealingCount>().whole()) return false;
        return !now->look().live.template part<master::SealingCount>().values.contains(former);
    }
    bool takes_over() {
        if (!cloud.world.run_until([&] { return cloud.leader() != nullptr; }, 2min)) return false;
        Machine& leads = *cloud.leader();
        leads.crash(Death::kill);
        cloud.world.run(2s);
        leads.boot();
        return cloud.world.run_until([&] { return cloud.term() != nullptr; }, 2min);
    }
    bool knows_all() {
        return cloud.world.run_until(
            [&] {
                const auto now = cloud.term();
                if (!now || now->look().estate.alert_receivers.all().size() != receivers) return false;
                return std::ranges::all_of(now->look().estate.alert_receivers.all(), [](const auto& row) {
                    return row.second.secret == Cloud::secret;
                });
            },
            2min);
    }
    static constexpr int receivers = 3;
};

// HOSTLER_CALL=N: that call alone; with HOSTLER_STORY=1 it tells what happened. HOSTLER_EVERY=N: each N-th,
// where sanitizers make all of them slow.
template <class What = LifeOfAnInstance>
void each_call(
    const std::vector<Failing>& ways, const std::function<Mistakes(Fate&)>& before,
    const std::function<void(Cloud&)>& last = [](Cloud&) {}) {
    const char* only = std::getenv("HOSTLER_CALL");
    const char* every = std::getenv("HOSTLER_EVERY");
    const std::uint64_t stride = every ? std::max(1ULL, std::strtoull(every, nullptr, 10)) : 1;
    for (const Failing how : ways) {
        std::map<std::string, int> failed;
        for (std::uint64_t n = only ? std::strtoull(only, nullptr, 10) : 1;; n += stride) {
            Fate fate{.fails_at = n, .how = how};
            What errand{before(fate)};
            const std::string wrong = errand.run([&](Cloud& cloud) {
                if (fate.calls < n) last(cloud);
            });
            EXPECT_EQ(wrong, "") << "call " << n << ", " << fate.failed << ", way " << static_cast<int>(how);
            if (!wrong.empty() && std::getenv("HOSTLER_STORY"))
                for (const auto& line : errand.cloud.world.story) fmt::print("{}\n", line);
            if (fate.calls < n) break;  // Nothing failed: all was done untouched.
            ++failed[fate.failed];
            ASSERT_LT(n, 1000u);
            if (only) break;
        }
        std::string all;
        for (const auto& [what, times] : failed) all += fmt::format(" {} {}", times, what);
        fmt::print("way {}: failed{}\n", static_cast<int>(how), all);
    }
}

constexpr std::initializer_list<Failing> ways = {Failing::refused, Failing::answer_lost};

Mistakes fateful_store(Fate& fate) {
    return {.store = [&fate](Store& store) { return std::make_unique<FatefulStore>(store, fate); }};
}

TEST(NthCall, OfTheStore) {
    each_call({Failing::refused, Failing::answer_lost, Failing::disk_full}, fateful_store,
              [](Cloud& cloud) { cloud.world.run(11min); });  // Until what is old is taken out of the store.
}

TEST(NthCall, OfTheStoreWhileASealingKeyIsReplaced) {
    each_call<NewSealingKey<1>>({Failing::refused, Failing::answer_lost, Failing::disk_full}, fateful_store);
}

Mistakes fateful_sealer(Fate& fate) {
    return {.sealer = [&fate](Sealer& sealer) { return std::make_unique<FatefulSealer>(sealer, fate); }};
}

TEST(NthCall, OfTheSealer) { each_call<NewSealingKey<1>>(ways, fateful_sealer); }

TEST(NthCall, OfTheSealerWhereAnotherMasterTakesOver) { each_call<NewSealingKey<2>>(ways, fateful_sealer); }

TEST(NthCall, OfAnAgentsJournal) {
    each_call({Failing::refused, Failing::answer_lost, Failing::disk_full}, [](Fate& fate) {
        return Mistakes{.agent_journal = [&fate](Journal& journal) {
            return std::make_unique<FatefulJournal>(journal, fate);
        }};
    });
}

TEST(NthCall, OfTheJournalsOfAccessPointsAndGateways) {
    each_call({Failing::refused, Failing::answer_lost, Failing::disk_full}, [](Fate& fate) {
        return Mistakes{.edge_journal = [&fate](Journal& journal) {
            return std::make_unique<FatefulJournal>(journal, fate);
        }};
    });
}

TEST(NthCall, OfTheEngine) {
    each_call(ways, [](Fate& fate) {
        return Mistakes{.agent_engine = [&fate](Engine& engine) {
            return std::make_unique<FatefulEngine>(engine, fate);
        }};
    });
}

TEST(NthCall, OfVolumes) {
    each_call(ways, [](Fate& fate) {
        return Mistakes{.agent_volumes = [&fate](HostVolumes& volumes) {
            return std::make_unique<FatefulVolumes>(volumes, fate);
        }};
    });
}

TEST(NthCall, OfNetworks) {
    each_call(ways, [](Fate& fate) {
        return Mistakes{.agent_networks = [&fate](HostNetwork& networks) {
            return std::make_unique<FatefulNetworks>(networks, fate);
        }};
    });
}

}  // namespace

}  // namespace hostler::simulation
