// For tests: a host on which steps of clusters end when the test says so.
#pragma once

#include <map>
#include <vector>

#include "core/signal.h"
#include "ports/node_steps.h"

namespace hostler::agent::testing {

class FakeNodeSteps : public NodeSteps {
public:
    Task<NodeStepDone> perform(NodeStep step) override {
        begun.push_back(step);
        ++running;
        struct End {
            int& count;
            ~End() { --count; }
        } end{running};
        while (held) CO_TRY(co_await released.wait());
        if (fails) co_return std::unexpected(*fails);
        co_return NodeStepDone{outputs, false};
    }
    Task<> forget(std::string node) override {
        forgotten.push_back(std::move(node));
        co_return Result<>{};
    }
    Task<std::vector<Leftover>> look(Leftovers what) override {
        looked_for = std::move(what);
        if (fails) co_return std::unexpected(*fails);
        co_return left;
    }
    Task<NodeApi> api(std::string cluster) override {
        const auto found = apis.find(cluster);
        if (found == apis.end()) co_return fail(Code::not_found, "no API", "no_cluster_api");
        co_return found->second;
    }
    void release() {
        held = false;
        released.notify_all();
    }

    bool held = false;
    Signal released;
    int running = 0;
    std::optional<Error> fails;
    std::map<std::string, std::string> outputs;
    std::vector<Leftover> left;
    std::map<std::string, NodeApi> apis;  // By cluster.
    std::vector<NodeStep> begun;
    std::vector<std::string> forgotten;
    Leftovers looked_for;
};

}  // namespace hostler::agent::testing
