#include "roles/master/billing/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/describe/enum_from_string.hpp>
#include <map>
#include <tuple>

#include "api/types_price.h"
#include "domain/billing/money.h"
#include "roles/master/state/near.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

constexpr std::string_view any_gpu = "any";

PriceTerms terms_in(const auto& request) {
    return {.gpu_type = request.gpu_type == any_gpu ? "" : request.gpu_type,
            .zone = request.zone.value_or(""),
            .trust = request.trust ? text_of(*request.trust) : "",
            .isolation = request.isolation ? text_of(*request.isolation) : ""};
}

std::string words_of(const PriceTerms& terms) {
    std::string words = terms.gpu_type.empty() ? "any GPU" : terms.gpu_type;
    for (const std::string& more : {terms.zone, terms.trust, terms.isolation})
        if (!more.empty()) words += ", " + more;
    return words;
}

Result<> check_version(const Price* now, const std::optional<std::int64_t>& expected) {
    const std::int64_t version = now ? now->version : 0;
    if (!expected || *expected == version) return {};
    Error error{Code::conflict,
                now ? fmt::format("the price has version {}, not {}", version, *expected)
                    : fmt::format("there is no such price, and so none of version {}", *expected),
                "price_changed"};
    error.help = "Read the prices again, and decide again.";
    return std::unexpected(std::move(error));
}

// All prices that hold are of one currency, or nobody could compare them.
Result<std::string> currency_of(const Desk& desk, const api::SetPrice& request, const Price* replaced) {
    const auto& all = desk.estate.prices.all();
    const auto now = std::ranges::find_if(all, [](const auto& row) { return row.second.until == 0; });
    if (now == all.end()) {
        if (request.currency) return *request.currency;
        Error error{Code::invalid, "the first price says in which currency it is", "invalid"};
        error.fields = {{"currency", "is required with the first price"}};
        return std::unexpected(std::move(error));
    }
    if (!request.currency || *request.currency == now->second.currency) return now->second.currency;
    const bool others = std::ranges::any_of(
        all, [&](const auto& row) { return row.second.until == 0 && &row.second != replaced; });
    if (!others) return *request.currency;
    Error error{Code::conflict, fmt::format("all prices are in {}", now->second.currency),
                "currency_differs"};
    error.fields = {{"currency", fmt::format("is {} of all others", now->second.currency)}};
    error.help = "Remove the other prices first, or set this one in their currency.";
    return std::unexpected(std::move(error));
}

void end(Desk& desk, const std::string& id) { desk.estate.prices.edit(id).until = desk.estate.micros(); }

}  // namespace

PriceTerms terms_of(const api::SetPrice& request) { return terms_in(request); }
PriceTerms terms_of(const api::RemovePrice& request) { return terms_in(request); }

const Price* holding_price(const Desk& desk, const PriceTerms& terms) {
    for (const auto& [id, price] : desk.estate.prices.all())
        if (price.until == 0 && same_terms(price.terms, terms)) return &price;
    return nullptr;
}

Result<const Price*> set_price(Desk& desk, const api::SetPrice& request) {
    if (request.zone && !desk.estate.zones.find(*request.zone)) {
        Error error{Code::invalid, no_such_in(desk.estate.zones, "zone", *request.zone), "invalid"};
        error.fields = {{"zone", "no such zone"}};
        return std::unexpected(std::move(error));
    }
    const PriceTerms terms = terms_of(request);
    const Price* before = holding_price(desk, terms);
    TRY(check_version(before, request.if_version));
    const std::string currency = TRY(currency_of(desk, request, before));
    const std::int64_t amount = TRY(parse_money(request.amount));
    if (before && before->amount_micros == amount && before->currency == currency) return before;
    const auto& all = desk.estate.prices.all();
    if (all.size() >= prices_max)
        return fail(Code::exhausted, fmt::format("{} prices are kept, which is the limit", prices_max),
                    "too_many_prices");
    std::int64_t version = 0;
    for (const auto& [id, price] : all) version = std::max(version, price.version);
    const std::string was =
        before ? fmt::format(" instead of {} {}", money_text(before->amount_micros), before->currency) : "";
    if (before) end(desk, std::string{before->id});
    const Price& set = desk.estate.prices.add({.id = new_id(desk.random, "p"),
                                               .terms = terms,
                                               .amount_micros = amount,
                                               .currency = currency,
                                               .version = version + 1,
                                               .from = desk.estate.micros()});
    desk.estate.event(
        "price", set.id, "", "price_set",
        fmt::format("A GPU costs {} {} an hour{} ({}).", money_text(amount), currency, was, words_of(terms)));
    return &set;
}

Result<const Price*> remove_price(Desk& desk, const api::RemovePrice& request) {
    const PriceTerms terms = terms_of(request);
    const Price* now = holding_price(desk, terms);
    if (!now && !request.if_version)
        return fail(Code::not_found, fmt::format("no price is set for {}", words_of(terms)),
                    "price_not_found");
    TRY(check_version(now, request.if_version));
    if (!now)
        return fail(Code::not_found, fmt::format("no price is set for {}", words_of(terms)),
                    "price_not_found");
    const std::string id = now->id;
    end(desk, id);
    const Price& ended = desk.estate.prices.at(id);
    desk.estate.event("price", id, "", "price_removed",
                      fmt::format("{} {} an hour has ended ({}).", money_text(ended.amount_micros),
                                  ended.currency, words_of(terms)));
    return &ended;
}

bool is_priced(const Desk& desk) {
    return std::ranges::any_of(desk.estate.prices.all(),
                               [](const auto& row) { return row.second.until == 0; });
}

std::string isolation_of(const Host& host) {
    return host.facts.user_namespaces ? "user_namespace" : "container";
}

const Price* price_on(const Desk& desk, const Host& host, const std::string& model) {
    return price_of(desk.estate.prices.all().as_map(),
                    {model, host.zone, text_of(trust_of(host)), isolation_of(host)}, desk.estate.micros());
}

namespace {

// Prices that are over are kept, so that it is not for each instance of a list to look through them.
struct PricesNow {
    static constexpr bool follows_estate = true;
    Follower<Price> changed;
    std::int64_t since = 0;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::string> ids;
};

}  // namespace

const Price* price_now(const Desk& desk, const PricedGpu& gpu) {
    constexpr std::int64_t kept_us = 1'000'000;
    auto& known = desk.live.part<PricesNow>();
    const std::int64_t now = desk.estate.micros();
    const bool changed = !known.changed.changed(desk.estate.prices).empty();
    if (changed || now < known.since || now - known.since >= kept_us) {
        known.ids.clear();
        known.since = now;
    }
    const auto [at, fresh] = known.ids.try_emplace({gpu.model, gpu.zone, gpu.trust, gpu.isolation});
    if (fresh)
        if (const Price* price = price_of(desk.estate.prices.all().as_map(), gpu, now))
            at->second = price->id;
    return at->second.empty() ? nullptr : desk.estate.prices.find(at->second);
}

api::Price view(const Price& price) {
    api::Price shown{.id = price.id,
                     .gpu_type = price.terms.gpu_type.empty() ? std::string{any_gpu} : price.terms.gpu_type,
                     .amount = money_text(price.amount_micros),
                     .currency = price.currency,
                     .version = price.version,
                     .since = wall(price.from),
                     .until = wall_if(price.until)};
    if (!price.terms.zone.empty()) shown.zone = price.terms.zone;
    if (!price.terms.trust.empty())
        boost::describe::enum_from_string(price.terms.trust.c_str(), shown.trust.emplace());
    if (!price.terms.isolation.empty())
        boost::describe::enum_from_string(price.terms.isolation.c_str(), shown.isolation.emplace());
    return shown;
}

}  // namespace hostler::master
