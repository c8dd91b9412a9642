// What a GPU costs for an hour. A price that was set is never changed: it ends when another takes its place,
// and stays, so that what was used is priced as it was then.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>

#include "domain/object.h"

namespace hostler {

// Whose price it is; each empty: of any.
struct PriceTerms {
    std::string gpu_type;  // Words that stand in the model: "H100" is any H100.
    std::string zone;
    std::string trust;      // As offers say it: "trusted", "community".
    std::string isolation;  // As offers say it: "user_namespace", "container".
    bool operator==(const PriceTerms&) const = default;
};
BOOST_DESCRIBE_STRUCT(PriceTerms, (), (gpu_type, zone, trust, isolation))

// The same words, whatever their case.
bool same_terms(const PriceTerms& a, const PriceTerms& b);

struct Price {
    std::string id;  // "p-…"
    PriceTerms terms;
    std::int64_t amount_micros = 0;  // Of a GPU for an hour.
    std::string currency;            // Of all prices that hold at one moment the same.
    std::int64_t version = 0;        // Rises with each price that is set in this cloud.
    std::int64_t from = 0;           // Microseconds since 1970,
    std::int64_t until = 0;          // from which on it holds no more; 0: it still does.
    Meta meta;
    bool holds(std::int64_t at) const { return from <= at && (until == 0 || at < until); }
};
BOOST_DESCRIBE_STRUCT(Price, (), (id, terms, amount_micros, currency, version, from, until))

// A GPU somewhere, as prices see it.
struct PricedGpu {
    std::string model;  // As in the catalogue.
    std::string zone;
    std::string trust;
    std::string isolation;
};

// The price that holds for it at that moment; nullptr: none does. Of several the one that says most: first by
// the words of its model, then by zone, trust, isolation; of equals the one that was set last.
const Price* price_of(const std::map<std::string, Price>& prices, const PricedGpu& gpu, std::int64_t at);

}  // namespace hostler
