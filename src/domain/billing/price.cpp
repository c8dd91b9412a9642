#include "domain/billing/price.h"

#include <algorithm>
#include <tuple>

#include "domain/scheduler/place.h"

namespace hostler {

namespace {

bool covers(const PriceTerms& terms, const PricedGpu& gpu) {
    const auto any_or = [](const std::string& term, const std::string& is) {
        return term.empty() || term == is;
    };
    return model_matches(terms.gpu_type, gpu.model) && any_or(terms.zone, gpu.zone) &&
           any_or(terms.trust, gpu.trust) && any_or(terms.isolation, gpu.isolation);
}

std::size_t words(std::string_view text) {
    std::size_t count = 0;
    bool inside = false;
    for (const char c : text) {
        count += c != ' ' && !inside;
        inside = c != ' ';
    }
    return count;
}

auto rank(const Price& price) {
    const PriceTerms& terms = price.terms;
    return std::tuple(words(terms.gpu_type), !terms.zone.empty(), !terms.trust.empty(),
                      !terms.isolation.empty(), price.version);
}

bool same_text(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

bool same_terms(const PriceTerms& a, const PriceTerms& b) {
    return same_text(a.gpu_type, b.gpu_type) && a.zone == b.zone && a.trust == b.trust &&
           a.isolation == b.isolation;
}

const Price* price_of(const std::map<std::string, Price>& prices, const PricedGpu& gpu, std::int64_t at) {
    const Price* best = nullptr;
    for (const auto& [id, price] : prices)
        if (price.holds(at) && covers(price.terms, gpu) && (!best || rank(*best) < rank(price)))
            best = &price;
    return best;
}

}  // namespace hostler
