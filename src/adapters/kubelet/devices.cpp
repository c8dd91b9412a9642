#include "adapters/kubelet/devices.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "adapters/kubelet/plugin.h"
#include "adapters/kubelet/pods.h"
#include "core/log.h"

namespace hostler::kubelet {

namespace {

constexpr std::size_t id_bytes_max = 63;  // The kubelet's.

// Which socket lies there. A kubelet that was started again has made another.
struct Mark {
    ::dev_t device = 0;
    ::ino_t number = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Mark&) const = default;
};

std::optional<Mark> mark_of(const std::string& path) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
    return Mark{found.st_dev, found.st_ino, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
}

bool is_same(const PodOffer& a, const PodOffer& b) {
    return a.topology == b.topology &&
           std::ranges::equal(a.gpus, b.gpus, [](const PodGpu& one, const PodGpu& other) {
               return one.healthy == other.healthy && one.facts == other.facts;
           });
}

}  // namespace

class KubeletDevices::Keeper {
public:
    Keeper(const Settings& settings, PodOffer offer, std::shared_ptr<Counts> counts)
        : settings_(settings),
          offer_(std::move(offer)),
          counts_(std::move(counts)),
          thread_([this] { keep(); }) {}
    ~Keeper() { end(); }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    void offer(PodOffer offer) {
        const std::scoped_lock lock{mutex_};
        if (is_same(offer, offer_)) return;
        offer_ = std::move(offer);
        fresh_ = true;
        woken_.notify_all();
    }
    // Waits for the thread.
    void end() {
        {
            const std::scoped_lock lock{mutex_};
            ended_ = true;
            woken_.notify_all();
        }
        const std::scoped_lock lock{joining_};
        if (thread_.joinable()) thread_.join();
    }

private:
    struct Served {
        std::unique_ptr<Plugin> plugin;
        std::optional<Mark> own, kubelet;  // Sockets at the last registration.
        std::string trouble;
    };

    void keep() {
        std::unique_lock lock{mutex_};
        auto tried = std::chrono::steady_clock::now();
        while (!ended_) {
            const auto now = std::chrono::steady_clock::now();
            const bool look_again = std::exchange(fresh_, false) || now - tried >= settings_.grant_look;
            PodOffer offer = offer_;
            lock.unlock();
            if (look_again) tried = now, sort(std::move(offer));
            for (auto& [resource, part] : parts_) serve(resource, part, served_[resource]);
            lock.lock();
            if (!fresh_) woken_.wait_for(lock, settings_.look, [this] { return fresh_ || ended_; });
        }
        lock.unlock();
        served_.clear();
    }

    // By resource; a GPU that a container could not get is not healthy to pods.
    void sort(PodOffer offer) {
        for (auto& [resource, part] : parts_) part = {};
        std::vector<GpuFacts> healthy;
        for (const PodGpu& gpu : offer.gpus)
            if (gpu.healthy) healthy.push_back(gpu.facts);
        const bool all_granted = settings_.grant(healthy).has_value();  // One look at the host for all.
        for (PodGpu& gpu : offer.gpus) {
            const std::string resource = pod_resource(gpu.facts);
            if (resource.empty() || gpu.facts.uuid.size() > id_bytes_max) continue;
            std::string why;
            if (gpu.healthy && !all_granted)
                if (const auto given = settings_.grant(std::span{&gpu.facts, 1}); !given)
                    why = given.error().message;
            gpu.healthy = gpu.healthy && why.empty();
            if (std::string& before = refused_[gpu.facts.uuid]; before != why) {
                before = why;
                if (!why.empty()) log_warn("pods do not get GPU {}: {}", gpu.facts.uuid, why);
            }
            PodOffer& part = parts_[resource];
            part.gpus.push_back(std::move(gpu));
            part.topology = offer.topology;
        }
    }

    void serve(const std::string& resource, const PodOffer& part, Served& served) {
        const auto kubelet = mark_of(settings_.folder + "/kubelet.sock");
        if (served.plugin) served.plugin->offer(part);
        if (!kubelet) return;  // It comes up, or is down.
        if (served.plugin && served.kubelet == kubelet && served.own == mark_of(served.plugin->path()))
            return;
        const auto done = register_at(resource, part, served);
        const std::string trouble = done ? "" : done.error().message;
        if (std::exchange(served.trouble, trouble) != trouble && !done) log_warn("{}", trouble);
        served.kubelet = done ? kubelet : std::nullopt;
        if (done) log_info("the kubelet takes {} of {} for its pods", part.gpus.size(), resource);
    }
    Result<> register_at(const std::string& resource, const PodOffer& part, Served& served) {
        if (!served.plugin || served.own != mark_of(served.plugin->path())) {
            served.plugin = nullptr;
            served.plugin = TRY(Plugin::serve(settings_.folder, resource, settings_.grant, part, counts_));
            served.own = mark_of(served.plugin->path());
        }
        return served.plugin->announce(settings_.folder, settings_.call_time);
    }

    const Settings& settings_;
    std::mutex mutex_, joining_;
    std::condition_variable woken_;
    PodOffer offer_;
    const std::shared_ptr<Counts> counts_;
    bool fresh_ = true, ended_ = false;
    // Of the thread alone:
    std::map<std::string, PodOffer> parts_;  // By resource; empty ones, too: the kubelet knows them.
    std::map<std::string, Served> served_;
    std::map<std::string, std::string> refused_;  // Why, by UUID.
    std::thread thread_;                          // Last: it uses the others.
};

KubeletDevices::KubeletDevices(Loop& loop, Settings settings)
    : settings_(std::move(settings)),
      counts_(std::make_shared<Counts>()),
      worker_(make_worker(loop, "kubelet")),
      asker_(make_worker(loop, "pods")) {}

KubeletDevices::~KubeletDevices() {
    keeper_ = nullptr;
    worker_ = nullptr;
    asker_ = nullptr;
}

void KubeletDevices::offer(PodOffer offer) {
    offered_.clear();
    for (const PodGpu& gpu : offer.gpus)
        if (const std::string resource = pod_resource(gpu.facts); !resource.empty())
            offered_[resource].insert(gpu.facts.uuid);
    if (keeper_)
        keeper_->offer(std::move(offer));
    else
        keeper_ = std::make_shared<Keeper>(settings_, std::move(offer), counts_);
}

// Without a keeper, too: an earlier one may still be ending on that thread.
Task<> KubeletDevices::end() {
    offered_.clear();
    co_return co_await run_on<void>(*worker_, [keeper = std::exchange(keeper_, nullptr)]() -> Result<> {
        if (keeper) keeper->end();
        return {};
    });
}

// On another thread than end(): a kubelet that does not answer holds up no step of phase `clean`.
Task<std::map<std::string, GpuPod>> KubeletDevices::holders() {
    if (offered_.empty()) co_return fail(Code::unavailable, "pods are offered no GPU");
    co_return co_await run_on<std::map<std::string, GpuPod>>(
        *asker_, [socket = settings_.pods_socket, time = settings_.pods_time, offered = offered_] {
            return ask_holders(socket, time, offered);
        });
}

PodDeviceCounts KubeletDevices::counts() const { return {counts_->allocations, counts_->refused}; }

}  // namespace hostler::kubelet
