// The device plugin of one resource. All calls may come from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "domain/scheduler/topology.h"
#include "ports/pod_devices.h"

namespace hostler::kubelet {

// Of these GPUs those that are best taken together, by NVLink, then PCIe, then NUMA node; those in `must`
// among them. Empty: there are not as many.
std::vector<std::string> preferred(const PodOffer& offer, const std::vector<std::string>& available,
                                   const std::vector<std::string>& must, int count);

// Of containers.
struct Counts {
    std::atomic<std::uint64_t> allocations = 0, refused = 0;
};

class Plugin {
public:
    using Grant = std::function<Result<PodGrant>(std::span<const GpuFacts>)>;
    // Listens on FOLDER/ENDPOINT, where a socket that lies there goes. Errors: unavailable.
    static Result<std::unique_ptr<Plugin>> serve(const std::string& folder, const std::string& resource,
                                                 Grant grant, PodOffer offer, std::shared_ptr<Counts> counts);
    // Ends all calls and removes the socket; takes a second at most.
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    void offer(PodOffer offer);  // The kubelet is told what differs.
    // With the kubelet in the folder, which asks for the list at once. Errors: unavailable, timeout.
    Result<> announce(const std::string& folder, std::chrono::milliseconds time) const;
    const std::string& path() const;  // Of the socket.

private:
    struct State;
    explicit Plugin(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hostler::kubelet
