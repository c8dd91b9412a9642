#include "roles/master/offer/offers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/handlers.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/policy/policies.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/stock/reclaim.h"

namespace hostler::master {

namespace {

// What makes hosts alike to who wants something.
struct Sort {
    std::string spec, zone, gpu_type, tier, trust, isolation;
    auto operator<=>(const Sort&) const = default;
};
struct Count {
    int ready = 0;
    int more = 0;
    int reclaimable = 0;
    const GpuFacts* gpu = nullptr;  // One of those GPUs,
    const Host* host = nullptr;     // and where it is.
};
using Counts = std::map<Sort, Count>;

Sort kind_of(const Host& host, const std::string& spec, const std::string& gpu_type) {
    return {spec,
            host.zone,
            gpu_type,
            gpu_type.empty() ? "" : text_of(tier_of(host.facts, host.admission)),
            text_of(trust_of(host)),
            isolation_of(host)};
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
        if (!host || !unavailable(desk, *host).empty() || !fit(desk, held)) continue;
        const GpuFacts* gpu = held.gpus.empty() ? nullptr : gpu_named(*host, [&](const GpuFacts& one) {
            return one.uuid == held.gpus.front();
        });
        Count& count = counts[kind_of(*host, slot.spec, gpu ? gpu->model : "")];
        ++count.ready;
        count.gpu = gpu;
        count.host = host;
    }
}

// What idle stock of other specs would give way to, beyond the room that there is: of each offer by itself,
// host by host, and of each spec no more than may go.
class Reclaimable {
public:
    explicit Reclaimable(const Desk& desk) : stock_(idle_stock(desk)) {
        std::erase_if(stock_.may_go, [](const auto& row) { return row.second < 1; });
    }

    // On this host with so many GPUs of the model free; what went for this offer on hosts before is gone.
    int count(const Sort& sort, const Demand& demand, const Candidate& free, const std::string& model,
              int gpus) {
        const auto here = stock_.by_host.find(free.id);
        if (stock_.may_go.empty() || here == stock_.by_host.end()) return 0;
        std::map<std::string, int>& may_go = left_.try_emplace(sort, stock_.may_go).first->second;
        std::vector<const Spare*> going;
        std::map<std::string, int> gone;
        for (const Spare& spare : here->second)
            if (spare.kind != sort.spec && may_go.contains(spare.kind) &&
                gone[spare.kind] < may_go.at(spare.kind)) {
                ++gone[spare.kind];
                going.push_back(&spare);
            }
        const int there = how_often(demand, free, gpus), most = times(demand, free, model, gpus, going);
        if (most == there) return 0;
        for (std::size_t i = going.size(); i-- > 0;) {  // Those that need not go stay.
            auto fewer = going;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (times(demand, free, model, gpus, fewer) == most) going = std::move(fewer);
        }
        for (const Spare* spare : going) --may_go.at(spare->kind);
        return most - there;
    }

private:
    static int times(const Demand& demand, const Candidate& free, const std::string& model, int gpus,
                     const std::vector<const Spare*>& gone) {
        Candidate left{.id = free.id,
                       .zone = free.zone,
                       .cpu_milli = free.cpu_milli,
                       .memory_bytes = free.memory_bytes,
                       .places = free.places + static_cast<int>(gone.size()),
                       .volume_bytes = free.volume_bytes};
        for (const Spare* spare : gone) {
            left.cpu_milli += spare->cpu_milli;
            left.memory_bytes += spare->memory_bytes;
            gpus += static_cast<int>(std::ranges::count(spare->gpus, model, &FreeGpu::model));
        }
        return how_often(demand, left, gpus);
    }

    IdleStock stock_;
    std::map<Sort, std::map<std::string, int>> left_;
};

void count_room(const Desk& desk, Counts& counts) {
    Reclaimable reclaimable{desk};
    std::vector<std::pair<std::string, Demand>> wanted;  // By the spec's name.
    for (const auto& [name, spec] : desk.estate.specs.all()) wanted.emplace_back(name, demand_of(spec, ""));
    std::map<std::string, std::vector<bool>> known;  // By model: which of them may be on it. "": on no GPU.
    const auto suiting = [&](const std::string& model) -> const std::vector<bool>& {
        const auto [at, fresh] = known.try_emplace(model);
        if (fresh)
            for (const auto& [name, demand] : wanted)
                at->second.push_back(demand.gpu_count == 0
                                         ? model.empty()
                                         : !model.empty() && model_matches(demand.gpu_type, model));
        return at->second;
    };
    std::map<Sort, std::vector<Count>> found;  // Of each that is wanted; the sort names no spec.
    for (const auto& [id, there] : room(desk).hosts()) {
        if (!there.free.unavailable.empty()) continue;
        const Host& host = desk.estate.hosts.at(id);
        std::map<std::string, int> gpus{{"", 0}};  // Free ones, by model.
        for (const GpuFacts& gpu : host.facts.gpus)
            if (!gpu.cdi_name.empty()) gpus[gpu.model];
        for (const FreeGpu& gpu : there.free.gpus) ++gpus[gpu.model];
        for (const auto& [model, free] : gpus) {
            const std::vector<bool>& suits = suiting(model);
            std::vector<Count>& here = found[kind_of(host, "", model)];
            here.resize(wanted.size());
            for (std::size_t at = 0; at < wanted.size(); ++at) {
                if (!suits[at]) continue;
                const Demand& demand = wanted[at].second;
                const int times = how_often(demand, there.free, free);
                const int after = reclaimable.count(kind_of(host, wanted[at].first, model), demand,
                                                    there.free, model, free);
                if (times + after == 0) continue;
                here[at].more += times;
                here[at].reclaimable += after;
                if (!model.empty() && !here[at].gpu) {
                    here[at].gpu = gpu_named(host, [&](const GpuFacts& one) { return one.model == model; });
                    here[at].host = &host;
                }
            }
        }
    }
    for (auto& [kind, of_specs] : found)
        for (std::size_t at = 0; at < wanted.size(); ++at) {
            if (of_specs[at].more + of_specs[at].reclaimable == 0) continue;
            Sort named = kind;
            named.spec = wanted[at].first;
            Count& count = counts[named];
            count.more += of_specs[at].more;
            count.reclaimable += of_specs[at].reclaimable;
            if (!count.gpu) std::tie(count.gpu, count.host) = std::tie(of_specs[at].gpu, of_specs[at].host);
        }
}

Error no_price(std::vector<FieldError> fields) {
    Error error{Code::invalid, "no price list is set", "no_price_list"};
    error.fields = std::move(fields);
    error.help = "Leave the price out.";
    return error;
}

// What has no GPU has no price.
void put_price(const Desk& desk, const Sort& kind, const Spec& spec, api::Offer& offer) {
    if (spec.gpu_count == 0) return;
    const Price* price =
        price_of(desk.estate.prices.all().as_map(), {kind.gpu_type, kind.zone, kind.trust, kind.isolation},
                 desk.estate.micros());
    if (!price) return;
    offer.price = money_text(price->amount_micros * spec.gpu_count);
    offer.currency = price->currency;
}

bool is_price(std::size_t field) { return api::offer_fields[field].name == "price"; }

// While no price is set at all, who asks by price is told so.
Result<> check_priced(const Desk& desk, const api::Query& query, const std::vector<api::OrderBy>& order,
                      PriceSight prices) {
    const bool by_price = std::ranges::any_of(query, is_price, &api::QueryTerm::field) ||
                          std::ranges::any_of(order, is_price, &api::OrderBy::field);
    if (by_price && prices == PriceSight::hidden) return api::permission_missing(Permission::price_read);
    if (is_priced(desk)) return {};
    std::vector<FieldError> priced;
    for (const api::QueryTerm& term : query)
        if (is_price(term.field))
            priced.push_back({"query", fmt::format("at {}: no price list is set", term.at)});
    if (std::ranges::any_of(order, is_price, &api::OrderBy::field))
        priced.push_back({"order", "no price list is set"});
    if (priced.empty()) return {};
    return std::unexpected(no_price(std::move(priced)));
}

// The offers as they were counted last.
struct CountedOffers {
    static constexpr bool follows_estate = true;

    std::optional<std::int64_t> counted_at;
    std::vector<api::Offer> all;
    Follower<Price> prices;
};

}  // namespace

const std::vector<api::Offer>& offers(const Desk& desk) {
    const std::int64_t now = desk.estate.micros();
    auto& known = desk.live.part<CountedOffers>();
    const bool other_prices = !known.prices.changed(desk.estate.prices).empty();
    if (known.counted_at && !other_prices && now >= *known.counted_at &&
        now - *known.counted_at < offers_last_us)
        return known.all;
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
            offer.gpu_memory_bytes = memory_of(*count.host, *count.gpu);
        }
        offer.gpus = spec.gpu_count;
        offer.cpu = spec.cpu;
        offer.memory = spec.memory;
        offer.tier = kind.tier;
        offer.isolation = kind.isolation;
        offer.trust = kind.trust;
        offer.ready = count.ready;
        offer.available = count.ready + count.more;
        offer.reclaimable = count.reclaimable;
        put_price(desk, kind, spec, offer);
    }
    known.counted_at = now;
    known.all = std::move(all);
    return known.all;
}

api::QueryValue value_of(const api::Offer& offer, std::size_t field) {
    const std::string_view name = api::offer_fields[field].name;
    if (name == "spec") return offer.spec;
    if (name == "zone") return offer.zone;
    if (name == "gpu_type") return offer.gpu_type;
    if (name == "vendor") return offer.vendor;
    if (name == "tier") return offer.tier;
    if (name == "isolation") return offer.isolation;
    if (name == "trust") return offer.trust;
    if (name == "gpus") return std::int64_t{offer.gpus};
    if (name == "gpu_memory") return offer.gpu_memory_bytes;
    if (name == "ready") return std::int64_t{offer.ready};
    if (name == "available") return std::int64_t{offer.available};
    if (name == "reclaimable") return std::int64_t{offer.reclaimable};
    if (name == "price") return parse_money(offer.price.value_or("0")).value_or(0);
    if (name == "cpu") return parse_quantity(offer.cpu).value_or(Quantity{}).milli;
    HOSTLER_ASSERT(name == "memory");
    return parse_quantity(offer.memory).value_or(Quantity{}).units();
}

// A host's trust is one of the two words.
static bool allowed(const Policies& policies, const api::Offer& offer) {
    const Trust trust = offer.trust == text_of(Trust::trusted) ? Trust::trusted : Trust::community;
    return allows_spec(policies, offer.spec) && allows_zone(policies, offer.zone) &&
           allows_trust(policies, trust);
}

Result<std::vector<const api::Offer*>> offers_for(const Desk& desk, const api::ListOffers& request,
                                                  const Policies& policies, PriceSight prices) {
    const api::Query query = TRY(api::parse_query(request.query, api::offer_fields));
    const auto order = TRY(api::parse_order(request.order, api::offer_fields));
    TRY(check_priced(desk, query, order, prices));

    std::vector<std::map<api::QueryValue, bool>> known(query.size());  // Which values match each term.
    const auto fits = [&](const api::Offer& offer) {
        for (std::size_t at = 0; at < query.size(); ++at) {
            const std::size_t field = query[at].field;
            if (is_price(field) && !offer.price) return false;  // Nobody knows.
            const auto [value, fresh] = known[at].try_emplace(value_of(offer, field));
            if (fresh) value->second = api::matches(query[at], api::offer_fields[field].kind, value->first);
            if (!value->second) return false;
        }
        return true;
    };
    struct Found {
        const api::Offer* offer = nullptr;
        std::vector<api::QueryValue> keys;  // As many as `order` has.
    };
    std::vector<Found> found;
    for (const api::Offer& offer : offers(desk)) {
        if (!fits(offer) || !allowed(policies, offer)) continue;
        Found& one = found.emplace_back(&offer);
        for (const api::OrderBy& by : order) {
            one.keys.push_back(value_of(offer, by.field));
            if (is_price(by.field) && !offer.price)  // Last.
                one.keys.back() =
                    by.highest_first ? std::int64_t{-1} : std::numeric_limits<std::int64_t>::max();
        }
    }
    std::ranges::sort(found, [&](const Found& a, const Found& b) {
        for (std::size_t at = 0; at < order.size(); ++at)
            if (a.keys[at] != b.keys[at])
                return order[at].highest_first ? b.keys[at] < a.keys[at] : a.keys[at] < b.keys[at];
        return a.offer < b.offer;
    });
    std::vector<const api::Offer*> sorted;
    for (const Found& one : found) sorted.push_back(one.offer);
    return sorted;
}

}  // namespace hostler::master
