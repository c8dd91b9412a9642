// A podman service of its own with all that it made, in a folder under /tmp. What runs that were killed left
// behind is taken away by the next.
#pragma once

#include "adapters/docker/engine.h"
#include "adapters/docker/network.h"
#include "adapters/docker/podman.h"
#include "engine_contract.h"
#include "http/client.h"

namespace hostler::contract {

class PodmanRig final : public EngineRig {
public:
    // nullptr where podman cannot be had (not installed, not root); one per process.
    static std::shared_ptr<PodmanRig> shared();
    static void drop();  // With all that it made.

    PodmanRig(docker::PodmanService service, std::string folder);
    ~PodmanRig() override;

    Loop& loop() override { return loop_; }
    Timers& timers() override { return *timers_; }
    docker::DockerEngine& engine() override { return *engine_; }
    docker::DockerNetwork& network() override { return *network_; }
    void drive(std::function<bool()> done) override;
    ContainerSpec server(std::string name) override;
    ContainerSpec finisher(std::string name, int code) override;
    std::string subnet(int number) override;
    void crash() override;

    // The body of GET http://address:8080/path, tried until the server listens; "" when it does not within 10
    // s.
    std::string get(std::string address, std::string path);
    Net& net() { return *net_; }
    Worker& worker() { return *worker_; }
    const std::string& folder() const { return folder_; }
    docker::EngineSettings engine_settings() const;
    pid_t service() const { return pid_; }

private:
    void start_service();

    std::string folder_;
    docker::PodmanService service_;
    pid_t pid_ = 0;
    Loop loop_;
    std::unique_ptr<Timers> timers_;
    std::unique_ptr<Net> net_;
    std::unique_ptr<Worker> worker_;
    std::unique_ptr<docker::DockerEngine> engine_;
    std::unique_ptr<docker::DockerNetwork> network_;
    std::unique_ptr<http::Client> client_;
};

// The output of a shell command; "" when it fails.
std::string shell(const std::string& command);

}  // namespace hostler::contract
