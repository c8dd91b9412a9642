#include "roles/agent/tenant_ids.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace hostler::agent {

namespace {

constexpr std::string_view key_prefix = "ids/";

IdRange range(std::uint32_t number) {
    const std::uint32_t begin = TenantIds::first + number * IdRange::size;
    return {begin, begin};
}

}  // namespace

Task<IdRange> TenantIds::of(std::string tenant, EngineFacts engine) {
    switch (engine.user_namespaces) {
        case UserNamespaces::none: co_return IdRange{};
        case UserNamespaces::shared: co_return engine.shared_ids;
        case UserNamespaces::chosen: break;
    }
    co_return co_await choose(std::move(tenant));
}

Task<IdRange> TenantIds::choose(std::string tenant) {
    load();
    const auto known = numbers_.find(tenant);
    std::uint32_t number = known != numbers_.end() ? known->second : 0;
    if (known == numbers_.end()) {
        number = static_cast<std::uint32_t>(used_.size());  // The next one, as none is ever given back.
        while (used_.contains(number)) ++number;
        if (number >= tenants_max) number = static_cast<std::uint32_t>(numbers_.size()) % tenants_max;
        numbers_[tenant] = number;
        used_.insert(number);
    }
    // Written by whoever needs it first, and by those who come while it is not yet durable.
    const auto key = fmt::format("{}{}", key_prefix, tenant);
    if (!journal_.all().contains(key)) CO_TRY(co_await journal_.put(key, fmt::format("{}", number)));
    co_return range(number);
}

void TenantIds::load() {
    if (std::exchange(loaded_, true)) return;
    for (auto entry = journal_.all().lower_bound(std::string{key_prefix});
         entry != journal_.all().end() && entry->first.starts_with(key_prefix); ++entry) {
        std::uint32_t number = 0;
        const auto& text = entry->second;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec != std::errc{} || number >= tenants_max) continue;
        numbers_[entry->first.substr(key_prefix.size())] = number;
        used_.insert(number);
    }
}

}  // namespace hostler::agent
