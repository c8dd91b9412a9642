// For tests: clusters on hosts whose agents do what they are told, as far as a test lets them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "api/types_cluster.h"
#include "roles/master/cluster/clusters.h"
#include "roles/master/cluster/probe.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/cluster/steps.h"
#include "roles/master/cluster/watch.h"
#include "roles/master/state/consistency.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master::testing {

// What outlives a master: its hosts, and the store.
struct ClusterWorld {
    std::map<std::string, std::vector<std::string>> leftovers;  // By host.
    std::map<std::string, int>
        fails;                     // By "STEP", "STEP@HOST" or "STEP/NODE": so often it fails from now on.
    std::set<std::string> silent;  // Hosts.
    std::vector<std::string> log;  // "STEP HOST", as they were done.
    std::map<std::string, std::string> probe;  // Its outputs.
    std::map<std::pair<std::string, std::uint64_t>, CommandAnswer> journal;
    std::map<std::pair<std::string, std::string>, Object> store;
};

struct ClusterDesk : DeskRig {
    static DriverStep step(std::string name, StepPhase phase, StepPlace place = StepPlace::node,
                           std::vector<NodeRole> roles = {}) {
        return {.name = std::move(name),
                .phase = phase,
                .roles = std::move(roles),
                .place = place,
                .run = {"true", "{{node.name}}"},
                .tries = 2};
    }
    static Driver test_driver() {
        Driver driver{
            .name = "test",
            .title = "A driver for tests",
            .versions = {"v2", "v1"},
            .images = {"example.com/api:{{version}}"},
            .values = {{"podSubnet", "10.0.0.0/8"}},
            .steps = {step("install", StepPhase::prepare), step("init", StepPhase::create),
                      step("token", StepPhase::join, StepPlace::control), step("join", StepPhase::join),
                      step("names", StepPhase::refresh), step("drain", StepPhase::drain, StepPlace::control),
                      step("member", StepPhase::leave, StepPlace::control, {NodeRole::control}),
                      step("forget", StepPhase::leave, StepPlace::control), step("reset", StepPhase::leave),
                      step("remove", StepPhase::clean), step("save", StepPhase::save),
                      step("restore", StepPhase::restore), step("erase", StepPhase::erase)}};
        driver.steps[1].outputs = {"ca"};
        driver.steps[2].outputs = {"join-token"};
        driver.steps[3].run = {"join", "{{join-token}}", "{{control.address}}", "{{podSubnet}}"};
        driver.steps[4].run = {"names", "{{cluster.addresses}}"};
        for (DriverStep& one : driver.steps) {
            if (one.phase == StepPhase::save) one.outputs = {"save.bytes"};
            if (one.phase == StepPhase::restore) one.outputs = {"ca"};
            if (one.phase == StepPhase::save || one.phase == StepPhase::restore ||
                one.phase == StepPhase::erase)
                one.run = {one.name, "{{save.file}}"};
        }
        return driver;
    }

    explicit ClusterDesk(std::shared_ptr<ClusterWorld> shared = std::make_shared<ClusterWorld>())
        : world(std::move(shared)) {
        settings.drivers = {test_driver()};
        settings.driver_digests = {{"test", "d1"}};
    }
    DriverStep& driver_step(const std::string& name) {
        return *std::ranges::find(settings.drivers[0].steps, name, &DriverStep::name);
    }
    // The next master begins from the store.
    std::unique_ptr<ClusterDesk> restarted() const {
        auto fresh = std::make_unique<ClusterDesk>(world);
        fresh->now = now, fresh->commits = commits, fresh->settings.drivers = settings.drivers;
        fresh->pass(0);
        std::vector<Object> objects;
        for (const auto& [key, object] : world->store)
            if (object.live) objects.push_back(object);
        HOSTLER_ASSERT(fresh->estate.load(objects));
        for (const auto& [id, host] : std::map{fresh->estate.hosts.all().as_map()}) {
            if (world->silent.contains(id) || host.phase == HostPhase::retired) continue;
            fresh->connect(id);
            fresh->said[id];
            fresh->report(id), fresh->report(id);
        }
        return fresh;
    }

    std::string host(const std::string& name, int gpus = 0, const std::string& zone = "nj") {
        const std::string id = DeskRig::host(name, zone, gpus);
        HostFacts& facts = estate.hosts.edit(id).facts;
        facts.clusters = true;
        facts.addresses = {fmt::format("10.0.0.{}", ++addresses)};
        report(id);
        return id;
    }
    void silence(const std::string& id) {
        world->silent.insert(id);
        estate.hosts.edit(id).phase = HostPhase::unreachable;
    }
    void returns(const std::string& id) {
        world->silent.erase(id);
        report(id), report(id);
    }

    static api::CreateCluster wanted(std::int64_t workers = 1, std::int64_t control = 1) {
        api::CreateCluster request{.name = "train", .driver = "test", .control = control};
        if (workers > 0) request.pools.push_back({.name = "cpu", .count = workers});
        return request;
    }
    std::string create(const api::CreateCluster& request, const std::string& tenant = "acme") {
        const auto made = create_cluster(desk, request, tenant, "user/ann");
        if (!made) ADD_FAILURE() << made.error().message << " " << made.error().help;
        HOSTLER_ASSERT(made);
        const std::string id = (*made)->id;
        commit();
        return id;
    }
    Error refused(const api::CreateCluster& request) {
        const auto made = create_cluster(desk, request, "acme", "user/ann");
        EXPECT_FALSE(made);
        return made ? Error{} : made.error();
    }
    const Cluster& cluster(const std::string& id) const { return estate.clusters.at(id); }
    std::vector<const ClusterNode*> nodes(const std::string& id) const { return nodes_of(desk, id); }
    const ClusterNode* node(const std::string& id, const std::string& name) const {
        for (const ClusterNode* one : nodes(id))
            if (one->name == name) return one;
        return nullptr;
    }
    std::size_t ready(const std::string& id) const {
        return static_cast<std::size_t>(std::ranges::count(nodes(id), NodePhase::ready, &ClusterNode::phase));
    }

    void commit() {
        const Changes changes = take();
        for (const Object& object : changes.put) world->store[{object.kind, object.id}] = object;
        for (const auto& gone : changes.erase) world->store.erase(gone);
        for (const EventRecord& event : changes.events) events.push_back(event.reason);
    }
    void sweep(int seconds = 1) {
        pass(seconds);
        expire_commands(desk);
        look_at_clusters(desk);
        look_at_saves(desk);
        commit();
    }
    bool fails(const std::string& key) {
        const auto at = world->fails.find(key);
        return at != world->fails.end() && at->second > 0 && at->second-- > 0;
    }
    CommandAnswer done(const HostCommand& command, const StepTold& told, const std::string& node) {
        if (command.verb == Verb::node_clean)
            return {.done = true, .leftovers = world->leftovers[command.host]};
        if (told.name == probe_step) return {.done = true, .outputs = world->probe};
        world->log.push_back(told.name + " " + command.host);
        if (fails(told.name) || fails(told.name + "@" + command.host) || fails(told.name + "/" + node))
            return {.code = "conflict", .reason = "step_failed", .message = told.name + " ended with 1"};
        CommandAnswer answer{.done = true};
        const DriverStep* step = step_named(settings.drivers[0], told.name);
        for (const std::string& name : step->outputs)
            answer.outputs[name] = name == "save.bytes" ? "4096" : "secret of " + node;
        return answer;
    }
    // One command of an agent that answers. false: there is none.
    bool act() {
        for (const auto& [id, command] : std::map{estate.commands.all().as_map()}) {
            if (command.verb != Verb::node_step && command.verb != Verb::node_clean) continue;
            if (world->silent.contains(command.host)) continue;
            const ClusterNode* node = estate.cluster_nodes.find(command.subject);
            const ClusterSave* save = estate.cluster_saves.find(command.subject);
            if ((!node || node->run != command.subject_generation) &&
                (!save || save->run != command.subject_generation))
                continue;
            const auto told = node ? told_of(desk, *node) : told_of(desk, *save);
            HOSTLER_ASSERT(told);
            const auto key = std::pair{command.subject, command.subject_generation};
            if (!world->journal.contains(key))
                world->journal[key] = done(command, *told, node ? node->name : save->id);
            values = told->values;
            note_answer(desk, command.host, command.id, world->journal[key]);
            commit();
            return true;
        }
        return false;
    }
    // Until nothing is to do but to wait, and for so many seconds more.
    void go_on(int seconds = 0) {
        for (int quiet = 0; quiet < 3 + seconds; ++quiet) {
            sweep();
            while (act()) quiet = std::min(quiet, seconds);
        }
    }
    // Nothing holds a host, and all fits together.
    void expect_nothing_left() {
        EXPECT_TRUE(estate.clusters.all().empty());
        EXPECT_TRUE(estate.cluster_nodes.all().empty());
        EXPECT_TRUE(estate.claims.all().empty());
        expect_consistent();
    }
    void expect_consistent() {
        std::vector<Object> live;
        for (const auto& [key, object] : world->store)
            if (object.live) live.push_back(object);
        for (const Contradiction& one : contradictions(live))
            ADD_FAILURE() << one.subject << ": " << one.message;
    }

    std::shared_ptr<ClusterWorld> world;
    std::vector<std::string> events;
    StepValues values;  // Of the last step.
    int addresses = 0;
};

struct ClusterRig : ::testing::Test, ClusterDesk {};

}  // namespace hostler::master::testing
