#include "roles/master/offer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/quantity.h"
#include "domain/inventory/model.h"
#include "roles/master/capacity.h"

namespace hostler::master {

namespace {

// What makes hosts alike to who wants something.
struct Sort {
    std::string spec, zone, gpu_type, trust, isolation;
    auto operator<=>(const Sort&) const = default;
};
struct Count {
    int ready = 0;
    int more = 0;
    const GpuFacts* gpu = nullptr;  // One of those GPUs.
};
using Counts = std::map<Sort, Count>;

Sort kind_of(const Host& host, const std::string& spec, const std::string& gpu_type) {
    return {spec, host.zone, gpu_type, host.owner.empty() ? "trusted" : "provider",
            host.facts.user_namespaces ? "user_namespace" : "container"};
}

const GpuFacts* gpu_named(const Host& host, auto is) {
    const auto found = std::ranges::find_if(host.facts.gpus, is);
    return found == host.facts.gpus.end() ? nullptr : &*found;
}

void count_stock(const Desk& desk, Counts& counts) {
    for (const auto& [id, slot] : desk.estate.slots.all()) {
        if (slot.phase != SlotPhase::idle) continue;
        const Claim& held = desk.estate.claims.at(slot.claim);
        const Host* host = desk.estate.hosts.find(held.host);
        if (!host || !unavailable(desk, *host).empty()) continue;
        const GpuFacts* gpu = held.gpus.empty() ? nullptr : gpu_named(*host, [&](const GpuFacts& one) {
            return one.uuid == held.gpus.front();
        });
        Count& count = counts[kind_of(*host, slot.spec, gpu ? gpu->model : "")];
        ++count.ready;
        count.gpu = gpu;
    }
}

void count_room(const Desk& desk, Counts& counts) {
    std::map<std::pair<std::string, std::string>, bool>
        known;  // Whether this spec's GPUs may be of this model.
    const auto suits = [&](const Spec& spec, const std::string& model) {
        const auto [at, fresh] = known.try_emplace({spec.name, model});
        if (fresh) at->second = model_matches(spec.gpu_type, model);
        return at->second;
    };
    for (const auto& [id, there] : room(desk).hosts()) {
        if (!there.free.unavailable.empty()) continue;
        const Host& host = desk.estate.hosts.at(id);
        std::map<std::string, Candidate> by_model;  // With the GPUs of one model each; "": without any.
        Candidate& bare = by_model.try_emplace("", there.free).first->second;
        bare.gpus.clear();
        for (const FreeGpu& gpu : there.free.gpus)
            by_model.try_emplace(gpu.model, bare).first->second.gpus.push_back(gpu);
        for (const auto& [name, spec] : desk.estate.specs.all()) {
            Demand demand = demand_of(spec, "");
            demand.gpu_type.clear();  // It is known already.
            for (const auto& [model, free] : by_model) {
                if (model.empty() != (spec.gpu_count == 0)) continue;
                if (!model.empty() && !suits(spec, model)) continue;
                const int times = how_often(demand, free);
                if (times == 0) continue;
                Count& count = counts[kind_of(host, name, model)];
                count.more += times;
                if (!model.empty() && !count.gpu)
                    count.gpu = gpu_named(host, [&](const GpuFacts& one) { return one.model == model; });
            }
        }
    }
}

// As its data sheet says; what a driver shows of it is a little less.
std::int64_t memory_of(const GpuFacts& gpu) {
    const GpuModel* model = find_gpu_model(gpu.model);
    return model && model->memory_gib > 0 ? std::int64_t{model->memory_gib} << 30 : gpu.memory_bytes;
}

Error no_price(std::vector<FieldError> fields) {
    Error error{Code::invalid, "no price list is set", "no_price_list"};
    error.fields = std::move(fields);
    error.help = "Leave the price out.";
    return error;
}

}  // namespace

std::vector<api::Offer> offers(const Desk& desk) {
    Counts counts;
    count_stock(desk, counts);
    count_room(desk, counts);
    std::vector<api::Offer> all;
    for (const auto& [kind, count] : counts) {
        const Spec& spec = desk.estate.specs.at(kind.spec);
        const Zone* zone = desk.estate.zones.find(kind.zone);
        api::Offer& offer = all.emplace_back();
        offer.spec = kind.spec;
        offer.zone = kind.zone;
        offer.location = zone ? zone->place : "";
        offer.gpu_type = kind.gpu_type;
        if (count.gpu) {
            offer.vendor = text_of(count.gpu->vendor);
            offer.gpu_memory_bytes = memory_of(*count.gpu);
        }
        offer.gpus = spec.gpu_count;
        offer.cpu = spec.cpu;
        offer.memory = spec.memory;
        offer.isolation = kind.isolation;
        offer.trust = kind.trust;
        offer.ready = count.ready;
        offer.available = count.ready + count.more;
    }
    return all;
}

api::QueryValue value_of(const api::Offer& offer, std::size_t field) {
    const std::string_view name = api::offer_fields[field].name;
    if (name == "spec") return offer.spec;
    if (name == "zone") return offer.zone;
    if (name == "gpu_type") return offer.gpu_type;
    if (name == "vendor") return offer.vendor;
    if (name == "isolation") return offer.isolation;
    if (name == "trust") return offer.trust;
    if (name == "gpus") return std::int64_t{offer.gpus};
    if (name == "gpu_memory") return offer.gpu_memory_bytes;
    if (name == "ready") return std::int64_t{offer.ready};
    if (name == "available") return std::int64_t{offer.available};
    if (name == "cpu") return parse_quantity(offer.cpu).value_or(Quantity{}).milli;
    HOSTLER_ASSERT(name == "memory");
    return parse_quantity(offer.memory).value_or(Quantity{}).units();
}

Result<std::vector<api::Offer>> offers_for(const Desk& desk, const api::ListOffers& request) {
    const api::Query query = TRY(api::parse_query(request.query, api::offer_fields));
    const auto order = TRY(api::parse_order(request.order, api::offer_fields));
    const auto is_price = [](std::size_t field) { return api::offer_fields[field].name == "price"; };
    std::vector<FieldError> priced;
    for (const api::QueryTerm& term : query)
        if (is_price(term.field))
            priced.push_back({"query", fmt::format("at {}: no price list is set", term.at)});
    if (std::ranges::any_of(order, is_price, &api::OrderBy::field))
        priced.push_back({"order", "no price list is set"});
    if (!priced.empty()) return std::unexpected(no_price(std::move(priced)));

    std::vector<api::Offer> all = offers(desk);
    std::erase_if(all, [&](const api::Offer& offer) {
        return !std::ranges::all_of(query, [&](const api::QueryTerm& term) {
            return api::matches(term, api::offer_fields[term.field].kind, value_of(offer, term.field));
        });
    });
    std::vector<std::size_t> sorted(all.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::sort(sorted, [&](std::size_t a, std::size_t b) {
        for (const api::OrderBy& by : order) {
            const auto of_a = value_of(all[a], by.field), of_b = value_of(all[b], by.field);
            if (of_a != of_b) return by.highest_first ? of_b < of_a : of_a < of_b;
        }
        return a < b;
    });
    std::vector<api::Offer> found;
    found.reserve(all.size());
    for (const std::size_t at : sorted) found.push_back(std::move(all[at]));
    return found;
}

}  // namespace hostler::master
