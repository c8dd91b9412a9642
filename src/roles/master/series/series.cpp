#include "roles/master/series/series.h"

#include <array>

#include "domain/inventory/metrics.h"
#include "domain/inventory/model.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

// What labels say, without a copy of it. What is empty is no label.
struct LabelWords {
    std::string index{}, gpu_instance{};
    std::string_view cluster{}, container{}, family{}, gpu{}, host{}, host_name{}, model{}, name_space{},
        node{}, pod{}, profile{}, project{}, slice{}, tenant{}, use{}, vendor{}, volume{}, workload{}, zone{};
    series::Millis from = 0;

    auto by_name() const {
        using Word = std::pair<std::string_view, std::string_view>;
        return std::to_array<Word>({{"class", family},
                                    {"cluster", cluster},
                                    {"container", container},
                                    {"gpu", gpu},
                                    {"gpu_instance", gpu_instance},
                                    {"host", host},
                                    {"host_name", host_name},
                                    {"index", index},
                                    {"model", model},
                                    {"namespace", name_space},
                                    {"node", node},
                                    {"pod", pod},
                                    {"profile", profile},
                                    {"project", project},
                                    {"slice", slice},
                                    {"tenant", tenant},
                                    {"use", use},
                                    {"vendor", vendor},
                                    {"volume", volume},
                                    {"workload", workload},
                                    {"zone", zone}});
    }
};

// It has not run since it has its place.
bool is_prepared(const Instance& instance) {
    return instance.ran_since == 0 && instance.phase != InstancePhase::running &&
           instance.phase != InstancePhase::lost && !instance.adopted;
}

LabelWords label_words(const Host& host) {
    return {.host = host.id, .host_name = host.facts.hostname, .zone = host.zone};
}

LabelWords label_words(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim) {
    LabelWords words = label_words(host);
    words.gpu = gpu.uuid;
    words.index = std::to_string(gpu.index);
    words.model = gpu.model;
    if (const GpuModel* model = find_gpu_model(gpu.model)) words.family = model->family;
    words.vendor = boost::describe::enum_to_string(gpu.vendor, "");
    if (!claim) return words;
    // Its owner's until the host has confirmed that nothing of it runs.
    const bool owned =
        claim->use == ClaimUse::instance || claim->use == ClaimUse::leaving || claim->use == ClaimUse::node;
    words.use = boost::describe::enum_to_string(owned ? ClaimUse::instance : claim->use, "");
    words.from = claim->since / 1000;
    if (!owned) return words;
    words.tenant = claim->tenant;
    words.project = claim->project;
    if (const Instance* instance = desk.estate.instances.find(claim->holder)) {
        words.workload = instance->caller_id;
        // While its image comes or is made nobody can use its GPUs. A restart is its owner's.
        if (is_prepared(*instance))
            words.use = "preparing";
        else
            words.from = std::max(claim->since, instance->ran_since) / 1000;
    }
    if (claim->use != ClaimUse::node) return words;
    if (const ClusterNode* node = desk.estate.cluster_nodes.find(claim->holder)) {
        words.node = node->name;
        if (const Cluster* cluster = desk.estate.clusters.find(node->cluster)) words.cluster = cluster->name;
    }
    return words;
}

void add_pod(const GpuPod& pod, LabelWords& words) {
    words.name_space = pod.pod_namespace;
    words.pod = pod.name;
    words.container = pod.container;
}

LabelWords label_words(const Desk& desk, const Host& host, const GpuFacts& gpu, const GpuSlice& slice,
                       const Claim* claim) {
    LabelWords words = label_words(desk, host, gpu, claim);
    words.slice = slice.uuid;
    words.profile = slice.profile;
    words.gpu_instance = std::to_string(slice.gpu_instance);
    return words;
}

SeriesLabels labels_from(const LabelWords& words) {
    SeriesLabels made{.labels = {}, .from = words.from};
    for (const auto& [name, word] : words.by_name())
        if (!word.empty()) made.labels.emplace_hint(made.labels.end(), name, word);
    return made;
}

bool label_words_are(const SeriesLabels& labels, const LabelWords& words) {
    auto at = labels.labels.begin();
    for (const auto& [name, word] : words.by_name()) {
        if (word.empty()) continue;
        if (at == labels.labels.end() || at->second != word || at->first != name) return false;
        ++at;
    }
    return at == labels.labels.end();
}

// Those of the pod of which `device` says that it has the GPU, if it is still the same GPU of the same node.
LabelWords pod_words(const SeriesDevice& device, const LabelWords& gpu) {
    const auto said = [&device](const char* label) -> std::string_view {
        const auto found = device.labels.labels.find(label);
        return found == device.labels.labels.end() ? std::string_view{} : std::string_view{found->second};
    };
    if (said("gpu") != gpu.gpu || said("node") != gpu.node) return {};
    return {.container = said("container"), .name_space = said("namespace"), .pod = said("pod")};
}

// `before`: the GPU's device before; null: there was none.
void add_pod_told(LabelWords& words, const SeriesDevice* before, const PodsTold& pods) {
    const LabelWords old = before ? pod_words(*before, words) : LabelWords{};
    const auto same = [&old](const GpuPod& pod) {
        return old.name_space == pod.pod_namespace && old.pod == pod.name && old.container == pod.container;
    };
    if (pods.gpus) {
        const std::string gpu{words.gpu};
        const auto sample = pods.gpus->find(gpu);
        if (sample == pods.gpus->end() || !sample->second.pod) return;
        const GpuPod& pod = *sample->second.pod;
        if (same(pod) || pods.changes->try_emplace(gpu, pod_changes_max).first->second.take(pods.now))
            add_pod(pod, words);
        return;
    }
    words.name_space = old.name_space;
    words.pod = old.pod;
    words.container = old.container;
}

// Of GPUs that the host no longer has.
void forget_changes(const Host& host, const PodsTold& pods) {
    if (!pods.changes || pods.changes->size() <= host.facts.gpus.size()) return;
    std::erase_if(*pods.changes, [&host](const auto& one) {
        return std::ranges::find(host.facts.gpus, one.first, &GpuFacts::uuid) == host.facts.gpus.end();
    });
}

template <class Sample>
void add_all(const Sample& sample, std::vector<series::Cell>& to) {
    detail::each_metric<Sample>(
        [&](std::string_view, auto member) { to.push_back((sample.*member).value_or(series::absent)); });
}

}  // namespace

std::string series_gpu(const std::string& host, const std::string& uuid) {
    return "gpu/" + host + "/" + uuid;
}

std::string series_slice(const std::string& host, const std::string& uuid) {
    return "slice/" + host + "/" + uuid;
}

std::string series_host(const std::string& host) { return "host/" + host; }

SeriesLabels series_labels(const Host& host) { return labels_from(label_words(host)); }

SeriesLabels series_labels(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim) {
    return labels_from(label_words(desk, host, gpu, claim));
}

SeriesLabels series_labels(const Desk& desk, const Host& host, const GpuFacts& gpu, const GpuSlice& slice,
                           const Claim* claim) {
    return labels_from(label_words(desk, host, gpu, slice, claim));
}

SeriesLabels series_labels(const Host& host, const Volume& volume) {
    LabelWords words = label_words(host);
    words.tenant = volume.tenant;
    words.project = volume.project;
    words.volume = volume.name;
    return labels_from(words);
}

SeriesLabels series_labels(const Host& host, const Instance& instance) {
    LabelWords words = label_words(host);
    words.tenant = instance.tenant;
    words.project = instance.project;
    words.workload = instance.caller_id;
    return labels_from(words);
}

std::vector<SeriesDevicePtr> series_devices(const Desk& desk, const Host& host,
                                            const std::vector<SeriesDevicePtr>& before,
                                            const PodsTold& pods) {
    std::map<std::string_view, const Claim*> holders;
    for (const Claim* claim : claims_on(desk, host.id))
        for (const std::string& gpu : claim->gpus) holders[gpu] = claim;
    forget_changes(host, pods);
    std::vector<SeriesDevicePtr> devices;
    const auto before_at = [&](std::size_t at, Measured of) {
        return at < before.size() && before[at]->of == of ? before[at].get() : nullptr;
    };
    // What was at this place before, when it is that still.
    const auto add = [&](Measured of, LabelWords words, auto id, const Claim* claim) {
        const std::size_t at = devices.size();
        const SeriesDevice* old = before_at(at, of);
        const bool on_node = claim && claim->use == ClaimUse::node;
        if (old && label_words_are(old->labels, words) &&
            (on_node ? old->labels.from >= words.from : old->labels.from == words.from)) {
            devices.push_back(before[at]);
            return;
        }
        if (on_node) words.from = std::max(words.from, pods.time);
        devices.push_back(std::make_shared<const SeriesDevice>(SeriesDevice{of, id(), labels_from(words)}));
    };
    const auto holder_of = [&](const GpuFacts& gpu) {
        const auto holder = holders.find(gpu.uuid);
        return holder == holders.end() ? nullptr : holder->second;
    };
    for (const GpuFacts& gpu : host.facts.gpus) {
        const Claim* claim = holder_of(gpu);
        LabelWords words = label_words(desk, host, gpu, claim);
        if (claim && claim->use == ClaimUse::node)
            add_pod_told(words, before_at(devices.size(), Measured::gpu), pods);
        add(Measured::gpu, words, [&] { return series_gpu(host.id, gpu.uuid); }, claim);
    }
    for (const GpuFacts& gpu : host.facts.gpus)
        for (const GpuSlice& slice : gpu.slices)
            add(
                Measured::slice, label_words(desk, host, gpu, slice, holder_of(gpu)),
                [&] { return series_slice(host.id, slice.uuid); }, holder_of(gpu));
    add(Measured::host, label_words(host), [&] { return series_host(host.id); }, nullptr);
    return devices;
}

void add_cells(const GpuSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }
void add_cells(const SliceSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }
void add_cells(const HostSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }
void add_cells(const DiskUse& use, std::vector<series::Cell>& to) { add_all(use, to); }
void add_cells(const InstanceSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }

}  // namespace hostler::master
