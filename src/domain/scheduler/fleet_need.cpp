// Where the next task goes that needs more than size: masks of hosts over the same index.
#include <algorithm>
#include <tuple>

#include "domain/scheduler/fleet.h"

namespace hostler {

namespace {

// Slices go on GPUs that are cut before whole ones: more points than any whole GPU, by how full it gets.
constexpr int cut_points = 101, full_points = 24;

}  // namespace

int Fleet::particular_points(const Shape& shape, HostNumber number) {
    Host& host = hosts_[number];
    if (shape.profile != 0) {
        const Shape beside{.cpu_milli = shape.cpu_milli,
                           .memory_bytes = shape.memory_bytes,
                           .models = shape.models,
                           .disk_bytes = shape.disk_bytes};
        if (!fits(beside, host.machine) || !(shape.models >> host.machine.model & 1)) return Ranking::unfit;
        const SlicePlace place = slice_place(shape, number);
        if (place.gpu < 0) return Ranking::unfit;
        if (place.taken > 0) return cut_points + full_points * place.taken / details(number).mig->slices;
        Shape whole = shape;
        whole.profile = 0;
        return waste_->score(whole, host.machine, waste_of(host)).points;
    }
    if (shape.shares() && shape.owner != 0) {
        const Machine seen = visible(shape, number);
        return fits(shape, seen) ? waste_->score(shape, seen, waste_->of(seen)).points : Ranking::unfit;
    }
    if (!fits(shape, host.machine)) return Ranking::unfit;
    if (shape.gpus > 1 && (!host.linked || pick(*details(number).topology, shape.link,
                                                free_for(shape, number), shape.gpus) == 0))
        return Ranking::unfit;
    return waste_->score(shape, host.machine, waste_of(host)).points;
}

// Every set of hosts that is kept follows what this one is like.
void Fleet::admit(HostNumber number) {
    const Host& host = hosts_[number];
    const auto model = static_cast<std::size_t>(host.machine.model);
    for (auto& [terms, set] : admitted_)
        if (admits(terms, traits(number)))
            set.mask.set(model, host.place);
        else
            set.mask.reset(model, host.place);
}

const Mask& Fleet::admitted(const Terms& terms) {
    const auto found = admitted_.find(terms);
    if (found != admitted_.end()) {
        found->second.used = ++uses_;
        return found->second.mask;
    }
    if (admitted_.size() == terms_max)
        admitted_.erase(
            std::ranges::min_element(admitted_, {}, [](const auto& entry) { return entry.second.used; }));
    Admitted& set = admitted_[terms];
    set.used = ++uses_;
    for (HostNumber number = 0; number < hosts_.size(); ++number)
        if (const Host& host = hosts_[number]; host.there && admits(terms, traits(number)))
            set.mask.set(static_cast<std::size_t>(host.machine.model), host.place);
    return set.mask;
}

// Names of hosts are looked up: there are too many sets of them to keep.
Mask Fleet::meeting(const Terms& terms) {
    if (terms.hosts.empty()) return admitted(terms);
    std::set<HostNumber> named;
    for (const std::string& name : terms.hosts)
        if (const auto found = named_.find(name); found != named_.end())
            named.insert(found->second.begin(), found->second.end());
    Mask mask = only(named);
    Terms rest = terms;
    rest.hosts.clear();
    if (!rest.any()) mask.keep(admitted(rest));
    return mask;
}

Shape Fleet::resolved(const Need& need) {
    Shape shape = need.shape;
    if (need.terms.any()) return shape;
    const bool named = !need.terms.hosts.empty();
    const Mask own = named ? meeting(need.terms) : Mask{};
    const Mask& mask = named ? own : admitted(need.terms);
    for (std::size_t model = 0; model < banks_.size(); ++model)
        if (!mask.any(model)) shape.models &= ~(std::uint64_t{1} << model);
    return shape;
}

// What is usually asked of GPUs that are not cut; a slice is no part of one that others could use.
void Fleet::arrive(const Need& need) {
    if (need.shape.profile == 0) workload_.arrive(resolved(need));
}

Mask Fleet::everywhere() const {
    Mask mask;
    for (std::size_t model = 0; model < banks_.size(); ++model)
        for (std::size_t place = 0; place < banks_[model].hosts.size(); ++place) mask.set(model, place);
    return mask;
}

Mask Fleet::only(const std::set<HostNumber>& hosts) const {
    Mask mask;
    for (const HostNumber number : hosts)
        mask.set(static_cast<std::size_t>(hosts_[number].machine.model), hosts_[number].place);
    return mask;
}

// Of its rack or zone; empty: unknown, or that of no other host.
const std::string& Fleet::name_at(Area level, HostNumber host) const {
    static const std::string none;
    return level == Area::rack ? traits(host).rack : level == Area::zone ? traits(host).zone : none;
}

// These hosts with all their parts, and all in their racks or zones; a host in no rack that is known is alone
// in one.
Mask Fleet::reach(const std::set<HostNumber>& hosts, Area level) {
    std::set<HostNumber> whole;
    for (const HostNumber host : hosts) whole.merge(parts(host));
    Mask mask = only(whole);
    std::set<std::string> names;
    for (const HostNumber host : hosts)
        if (const std::string& name = level == Area::rack ? traits(host).rack : traits(host).zone;
            !name.empty())
            names.insert(name);
    if (level == Area::rack)
        for (const std::string& name : names) mask.join(admitted({.racks = {name}}));
    if (level == Area::zone)
        for (const std::string& name : names) mask.join(admitted({.zones = {name}}));
    return mask;
}

Mask Fleet::holders(const std::string& name) const {
    const auto found = holders_.find(name);
    return found == holders_.end() ? Mask{} : only(found->second);
}

std::optional<Mask> Fleet::within(const Need& need) {
    const auto there = need.kind == 0 || need.apart == Area::none ? kinds_.end() : kinds_.find(need.kind);
    if (need.terms.any() && need.volumes.empty() && there == kinds_.end()) return std::nullopt;
    Mask mask = need.terms.any() ? everywhere() : meeting(need.terms);
    for (const std::string& volume : need.volumes) mask.keep(holders(volume));
    if (there == kinds_.end()) return mask;
    std::set<HostNumber> taken;
    for (const auto& [host, count] : there->second) taken.insert(host);
    mask.drop(reach(taken, need.apart));
    return mask;
}

// The hosts of `from` by how many of the kind are near them: the fewest first to spread, the most to pack.
std::vector<Mask> Fleet::in_turn(const Need& need, const Mask& from) {
    const Area level = need.spread != Area::none ? need.spread : need.pack;
    std::map<std::pair<std::string, HostNumber>, std::pair<int, std::set<HostNumber>>> near_by;
    for (const auto& [host, count] : kinds_.at(need.kind)) {
        const std::string& name = name_at(level, host);
        auto& [sum, hosts] = near_by[{name, name.empty() ? host : 0}];
        sum += count;
        hosts.insert(host);
    }
    std::map<int, std::set<HostNumber>> by_count;
    for (auto& [name, counted] : near_by) by_count[counted.first].merge(counted.second);
    std::vector<Mask> turns;
    Mask none = from;
    for (const auto& [count, hosts] : by_count) {
        const Mask near = reach(hosts, level);
        Mask& turn = turns.emplace_back(from);
        turn.keep(near);
        none.drop(near);
    }
    turns.insert(turns.begin(), std::move(none));
    if (need.spread == Area::none) std::ranges::reverse(turns);
    return turns;
}

std::optional<Fleet::Best> Fleet::by_image(const Need& need, const Shape& shape, std::uint64_t models,
                                           const Mask* mask) {
    const auto best = search(shape, models, mask);
    if (!best || need.images.empty()) return best;
    Mask having;
    for (const std::string& image : need.images) having.join(holders(image));
    if (mask) having.keep(*mask);
    const auto there = search(shape, models, &having);
    return there && there->worth + image_worth >= best->worth ? there : best;
}

std::optional<Fleet::Best> Fleet::search_in_turn(const Need& need, const Shape& shape, std::uint64_t models) {
    const auto mask = within(need);
    const bool even = need.kind != 0 && (need.spread != Area::none || need.pack != Area::none);
    if (!even || !kinds_.contains(need.kind)) return by_image(need, shape, models, mask ? &*mask : nullptr);
    for (const Mask& turn : in_turn(need, mask ? *mask : everywhere()))
        if (const auto best = by_image(need, shape, models, &turn)) return best;
    return std::nullopt;
}

std::optional<Choice> Fleet::choose(const Need& need) {
    const std::uint64_t models = resolved(need).models;
    Shape shape = need.shape;
    std::optional<Best> best;
    if (need.link_wanted != Link::any && shape.link == Link::any && shape.gpus > 1) {
        shape.link = need.link_wanted;
        best = search_in_turn(need, shape, models);
        if (!best) shape.link = Link::any;
    }
    if (!best) best = search_in_turn(need, shape, models);
    if (!best) return std::nullopt;
    Choice chosen = choice(shape, best->host);
    chosen.kind = need.kind;
    return chosen;
}

// In the order of the tasks, none for those that do not fit.
std::vector<std::optional<Choice>> Fleet::attempt(const std::vector<Need>& tasks, OnMiss on_miss) {
    std::vector<std::optional<Choice>> chosen(tasks.size());
    for (const std::size_t i : largest_first(tasks)) {
        chosen[i] = choose(tasks[i]);
        if (chosen[i]) HOSTLER_ASSERT(claim(*chosen[i]));
        if (!chosen[i] && on_miss == OnMiss::stop) break;
    }
    for (const auto& choice : chosen)
        if (choice) release(*choice);
    return chosen;
}

// Where it could go as a whole: where there is just enough free first, then where there is most.
std::vector<Fleet::Place> Fleet::places_for(const Gang& gang, Area level) const {
    if (level == Area::none) return {{}};
    std::map<std::string, int> free;
    std::int64_t asked = 0;
    for (const Need& task : gang.tasks)
        asked += task.shape.profile ? 0 : task.shape.gpus * task.shape.gpu_milli;
    for (const HostNumber host : hosts())
        if (const std::string& name = level == Area::host ? traits(host).name : name_at(level, host);
            hosts_[host].open && !name.empty())
            free[name] += hosts_[host].machine.free_milli();
    std::vector<Place> found;
    for (const auto& [name, milli] : free) found.push_back({milli < asked, milli, name});
    std::ranges::sort(found, {}, [](const Place& place) {
        return std::tuple(place.too_little, place.too_little ? -place.free_milli : place.free_milli,
                          std::string_view{place.name});
    });
    if (found.size() > places_max) found.resize(places_max);
    return found;
}

std::vector<Choice> Fleet::choose(const Gang& gang) {
    for (const Area level : levels_of(gang))
        for (const Place& place : places_for(gang, level)) {
            const auto tasks = place.too_little ? std::nullopt : tasks_within(gang, level, place.name);
            if (!tasks) continue;
            const auto chosen = attempt(*tasks, OnMiss::stop);
            if (!std::ranges::all_of(chosen, [](const auto& choice) { return choice.has_value(); })) continue;
            std::vector<Choice> all;
            for (const auto& choice : chosen) all.push_back(*choice);
            return all;
        }
    return {};
}

std::vector<std::size_t> Fleet::fitting(const Gang& gang) {
    std::vector<std::size_t> most;
    for (const Place& place : places_for(gang, gang.together)) {
        const auto tasks = tasks_within(gang, gang.together, place.name);
        if (!tasks) continue;
        const auto chosen = attempt(*tasks, OnMiss::go_on);
        std::vector<std::size_t> fit;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (chosen[i]) fit.push_back(i);
        if (fit.size() > most.size()) most = std::move(fit);
    }
    return most;
}

}  // namespace hostler
