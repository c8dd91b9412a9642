#include "adapters/kubelet/plugin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <mutex>

#include "core/log.h"
#include "proto/device_plugin.grpc.pb.h"

namespace hostler::kubelet {

namespace {

constexpr const char* api_version = "v1beta1";
constexpr int threads_max = 16;
constexpr int watchers_max = 8;      // The kubelet has one; one that was killed may have left another.
constexpr int containers_max = 256;  // Of one call.
constexpr std::chrono::milliseconds gone_look{500};  // Whether who watches is still there.
constexpr std::chrono::seconds end_time{1};

grpc::Status status_of(const Error& error) {
    switch (error.code) {
        case Code::not_found: return {grpc::StatusCode::NOT_FOUND, error.message};
        case Code::invalid: return {grpc::StatusCode::INVALID_ARGUMENT, error.message};
        case Code::conflict: return {grpc::StatusCode::FAILED_PRECONDITION, error.message};
        case Code::exhausted: return {grpc::StatusCode::RESOURCE_EXHAUSTED, error.message};
        case Code::unauthenticated:
        case Code::forbidden: return {grpc::StatusCode::PERMISSION_DENIED, error.message};
        case Code::timeout: return {grpc::StatusCode::DEADLINE_EXCEEDED, error.message};
        case Code::unavailable:
        case Code::cancelled:
        case Code::internal: return {grpc::StatusCode::UNAVAILABLE, error.message};
    }
    return {grpc::StatusCode::UNAVAILABLE, error.message};
}

v1beta1::ListAndWatchResponse list_of(const PodOffer& offer) {
    v1beta1::ListAndWatchResponse list;
    for (const PodGpu& gpu : offer.gpus) {
        auto& device = *list.add_devices();
        device.set_id(gpu.facts.uuid);
        device.set_health(gpu.healthy ? "Healthy" : "Unhealthy");
        if (gpu.facts.numa_node >= 0) device.mutable_topology()->add_nodes()->set_id(gpu.facts.numa_node);
    }
    return list;
}

void put(const PodGrant& grant, v1beta1::ContainerAllocateResponse& into) {
    for (const auto& [name, value] : grant.environment) (*into.mutable_envs())[name] = value;
    for (const auto& node : grant.nodes) {
        auto& device = *into.add_devices();
        device.set_container_path(node.path);
        device.set_host_path(node.host_path);
        device.set_permissions(node.permissions);
    }
    for (const auto& one : grant.mounts) {
        auto& mount = *into.add_mounts();
        mount.set_container_path(one.path);
        mount.set_host_path(one.host_path);
        mount.set_read_only(one.read_only);
    }
}

class Service final : public v1beta1::DevicePlugin::Service {
public:
    Service(std::string resource, Plugin::Grant grant, PodOffer offer, std::shared_ptr<Counts> counts)
        : resource_(std::move(resource)),
          grant_(std::move(grant)),
          counts_(std::move(counts)),
          offer_(std::move(offer)) {}

    void offer(PodOffer offer) {
        const std::scoped_lock lock{mutex_};
        const bool same = list_of(offer).SerializeAsString() == list_of(offer_).SerializeAsString();
        offer_ = std::move(offer);
        if (same) return;
        ++version_;
        changed_.notify_all();
    }
    void close() {
        const std::scoped_lock lock{mutex_};
        closed_ = true;
        changed_.notify_all();
    }

    grpc::Status GetDevicePluginOptions(grpc::ServerContext*, const v1beta1::Empty*,
                                        v1beta1::DevicePluginOptions* options) override {
        options->set_get_preferred_allocation_available(true);
        return grpc::Status::OK;
    }

    grpc::Status ListAndWatch(grpc::ServerContext* call, const v1beta1::Empty*,
                              grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) override {
        std::unique_lock lock{mutex_};
        if (watchers_ >= watchers_max)
            return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watch already"};
        ++watchers_;
        std::uint64_t told = 0;
        while (!closed_ && !call->IsCancelled()) {
            if (told == version_) {
                changed_.wait_for(lock, gone_look);
                continue;
            }
            told = version_;
            const auto list = list_of(offer_);
            lock.unlock();
            const bool sent = writer->Write(list);
            lock.lock();
            if (!sent) break;
        }
        --watchers_;
        return grpc::Status::OK;
    }

    grpc::Status GetPreferredAllocation(grpc::ServerContext*,
                                        const v1beta1::PreferredAllocationRequest* asked,
                                        v1beta1::PreferredAllocationResponse* answer) override {
        if (asked->container_requests_size() > containers_max) return too_many();
        const PodOffer now = offered();
        for (const auto& one : asked->container_requests()) {
            const auto found =
                preferred(now, {one.available_deviceids().begin(), one.available_deviceids().end()},
                          {one.must_include_deviceids().begin(), one.must_include_deviceids().end()},
                          one.allocation_size());
            auto& ids = *answer->add_container_responses()->mutable_deviceids();
            ids.Add(found.begin(), found.end());
        }
        return grpc::Status::OK;
    }

    grpc::Status Allocate(grpc::ServerContext*, const v1beta1::AllocateRequest* asked,
                          v1beta1::AllocateResponse* answer) override {
        if (asked->container_requests_size() > containers_max) return too_many();
        const PodOffer now = offered();
        for (const auto& one : asked->container_requests()) {
            const std::vector<std::string> ids{one.devices_ids().begin(), one.devices_ids().end()};
            auto given = given_for(now, ids);
            if (!given) {
                ++counts_->refused;
                log_warn("a container gets none of {} {}: {}", resource_, fmt::join(ids, ", "),
                         given.error().message);
                return status_of(given.error());
            }
            put(*given, *answer->add_container_responses());
        }
        counts_->allocations += static_cast<std::uint64_t>(asked->container_requests_size());
        for (const auto& one : asked->container_requests())
            log_info("a container gets {} {}", resource_, fmt::join(one.devices_ids(), ", "));
        return grpc::Status::OK;
    }

private:
    static grpc::Status too_many() {
        return {grpc::StatusCode::INVALID_ARGUMENT, fmt::format("more than {} containers", containers_max)};
    }
    PodOffer offered() const {
        const std::scoped_lock lock{mutex_};
        return offer_;
    }
    // Errors: not_found, unavailable (it is not healthy), those of the grant.
    Result<PodGrant> given_for(const PodOffer& now, const std::vector<std::string>& ids) const {
        std::vector<GpuFacts> wanted;
        for (const std::string& id : ids) {
            const auto found =
                std::ranges::find(now.gpus, id, [](const PodGpu& gpu) { return gpu.facts.uuid; });
            if (found == now.gpus.end())
                return fail(Code::not_found, fmt::format("this host has no {} {}", resource_, id),
                            "gpu_not_found");
            if (!found->healthy)
                return fail(Code::unavailable, fmt::format("{} {} is not healthy", resource_, id),
                            "gpu_unhealthy");
            wanted.push_back(found->facts);
        }
        return grant_(wanted);
    }

    const std::string resource_;
    const Plugin::Grant grant_;
    const std::shared_ptr<Counts> counts_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    PodOffer offer_;
    std::uint64_t version_ = 1;
    int watchers_ = 0;
    bool closed_ = false;
};

// Those in `needed`, and others that reach the first of them like this; 0: there are too few.
GpuSet with(const Topology& topology, Link link, GpuSet free, GpuSet needed, int count) {
    const auto& groups = link == Link::nvlink ? topology.nvlink
                         : link == Link::pcie ? topology.pcie
                                              : topology.numa;
    const auto first = static_cast<std::size_t>(std::countr_zero(needed));
    GpuSet taken = needed;
    for (std::size_t i = 0; i < gpus_max && std::popcount(taken) < count; ++i)
        if ((free >> i & 1U) && (link == Link::any || groups[i] == groups[first]))
            taken = static_cast<GpuSet>(taken | 1U << i);
    return std::popcount(taken) == count ? taken : GpuSet{0};
}

// "hostler-nvidia.com-gpu.sock"
std::string endpoint_of(std::string resource) {
    std::ranges::replace(resource, '/', '-');
    return fmt::format("hostler-{}.sock", resource);
}

}  // namespace

std::vector<std::string> preferred(const PodOffer& offer, const std::vector<std::string>& available,
                                   const std::vector<std::string>& must, int count) {
    HostFacts facts{.topology = offer.topology};
    for (const PodGpu& gpu : offer.gpus) facts.gpus.push_back(gpu.facts);
    if (count <= 0 || facts.gpus.size() > gpus_max) return {};
    const auto set_of = [&](const std::vector<std::string>& ids) {
        GpuSet set = 0;
        for (std::size_t i = 0; i < facts.gpus.size(); ++i)
            if (std::ranges::count(ids, facts.gpus[i].uuid) > 0) set = static_cast<GpuSet>(set | 1U << i);
        return set;
    };
    const GpuSet needed = set_of(must), free = static_cast<GpuSet>(set_of(available) | needed);
    if (std::popcount(needed) > count || std::popcount(free) < count) return {};
    const Topology topology = topology_of(facts);
    GpuSet taken = 0;
    for (const Link link : {Link::nvlink, Link::pcie, Link::numa, Link::any})
        if (taken == 0)
            taken =
                needed == 0 ? pick(topology, link, free, count) : with(topology, link, free, needed, count);
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < facts.gpus.size(); ++i)
        if (taken >> i & 1U) ids.push_back(facts.gpus[i].uuid);
    return ids;
}

struct Plugin::State {
    State(std::string with_resource, Grant grant, PodOffer offer, std::shared_ptr<Counts> counts)
        : resource(std::move(with_resource)),
          service(resource, std::move(grant), std::move(offer), std::move(counts)) {}
    std::string resource, endpoint, path;
    Service service;
    std::unique_ptr<grpc::Server> server;
};

Plugin::Plugin(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Plugin>> Plugin::serve(const std::string& folder, const std::string& resource,
                                              Grant grant, PodOffer offer, std::shared_ptr<Counts> counts) {
    auto state = std::make_unique<State>(resource, std::move(grant), std::move(offer), std::move(counts));
    state->endpoint = endpoint_of(resource);
    state->path = fmt::format("{}/{}", folder, state->endpoint);
    ::unlink(state->path.c_str());
    gpr_set_log_function([](gpr_log_func_args* said) { log_debug("gRPC: {}", said->message); });
    grpc::ServerBuilder builder;
    grpc::ResourceQuota quota;
    quota.SetMaxThreads(threads_max);
    builder.SetResourceQuota(quota);
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    int bound = 0;
    builder.AddListeningPort("unix:" + state->path, grpc::InsecureServerCredentials(), &bound);
    builder.RegisterService(&state->service);
    state->server = builder.BuildAndStart();
    if (!state->server || bound == 0)
        return fail(Code::unavailable, fmt::format("cannot listen on {}", state->path));
    ::chmod(state->path.c_str(), 0600);
    return std::unique_ptr<Plugin>{new Plugin{std::move(state)}};
}

Plugin::~Plugin() {
    state_->service.close();
    if (state_->server) state_->server->Shutdown(std::chrono::system_clock::now() + end_time);
    state_->server.reset();
    ::unlink(state_->path.c_str());
}

void Plugin::offer(PodOffer offer) { state_->service.offer(std::move(offer)); }

const std::string& Plugin::path() const { return state_->path; }

Result<> Plugin::announce(const std::string& folder, std::chrono::milliseconds time) const {
    // Channels share a connection unless told otherwise, and a shared one waits longer after each failure.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1beta1::Registration::NewStub(grpc::CreateCustomChannel(
        fmt::format("unix:{}/kubelet.sock", folder), grpc::InsecureChannelCredentials(), arguments));
    v1beta1::RegisterRequest wanted;
    wanted.set_version(api_version);
    wanted.set_endpoint(state_->endpoint);
    wanted.set_resource_name(state_->resource);
    wanted.mutable_options()->set_get_preferred_allocation_available(true);
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + time);
    v1beta1::Empty answer;
    const grpc::Status status = stub->Register(&call, wanted, &answer);
    if (status.ok()) return {};
    return fail(
        status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ? Code::timeout : Code::unavailable,
        fmt::format("the kubelet does not take {}: {}", state_->resource, status.error_message()));
}

}  // namespace hostler::kubelet
