// For tests: jobs on hosts that say what runs there.
#pragma once

#include <gtest/gtest.h>

#include "api/types_job.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/jobs.h"
#include "roles/master/job/round.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master::testing {

struct JobRig : ::testing::Test, DeskRig {
    JobRig() {
        estate.specs.add({.name = "small",
                          .cpu_milli = 1000,
                          .memory_bytes = std::int64_t{1} << 30,
                          .gpu_type = "H100",
                          .gpu_count = 1});
    }
    // Its agent keeps leases.
    std::string host(const std::string& name, const std::string& zone = "nj", int gpus = 4) {
        const std::string id = DeskRig::host(name, zone, gpus);
        live.hosts[id].keeps_leases = true;
        return id;
    }
    static api::SubmitJob wanted(const std::string& name) {
        return {.name = name, .image = "demo:1", .spec_name = "small"};
    }
    static api::SubmitJob gang(std::int64_t tasks, const std::string& name = "gang") {
        api::SubmitJob request = wanted(name);
        request.tasks = tasks;
        request.gang = true;
        return request;
    }
    std::string running_gang(std::int64_t tasks) {
        const std::string id = submit(gang(tasks));
        go_on();
        all_run(id);
        return id;
    }
    std::string submit(const api::SubmitJob& request, const std::string& by = "user/ann",
                       const std::string& tenant = "acme") {
        const auto made = submit_job(desk, request, tenant, by);
        HOSTLER_ASSERT(made);
        return (*made)->id;
    }
    Error refused(const api::SubmitJob& request) {
        const auto made = submit_job(desk, request, "acme", "user/ann");
        EXPECT_FALSE(made);
        return made ? Error{} : made.error();
    }
    const Job& job(const std::string& id) const { return estate.jobs.at(id); }
    // As the master's task does, until nothing is left to do now.
    void go_on() {
        for (bool more = true; more;) {
            more = follow_jobs(desk, now, 64);
            more = admit_jobs(desk) || more;
        }
        (void)take();
    }
    std::vector<std::string> tasks(const std::string& id) const {
        std::vector<std::string> all;
        for (const JobRun& run : job(id).runs)
            all.insert(all.end(), run.instances.begin(), run.instances.end());
        return all;
    }
    // Its host says that it runs.
    void runs(const std::string& task) {
        said[instance(task).host][task] = {
            .state = "running", .generation = instance(task).run_generation, .ready = true};
        if (command_of(task)) answer(task, {.done = true});
        report(instance(task).host);
    }
    void all_run(const std::string& id) {
        for (const std::string& task : tasks(id)) runs(task);
        go_on();
    }
    // Its program has ended by itself.
    void exits(const std::string& task, int code) {
        SeenWorkload& workload = said[instance(task).host][task];
        workload.state = "exited";
        workload.exit_code = code;
        report(instance(task).host);
        is_gone(task);
    }
    // Its host has taken it away.
    void is_gone(const std::string& task) {
        said[instance(task).host].erase(task);
        if (command_of(task)) answer(task, {.done = true});
        report(instance(task).host), report(instance(task).host);
        reconcile_instance(desk, task);
    }
    void all_gone() {
        for (const auto& [host, workloads] : said)
            for (const auto& [task, workload] : std::map{workloads})
                if (is_final(instance(task).phase) || instance(task).phase == InstancePhase::stopping)
                    is_gone(task);
        go_on();
    }
    std::string variable(const std::string& task, const std::string& name) const {
        std::string value = "-";
        for (const InstanceVariable& one : instance(task).spec.environment)
            if (one.name == name) value = one.value;
        return value;
    }
};

}  // namespace hostler::master::testing
