// Whatever happens in whatever order, the books are right.
#include <gtest/gtest.h>

#include "api/types_consolidation.h"
#include "api/types_host.h"
#include "api/types_instance.h"
#include "api/types_stock.h"
#include "api/types_volume.h"
#include "api/types_zone.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/placement/placement.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/index_check.h"
#include "roles/master/testing/room_check.h"
#include "roles/master/testing/usage_check.h"
#include "roles/master/volume/volumes.h"
#include "roles/master/zone/zones.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

enum class IdleSlots { wait, give_way };

struct Chaos : DeskRig {
    explicit Chaos(std::uint64_t seed, IdleSlots that = IdleSlots::wait)
        : DeskRig("10.0.0.0/22", seed), idle_slots(that), dice(seed * 7919) {
        host("a", "nj", 2), host("b", "nj", 3), host("c", "lon", 2), host("d", "nj", 2);
        mixed_host("e", "lon", 2, 2);
        estate.specs.add({.name = "eighty",
                          .cpu_milli = 4000,
                          .memory_bytes = std::int64_t{16} << 30,
                          .gpu_type = "80GB",
                          .gpu_count = 2});
        for (const auto& [id, one] : std::map{estate.hosts.all().as_map()})
            (void)update_host(desk, id, {.rack = one_in(2) ? "r0" : "r1", .labels = {{"disk", "nvme"}}});
        (void)stock(3);
        if (that == IdleSlots::give_way) {
            (void)stock(1, "pair", {}, 2);
            for (const char* spec : {"small", "pair"})
                EXPECT_TRUE(update_stock(desk, {.spec = spec, .reclaim = api::Reclaim::idle}));
        }
        check();
    }

    template <class T>
    std::string any(const Table<T>& table) {
        if (table.all().empty()) return "";
        return std::next(table.all().begin(), static_cast<std::ptrdiff_t>(dice.below(table.all().size())))
            ->first;
    }
    bool one_in(std::uint64_t n) { return dice.below(n) == 0; }

    api::Placement wishes() {
        constexpr std::array areas = {api::Area::host, api::Area::rack, api::Area::zone};
        api::Placement asked;
        if (one_in(3)) asked.zones = {one_in(2) ? "nj" : "lon"};
        if (one_in(4)) asked.racks = {"r0", "r1"};
        if (one_in(5)) asked.near = "40.7,-74.1", asked.within_km = static_cast<int>(dice.below(8000));
        if (one_in(4)) asked.labels = {{"disk", one_in(2) ? "nvme" : "hdd"}};
        if (one_in(4)) asked.trust = api::Trust::trusted;
        if (one_in(8)) asked.model = one_in(3) ? "A100" : "h100";
        if (one_in(8)) asked.gpu_memory = one_in(3) ? "100" : "80";
        if (one_in(8))
            asked.isolation = one_in(3) ? api::Isolation::user_namespace : api::Isolation::container;
        if (!one_in(2)) return asked;
        asked.group = one_in(2) ? "web" : "db";
        if (one_in(2)) asked.apart = areas[dice.below(3)];
        if (one_in(3))
            asked.spread = areas[dice.below(3)];
        else if (one_in(2))
            asked.pack = areas[dice.below(3)];
        return asked;
    }
    // Where it was placed just now is a place that it asked for.
    void check_place(const api::CreateInstance& asked) {
        const Instance& one = *find_instance(desk, asked.tenant_id, asked.instance_id);
        const Demand demand = demand_of(desk, estate.specs.at(one.spec_name), one);
        EXPECT_TRUE(testing::does(desk, demand, estate.claims.at(one.claim))) << one.id;
        ++placed;
    }

    std::set<std::string> given_way() const {
        std::set<std::string> slots;
        for (const auto& [id, slot] : estate.slots.all())
            if (!slot.gave_way.empty()) slots.insert(slot.gave_way + id);
        return slots;
    }
    // What gave way since was all needed, and no more than may go.
    void check_given_way(const std::set<std::string>& before) {
        std::map<std::string, int> ready;
        for (const auto& [id, claims] : idle_stock(desk).by_host)
            for (const Spare& spare : claims) ++ready[spare.kind];
        for (const auto& [id, slot] : estate.slots.all()) {
            if (slot.gave_way.empty() || before.contains(slot.gave_way + id)) continue;
            ++gave_way;
            const Spec& spec = estate.specs.at(slot.spec);
            EXPECT_EQ(spec.reclaim, Reclaim::idle);
            EXPECT_GE(ready[slot.spec], spec.keep);
            const std::string& host = estate.instances.at(slot.gave_way).host;
            EXPECT_TRUE(unfit(demand_of(spec, ""), room(desk).hosts().at(host).free))
                << "there is room for " << id << " beside what it gave way to";
        }
    }

    // What a host does with a command: some of what it may, and now and then nothing of it.
    void obey() {
        const std::string id = any(estate.commands);
        if (id.empty()) return;
        const HostCommand command = estate.commands.at(id);
        if (!live.hosts[command.host].connected) return;
        if (one_in(4))
            return note_progress(desk, command.host, id,
                                 std::array{"pulling", "starting", "probing"}[dice.below(3)], "so far");
        CommandAnswer answer{.done = !one_in(4)};
        auto& there = said[command.host];
        if (!answer.done) {
            answer.reason =
                std::array{"expired", "stale_epoch", "network_failed", "image_unavailable"}[dice.below(4)];
            answer.code = "conflict";
            answer.absent = one_in(2) && !there.contains(command.subject);
        } else if (command.verb == Verb::start_workload) {
            const Instance* instance = estate.instances.find(command.subject);
            there[command.subject] = {
                .state = "running", .generation = command.subject_generation, .ready = true};
            if (instance && !instance->claim.empty())
                there[command.subject].gpus = estate.claims.at(instance->claim).gpus;
        } else if (command.verb == Verb::stop_workload) {
            there.erase(command.subject);
        }
        if (!one_in(6)) note_answer(desk, command.host, id, answer);
        if (one_in(6)) note_answer(desk, command.host, id, answer);
    }
    void tell(const std::string& host) {
        if (estate.hosts.at(host).phase == HostPhase::retired) return;
        auto& there = said[host];
        if (one_in(8) && !there.empty()) there.begin()->second.state = "exited";
        if (one_in(10) && !there.empty()) there.erase(there.begin());
        if (one_in(20))
            there["i-stranger" + std::to_string(dice.below(3))] = {
                .state = "running", .gpus = {fmt::format("GPU-{}-0", host.substr(2))}};
        estate.hosts.at(host).engine_error.empty() ? report(host, !one_in(4)) : report(host, false);
    }
    void ask() {
        const std::string name = std::to_string(dice.below(12));
        const std::string tenant = one_in(3) ? "globex" : "acme";
        switch (dice.below(idle_slots == IdleSlots::give_way ? 16 : 15)) {
            case 15:
                (void)update_stock(desk, {.spec = one_in(3) ? "pair" : "small",
                                          .reclaim = one_in(4) ? api::Reclaim::never : api::Reclaim::idle,
                                          .keep = static_cast<int>(dice.below(2))});
                break;
            case 0:
                (void)stock(static_cast<int>(1 + dice.below(2)), "small",
                            one_in(2) ? std::optional<std::string>{"nj"} : std::nullopt);
                break;
            case 1: (void)delete_stock(desk, {.number = 1, .spec_name = "small"}); break;
            case 2:
            case 3:
            case 4: {
                auto wanted = request(fmt::format("{}-{}", name, names / 4), tenant);
                ++names;
                if (one_in(3))
                    wanted.template_.volumes = {{"data", "/data", one_in(2)}};
                else if (!one_in(4))
                    wanted.loss_policy = api::LossPolicy::move;
                if (!one_in(4)) wanted.placement = wishes();
                if (idle_slots == IdleSlots::give_way && one_in(3)) wanted.spec_name = "pair";
                if (one_in(5)) wanted.spec_name = "eighty";
                wished += wanted.placement.has_value();
                const auto before = given_way();
                const auto done = start(wanted);
                check_given_way(before);
                if (done && *done == Started::now && wanted.placement) check_place(wanted);
                break;
            }
            case 5:
            case 6:
                if (const auto id = any(estate.instances); !id.empty()) delete_instance(desk, id, "test");
                break;
            case 7: (void)create_volume(desk, {.name = "data", .size = "1Gi"}, tenant); break;
            case 8:
                if (const auto id = any(estate.volumes); !id.empty() && one_in(3))
                    (void)delete_volume(desk, id);
                break;
            case 9:
                if (const auto id = any(estate.instances); !id.empty())
                    (void)halt_instance(desk, id, "stopped_by_owner", "test");
                break;
            case 10:
                if (const auto id = any(estate.instances); !id.empty()) {
                    const auto before = given_way();
                    (void)wake_instance(desk, id);
                    check_given_way(before);
                }
                break;
            case 11:
                if (const auto id = any(estate.instances); !id.empty()) (void)restart_instance(desk, id);
                break;
            case 12: consolidations += begin_consolidation(desk, {.at_once = 1}).has_value(); break;
            case 13: move_one(); break;
            case 14:
                if (const auto id = any(estate.consolidations); !id.empty() && one_in(3))
                    (void)cancel_consolidation(desk, id);
                break;
        }
    }
    // Something that may be moved, to any host: plans alone seldom find a host to free here.
    void move_one() {
        std::vector<std::string> movable;
        for (const auto& [id, instance] : estate.instances.all())
            if (immovable(desk, instance).empty()) movable.push_back(id);
        if (movable.empty()) return;
        const std::string& one = movable[dice.below(movable.size())];
        consolidations +=
            begin_consolidation(desk, {.at_once = 1, .moves = {{one, any(estate.hosts)}}}).has_value();
    }
    void befall() {
        const std::string id = any(estate.hosts);
        switch (dice.below(7)) {
            case 6:
                if (estate.hosts.at(id).phase == HostPhase::retired) break;
                (void)update_host(desk, id,
                                  {.rack = fmt::format("r{}", dice.below(3)),
                                   .labels = {{"disk", one_in(2)   ? "nvme"
                                                       : one_in(2) ? "hdd"
                                                                   : ""}},
                                   .trust = one_in(2) ? api::Trust::trusted : api::Trust::community});
                if (one_in(4))
                    update_zone(desk, one_in(2) ? "nj" : "lon",
                                {.coordinates = fmt::format("{},{}", dice.below(80), dice.below(90))});
                break;
            case 0: disconnect(id); break;
            case 1: connect(id); break;
            case 2: (void)cordon_host(desk, id, one_in(2)); break;
            case 3:
                if (one_in(12)) {
                    (void)remove_host(desk, id, one_in(2));
                    if (estate.hosts.at(id).phase == HostPhase::retired)
                        host("n" + std::to_string(++made), one_in(2) ? "nj" : "lon", 2);
                }
                break;
            case 4: pass(static_cast<int>(dice.below(one_in(8) ? 2000 : 60))); break;
            case 5: connect(id), tell(id); break;
        }
    }
    void sweep_once(Desk& at) {
        watch_silence(at, now);
        expire_commands(at);
        for (const auto& id : instances_to_reconcile(at)) reconcile_instance(at, id);
        follow_consolidations(at);
        reconcile_volumes(at), reconcile_subnets(at), fill_stock(at), close_shares(at);
        forget_what_is_over(at);
    }
    void sweep() {
        for (int i = 0; i < 4; ++i) sweep_once(desk);
        check_sweep();
    }
    // Whoever looks at everything finds nothing that the sweep has overlooked.
    void check_sweep() {
        const Estate::Trial trial{estate};
        const Live::Trial seen{live};
        Parts kept = live.parts().take_followers();
        sweep_once(desk);
        live.parts().put(std::move(kept));
        std::vector<Touched> overlooked;
        if (!estate.unchanged()) (void)estate.take(1, 1, overlooked);
        for (const Touched& one : overlooked) ADD_FAILURE() << one.kind << " " << one.id << " was overlooked";
    }
    void step() {
        for (auto& [id, host] : live.hosts) host.keeps_leases = true;
        switch (dice.below(9)) {
            case 0:
            case 1:
            case 8: obey(); break;
            case 2:
            case 3: tell(any(estate.hosts)); break;
            case 4:
            case 5: ask(); break;
            case 6: befall(); break;
            case 7: sweep(); break;
        }
    }

    void check_claims() {
        std::set<std::string> gpus;
        std::set<std::pair<std::string, int>> places;
        for (const auto& [id, claim] : estate.claims.all()) {
            EXPECT_NE(estate.hosts.at(claim.host).phase, HostPhase::retired) << id;
            for (const auto& gpu : claim.gpus)
                EXPECT_TRUE(gpus.insert(claim.host + gpu).second) << gpu << " twice";
            if (claim.address_index > 0) EXPECT_TRUE(places.emplace(claim.host, claim.address_index).second);
            const Instance* instance = estate.instances.find(claim.holder);
            const Slot* slot = estate.slots.find(claim.holder);
            switch (claim.use) {
                case ClaimUse::stock:
                    EXPECT_TRUE(slot && slot->phase == SlotPhase::idle && slot->claim == id) << id;
                    break;
                case ClaimUse::instance:
                    EXPECT_TRUE(instance && instance->claim == id && has_place(instance->phase)) << id;
                    break;
                case ClaimUse::reserved:
                    EXPECT_TRUE(step_of_claim(estate, id) && instance && instance->claim != id) << id;
                    break;
                case ClaimUse::leaving:
                    EXPECT_TRUE(instance && instance->claim == id && is_final(instance->phase)) << id;
                    break;
                case ClaimUse::node: ADD_FAILURE() << id << " is of a cluster"; break;
                case ClaimUse::foreign: EXPECT_TRUE(!instance || instance->claim.empty()) << id; break;
            }
        }
    }
    void check_objects() {
        for (const auto& [id, slot] : estate.slots.all()) {
            EXPECT_EQ(slot.claim.empty(), slot.phase == SlotPhase::pending) << id;
            EXPECT_EQ(slot.instance.empty(), slot.phase != SlotPhase::used) << id;
            // (While its instance stops elsewhere, a step has it.)
            if (slot.phase == SlotPhase::used && !step_of_claim(estate, slot.claim))
                EXPECT_EQ(estate.instances.at(slot.instance).slot, id);
        }
        std::map<std::string, int> writers, mounts;
        std::set<std::string> addresses;
        for (const auto& [id, instance] : estate.instances.all()) {
            if (!instance.slot.empty()) EXPECT_EQ(estate.slots.at(instance.slot).instance, id);
            if (instance.claim.empty()) {
                EXPECT_FALSE(has_place(instance.phase)) << id;
                continue;
            }
            EXPECT_EQ(estate.claims.at(instance.claim).holder, id);
            EXPECT_EQ(estate.claims.at(instance.claim).host, instance.host);
            EXPECT_EQ(estate.subnets.at(instance.subnet).host, instance.host);
            EXPECT_EQ(estate.subnets.at(instance.subnet).tenant, instance.tenant);
            EXPECT_TRUE(addresses.insert(instance.address).second) << instance.address;
            for (const auto& mount : instance.spec.volumes) {
                ++mounts[mount.volume];
                writers[mount.volume] += mount.read_only ? 0 : 1;
                // (One that is to go may see its volume's creation fail before it has gone.)
                const bool stays = next(instance_life, instance.phase, InstanceEvent::halt).has_value();
                if (stays) EXPECT_EQ(estate.volumes.at(mount.volume).host, instance.host);
            }
        }
        for (const auto& [volume, count] : writers) EXPECT_TRUE(count == 0 || mounts[volume] == 1) << volume;
        std::set<std::string> subjects;
        for (const auto& [id, command] : estate.commands.all()) {
            EXPECT_NE(estate.hosts.at(command.host).phase, HostPhase::retired) << id;
            EXPECT_TRUE(subjects.insert(command.subject).second) << command.subject << " has two commands";
        }
        std::set<std::uint32_t> indexes;
        for (const auto& [id, subnet] : estate.subnets.all())
            EXPECT_TRUE(indexes.insert(subnet.index).second);
    }
    // The ledger, added up, is who holds what.
    void check_ledger() {
        for (const auto& line : take().ledger) {
            if (line.use == "released")
                EXPECT_EQ(ledger.erase(line.claim), 1u) << line.claim;
            else
                ledger[line.claim] = line.use + "/" + line.tenant + "/" + line.host;
        }
        std::map<std::string, std::string> held;
        for (const auto& [id, claim] : estate.claims.all())
            held[id] = text_of(claim.use) + "/" + claim.tenant + "/" + claim.host;
        EXPECT_EQ(ledger, held);
    }
    void check_indexes() {
        EXPECT_EQ(testing::room_is_wrong(desk), "");
        EXPECT_EQ(testing::index_is_wrong(estate), "");
        EXPECT_EQ(testing::usage_is_wrong(desk), "");
    }
    void check() { check_claims(), check_objects(), check_ledger(), check_indexes(); }

    IdleSlots idle_slots;
    testing::CountingRandom dice;
    std::map<std::string, std::string> ledger;
    int names = 0, made = 0, wished = 0, placed = 0, consolidations = 0, gave_way = 0;
};

TEST(RulesProperty, TheBooksAreRightWhateverHappens) {
    std::map<InstancePhase, int> reached;
    std::map<ClaimUse, int> uses;
    int wished = 0, placed = 0;
    std::map<MoveState, int> steps;
    int consolidations = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Chaos chaos{seed};
        for (int step = 0; step < 250; ++step) {
            chaos.step();
            chaos.check();
            ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
            for (const auto& [id, instance] : chaos.estate.instances.all()) ++reached[instance.phase];
            for (const auto& [id, run] : chaos.estate.consolidations.all())
                for (const ConsolidationStep& one : run.steps) steps[one.phase] += !one.stock;
        }
        for (const auto& [id, claim] : chaos.estate.claims.all()) ++uses[claim.use];
        wished += chaos.wished;
        placed += chaos.placed;
        consolidations += chaos.consolidations;
    }
    // A test that never gets anywhere proves nothing.
    EXPECT_GT(placed * 4, wished) << "many of those with wishes have a place";
    for (const auto phase :
         {InstancePhase::running, InstancePhase::stopped, InstancePhase::failed, InstancePhase::stopping,
          InstancePhase::lost, InstancePhase::halting, InstancePhase::resting})
        EXPECT_GT(reached[phase], 0) << text_of(phase);
    for (const auto use : {ClaimUse::stock, ClaimUse::instance, ClaimUse::leaving, ClaimUse::foreign})
        EXPECT_GT(uses[use], 0) << text_of(use);
    EXPECT_GT(consolidations, 0);
    for (const auto phase : {MoveState::stopping, MoveState::done})
        EXPECT_GT(steps[phase], 0) << text_of(phase);
}

TEST(RulesProperty, NoMoreStockGivesWayThanIsNeeded) {
    int gave_way = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        Chaos chaos{seed, IdleSlots::give_way};
        for (int step = 0; step < 250; ++step) {
            chaos.step();
            chaos.check();
            ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
        }
        gave_way += chaos.gave_way;
    }
    EXPECT_GT(gave_way, 0);
}

}  // namespace
}  // namespace hostler::master
