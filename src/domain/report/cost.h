// What hours of a GPU cost, by the prices that held then.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "domain/billing/price.h"
#include "domain/report/report.h"
#include "domain/series/query.h"

namespace hostler::report {

using series::Millis;

// As offers tell hosts apart.
struct HostTerms {
    std::string trust;
    std::string isolation;
};

struct PriceList {
    std::map<std::string, Price> prices;     // By id: those that held at some time of the question.
    std::map<std::string, HostTerms> hosts;  // By id, as they are when the report is made.
};

// What holds from a moment on, until the next one begins.
struct PriceSpan {
    Millis from = 0;
    std::int64_t micros = 0;  // Of a GPU for an hour; of an empty currency: nothing holds.
    std::string currency;
};

// Of a GPU with these labels of series, in the time from `from` to `to`: by their beginning, the first of
// them at `from`.
std::vector<PriceSpan> price_spans(const PriceList& list, const series::Labels& labels, Millis from,
                                   Millis to);
// nullptr: no price holds then.
const PriceSpan* span_at(std::span<const PriceSpan> spans, Millis time);

using Sums = std::map<std::string, double>;  // Millionths, by currency.

void add_cost(Sums& sums, const PriceSpan* price, double seconds);
std::vector<Cost> costs_of(const Sums& sums);  // To a hundredth.

}  // namespace hostler::report
