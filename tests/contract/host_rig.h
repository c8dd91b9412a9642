// Real engines with all that they made, each in a folder under /tmp. What runs that were killed left behind
// is taken away by the next.
#pragma once

#include <optional>

#include "adapters/disk/layers.h"
#include "adapters/docker/engine.h"
#include "adapters/docker/network.h"
#include "adapters/docker/podman.h"
#include "adapters/docker/processes.h"
#include "adapters/docker/testing/dockerd.h"
#include "engine_contract.h"
#include "http/client.h"

namespace hostler::contract {

class HostRig : public EngineRig {
public:
    Loop& loop() override { return loop_; }
    Timers& timers() override { return *timers_; }
    docker::DockerEngine& engine() override { return *engine_; }
    docker::DockerEngine& images() override { return *engine_; }
    docker::DockerEngine& events() override { return *engine_; }
    docker::DockerProcesses& processes() override { return *processes_; }
    docker::DockerNetwork& network() override { return *network_; }
    std::unique_ptr<docker::DockerNetwork> network_with(docker::WallSettings wall);
    void drive(std::function<bool()> done) override;
    // In a user namespace, where this engine has them.
    ContainerSpec server(std::string name) override;
    ContainerSpec finisher(std::string name, int code) override;
    ContainerSpec stubborn(std::string name) override;
    std::string subnet(int number) override;

    // The body of GET http://address:8080/path, tried until the server listens; "" when it does not answer
    // within `time`.
    std::string get(std::string address, std::string path, Duration time = std::chrono::seconds{10});
    Net& net() { return *net_; }
    Worker& worker() { return *worker_; }
    const std::string& folder() const { return folder_; }
    docker::EngineSettings engine_settings() const;
    KeptLayers& layers() { return *layers_; }
    virtual pid_t service() const = 0;
    virtual docker::Dialect dialect() const = 0;
    pid_t process_of(const std::string& container);  // Its first, as the host counts; 0: it does not run.
    std::string layers_mounted() const;              // Of containers' file systems, how many.
    docker::Inspected look_at(const std::string& container);
    std::string busybox_image();  // The image of a container that waits for SIGTERM, with /busybox.
    // An image of what is in a folder of this host, owners included; changes as lines of a Dockerfile.
    void import_folder(const std::string& folder, const std::string& image,
                       const std::vector<std::string>& changes);
    // In the engine's mount namespace.
    std::string shell_of_engine(const std::string& command) const;
    IdRange ids() const { return ids_; }  // That its containers have.

protected:
    HostRig(std::string folder, std::string socket)
        : folder_(std::move(folder)), socket_(std::move(socket)) {}
    void connect();  // Once the service is started: makes all that talks to it, and the demo's image.
    void wait_until_ready();

    std::string folder_;
    std::string socket_;
    Loop loop_;
    std::unique_ptr<Timers> timers_;
    std::unique_ptr<Net> net_;
    std::unique_ptr<Worker> worker_;
    std::unique_ptr<Worker> layer_worker_;
    std::unique_ptr<Layers> layers_;
    std::unique_ptr<docker::DockerEngine> engine_;
    std::unique_ptr<docker::DockerProcesses> processes_;
    std::unique_ptr<docker::DockerNetwork> network_;
    std::unique_ptr<http::Client> client_;
    IdRange ids_;
};

class PodmanRig final : public HostRig {
public:
    // nullptr where podman cannot be had (not installed, not root); one per process.
    static std::shared_ptr<PodmanRig> shared();
    static void drop();  // With all that it made.

    // One of its own, in a mount namespace whose mounts are not shared, /run/netns being none of them.
    // Without the part of `hostler up` that shares it if `as_found`. Nothing that the rig mounts is seen
    // there.
    static std::shared_ptr<PodmanRig> unshared(bool as_found = false);

    PodmanRig(docker::PodmanService service, std::string folder, std::function<bool()> enter);
    ~PodmanRig() override;

    void crash() override;
    pid_t service() const override { return pid_; }
    docker::Dialect dialect() const override { return docker::Dialect::podman; }

private:
    void start_service();

    docker::PodmanService service_;
    std::function<bool()> enter_;  // In the child that becomes the service.
    pid_t pid_ = 0;
};

class DockerRig final : public HostRig {
public:
    // nullptr where dockerd cannot be had (not installed, not root); one per process.
    static std::shared_ptr<DockerRig> shared();
    static void drop();

    explicit DockerRig(std::string folder);
    ~DockerRig() override;

    void enter() override { within_.emplace(daemon_.network()); }
    void leave() override { within_.reset(); }
    void crash() override;
    pid_t service() const override { return daemon_.pid(); }
    docker::Dialect dialect() const override { return docker::Dialect::docker; }

private:
    docker::testing::Dockerd daemon_;
    std::optional<docker::testing::Within> within_;
};

// The output of a shell command; "" when it fails.
std::string shell(const std::string& command);

}  // namespace hostler::contract
