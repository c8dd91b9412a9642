#include "domain/report/cost.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "domain/billing/money.h"

namespace hostler::report {

namespace {

constexpr std::int64_t micros_of_cent = 10'000;

std::string label_in(const series::Labels& labels, const char* name) {
    const auto at = labels.find(name);
    return at == labels.end() ? "" : at->second;
}

}  // namespace

std::vector<PriceSpan> price_spans(const PriceList& list, const series::Labels& labels, Millis from,
                                   Millis to) {
    PricedGpu gpu{.model = label_in(labels, "model"), .zone = label_in(labels, "zone")};
    if (const auto host = list.hosts.find(label_in(labels, "host")); host != list.hosts.end()) {
        gpu.trust = host->second.trust;
        gpu.isolation = host->second.isolation;
    }
    std::set<Millis> turns{from};
    for (const auto& [id, price] : list.prices)
        for (const std::int64_t at : {price.from, price.until})
            if (const Millis turn = (at + 999) / 1000; turn > from && turn < to) turns.insert(turn);
    std::vector<PriceSpan> spans;
    for (const Millis turn : turns) {
        PriceSpan span{.from = turn};
        if (const Price* price = price_of(list.prices, gpu, turn * 1000)) {
            span.micros = price->amount_micros;
            span.currency = price->currency;
        }
        spans.push_back(std::move(span));
    }
    return spans;
}

const PriceSpan* span_at(std::span<const PriceSpan> spans, Millis time) {
    const auto behind = std::ranges::upper_bound(spans, time, {}, &PriceSpan::from);
    if (behind == spans.begin()) return nullptr;
    const PriceSpan& span = *std::prev(behind);
    return span.currency.empty() ? nullptr : &span;
}

void add_cost(Sums& sums, const PriceSpan* price, double seconds) {
    if (price) sums[price->currency] += seconds * static_cast<double>(price->micros) / 3600;
}

std::vector<Cost> costs_of(const Sums& sums) {
    std::vector<Cost> costs;
    for (const auto& [currency, micros] : sums)
        costs.push_back({.amount = money_text(std::llround(micros / micros_of_cent) * micros_of_cent),
                         .currency = currency});
    return costs;
}

}  // namespace hostler::report
