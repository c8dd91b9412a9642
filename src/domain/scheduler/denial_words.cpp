#include "domain/scheduler/denial_words.h"

#include <fmt/format.h>

#include <array>

namespace hostler {

namespace {

struct Words {
    std::string_view one, many;
};

// By obstacle.
constexpr auto told = std::to_array<Words>({
    {"is not the host asked for", "are not the host asked for"},
    {"is in another zone", "are in other zones"},
    {"is in another rack", "are in other racks"},
    {"is too far away", "are too far away"},
    {"has GPUs of another vendor", "have GPUs of another vendor"},
    {"has GPUs of another model", "have GPUs of other models"},
    {"is of another class", "are of other classes"},
    {"has GPUs with too little memory", "have GPUs with too little memory"},
    {"is of a lower tier or not rated", "are of lower tiers or not rated"},
    {"does not offer the isolation", "do not offer the isolation"},
    {"runs no programs without containers", "run no programs without containers"},
    {"is not trusted enough", "are not trusted enough"},
    {"costs more", "cost more"},
    {"lacks a label", "lack a label"},
    {"has GPUs without such slices", "have GPUs without such slices"},
    {"does not hold the volume", "do not hold the volume"},
    {"is cordoned", "are cordoned"},
    {"is draining", "are draining"},
    {"is a node of a cluster", "are nodes of clusters"},
    {"is unreachable", "are unreachable"},
    {"is faulty", "are faulty"},
    {"has not passed its admission test", "have not passed their admission test"},
    {"has no free address", "have no free address"},
    {"does not keep leases, or may still run it", "do not keep leases, or may still run it"},
    {"has or is next to another of its kind", "have or are next to others of its kind"},
    {"has too few GPUs", "have too few GPUs"},
    {"has no GPU with so much left", "have no GPU with so much left"},
    {"has no room for such a slice", "have no room for such a slice"},
    {"has GPUs that are not linked like that", "have GPUs that are not linked like that"},
    {"lacks CPUs", "lack CPUs"},
    {"lacks memory", "lack memory"},
    {"lacks disk", "lack disk"},
    {"holds idle stock that is not given up", "hold idle stock that is not given up"},
    {"cannot take all together", "cannot take all together"},
    {"cannot take all", "cannot take all"},
});
static_assert(told.size() == static_cast<std::size_t>(Obstacle::tasks) + 1);

std::string gib(std::int64_t bytes) {
    return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / (1 << 30));
}
std::string cpus(std::int64_t milli) { return fmt::format("{:.4g}", static_cast<double>(milli) / 1000); }
std::string cpus_of(std::int64_t milli, std::string_view more = "") {
    return fmt::format("{}{} {}", cpus(milli), more, milli == 1000 ? "CPU" : "CPUs");
}
std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string what(const Need& need) {
    const Shape& shape = need.shape;
    std::string model = need.models.empty() ? need.terms.model : need.models;
    if (!model.empty()) model += " ";
    std::string text;
    if (shape.profile != 0)
        text = fmt::format("a slice {}", mig_profile_name(shape.profile));
    else if (shape.shares())
        text = fmt::format("{}/1000 of a {}GPU", shape.gpu_milli, model);
    else if (shape.gpus > 0)
        text = fmt::format("{} {}{}", shape.gpus, model, shape.gpus == 1 ? "GPU" : "GPUs");
    if (shape.cpu_milli > 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", cpus_of(shape.cpu_milli));
    if (shape.memory_bytes > 0)
        text += fmt::format("{}{} memory", text.empty() ? "" : ", ", gib(shape.memory_bytes));
    if (shape.disk_bytes > 0)
        text += fmt::format("{}{} disk", text.empty() ? "" : ", ", gib(shape.disk_bytes));
    return text.empty() ? "it" : text;
}

std::string asking(const Change& change, const Need& need, const Fleet& fleet) {
    const Traits& host = fleet.traits(change.host);
    switch (change.obstacle) {
        case Obstacle::host: return fmt::format("ask for host {}", host.name);
        case Obstacle::zone: return fmt::format("ask for zone {}", host.zone);
        case Obstacle::rack: return host.rack.empty() ? "ask for no rack" : "ask for rack " + host.rack;
        case Obstacle::distance:
            if (!host.spot) return "ask for no place, for it is not known where the hosts stand";
            return fmt::format("allow {} km", distance_km(*host.spot, need.terms.near->spot));
        case Obstacle::vendor: return "ask for GPUs of another vendor";
        case Obstacle::model: return host.model.empty() ? "ask for any model" : "ask for " + host.model;
        case Obstacle::gpu_class:
            return host.gpu_class.empty() ? "ask for any class" : "ask for class " + host.gpu_class;
        case Obstacle::gpu_memory: return fmt::format("ask for GPUs with {}", gib(host.gpu_memory_bytes));
        case Obstacle::tier:
            return host.tier == GpuTier::unrated ? "ask for no tier, for no better one was measured"
                                                 : "ask for a lower tier";
        case Obstacle::isolation: return "ask for another isolation";
        case Obstacle::programs: return "run it in a container";
        case Obstacle::trust: return "accept community hosts";
        case Obstacle::price:
            if (!host.price_micros) return "accept any price, for none is set there";
            return fmt::format("accept {:.6g} for a GPU and hour",
                               static_cast<double>(*host.price_micros) / 1e6);
        case Obstacle::label: return fmt::format("ask for labels that host {} has", host.name);
        case Obstacle::mig_profile:
        case Obstacle::slice:
            return change.value == 0 ? "ask for a whole GPU"
                                     : fmt::format("ask for a slice {}",
                                                   mig_profile_name(static_cast<std::int16_t>(change.value)));
        case Obstacle::volume:
            return fmt::format("go without the volumes that host {} does not hold", host.name);
        case Obstacle::apart: return "let them lie next to each other";
        case Obstacle::gpus:
            return change.value == 0 ? "ask for no GPU" : "ask for " + counted(change.value, "GPU");
        case Obstacle::share: return fmt::format("ask for {}/1000 of a GPU", change.value);
        case Obstacle::link: return "ask for GPUs that reach each other in any way";
        case Obstacle::cpu: return fmt::format("ask for {}", cpus_of(change.value));
        case Obstacle::memory: return fmt::format("ask for {} memory", gib(change.value));
        case Obstacle::disk: return fmt::format("ask for {} disk", gib(change.value));
        case Obstacle::cordoned:
        case Obstacle::draining:
        case Obstacle::cluster:
        case Obstacle::unreachable:
        case Obstacle::faulty:
        case Obstacle::refused:
        case Obstacle::addresses:
        case Obstacle::lease:
        case Obstacle::stock:
        case Obstacle::together:
        case Obstacle::tasks: break;
    }
    return {};
}

std::string waiting(const Change& change, std::string_view host) {
    std::string amount;
    if (change.obstacle == Obstacle::gpus) amount = counted(change.value, "more GPU");
    if (change.obstacle == Obstacle::share) amount = fmt::format("{}/1000 of one GPU more", change.value);
    if (change.obstacle == Obstacle::slice) amount = "such a slice";
    if (change.obstacle == Obstacle::cpu) amount = cpus_of(change.value, " more");
    if (change.obstacle == Obstacle::memory) amount = gib(change.value) + " more memory";
    if (change.obstacle == Obstacle::disk) amount = gib(change.value) + " more disk";
    const bool one = change.value == (change.obstacle == Obstacle::cpu ? 1000 : 1);
    return fmt::format("wait until {} {} free on host {}", amount, one ? "is" : "are", host);
}

std::string opening(Obstacle obstacle, std::string_view host) {
    if (obstacle == Obstacle::cordoned || obstacle == Obstacle::draining)
        return fmt::format("have an operator uncordon host {}", host);
    if (obstacle == Obstacle::addresses) return fmt::format("wait until host {} has a free address", host);
    if (obstacle == Obstacle::lease)
        return fmt::format("wait until host {} keeps leases and has said that an earlier run is gone", host);
    if (obstacle == Obstacle::stock)
        return fmt::format("have an operator give up idle stock on host {}", host);
    return fmt::format("have an operator bring host {} back", host);
}

void capitalize(std::string& text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
}

}  // namespace

void describe(Denial& denial, const Need& need, const Fleet& fleet) {
    if (denial.reasons.empty()) {
        denial.sentence = "There are no hosts.";
        denial.would_help = "Add a host.";
        return;
    }
    denial.sentence = denial.never
                          ? fmt::format("No host could take {}, even if nothing ran there: ", what(need))
                          : fmt::format("No host can take {}: ", what(need));
    for (std::size_t i = 0; i < denial.reasons.size(); ++i) {
        const auto& [obstacle, hosts] = denial.reasons[i];
        const Words& words = told[static_cast<std::size_t>(obstacle)];
        const std::string_view noun = i > 0 ? "" : hosts == 1 ? " host" : " hosts";
        denial.sentence +=
            fmt::format("{}{}{} {}", i == 0 ? "" : ", ", hosts, noun, hosts == 1 ? words.one : words.many);
    }
    denial.sentence += ".";
    for (const Change& change : denial.changes) {
        const std::string& host = fleet.traits(change.host).name;
        const std::string one = change.by == Change::By::asking    ? asking(change, need, fleet)
                                : change.by == Change::By::waiting ? waiting(change, host)
                                                                   : opening(change.obstacle, host);
        denial.would_help += (denial.would_help.empty() ? "" : ", and ") + one;
    }
    capitalize(denial.would_help);
    denial.would_help += ".";
}

void describe(Denial& denial, const Gang& gang) {
    constexpr std::array near = {"", "on one host", "in one rack", "in one zone"};
    const char* where = near[static_cast<std::size_t>(gang.together)];
    denial.sentence =
        fmt::format("{} of {} fit{}{}.", denial.fitting.size(), counted(std::ssize(gang.tasks), "task"),
                    gang.together == Area::none ? "" : " ", where);
    denial.would_help = denial.changes.front().obstacle == Obstacle::together
                            ? std::string{"Let them lie apart: then all fit."}
                            : fmt::format("Ask for {}.", counted(std::ssize(denial.fitting), "task"));
}

}  // namespace hostler
