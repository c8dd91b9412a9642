#include "roles/agent/private_images.h"

#include <fmt/format.h>

#include <utility>

#include "domain/image/image.h"

namespace hostler::agent {

namespace {

constexpr std::string_view key_prefix = "private/";

}  // namespace

std::string repository_of(std::string_view image) {
    std::string full = full_image_name(image);
    full.resize(std::min(full.find('@'), full.size()));
    const auto colon = full.rfind(':');
    if (colon != std::string::npos && full.find('/', colon) == std::string::npos) full.resize(colon);
    return full;
}

bool PrivateImages::is_closed_to(std::string_view image, const std::string& tenant) {
    load();
    const auto found = repositories_.find(repository_of(image));
    return found != repositories_.end() && !found->second.contains(tenant);
}

Task<> PrivateImages::close(std::string image) {
    load();
    const std::string repository = repository_of(image);
    if (repositories_.contains(repository)) co_return Result<>{};
    if (repositories_.size() >= repositories_max)
        co_return fail(
            Code::exhausted,
            fmt::format("image {}: this host remembers {} repositories that want a login, which is "
                        "as many as it may (private_images_max)",
                        image, repositories_.size()),
            "private_images_max");
    repositories_[repository];
    auto durable = co_await write(repository);
    if (!durable) repositories_.erase(repository);
    co_return durable;
}

Task<> PrivateImages::given(std::string image, std::string tenant, bool by_login) {
    load();
    const std::string repository = repository_of(image);
    const auto found = repositories_.find(repository);
    if (found == repositories_.end()) co_return Result<>{};
    if (!by_login) {
        repositories_.erase(found);
        co_return co_await journal_.erase(std::string{key_prefix} + repository);
    }
    Tenants& tenants = found->second;
    if (!tenants.insert(tenant).second) co_return Result<>{};
    if (tenants.size() > tenants_max)
        tenants.erase(*tenants.begin() == tenant ? std::next(tenants.begin()) : tenants.begin());
    co_return co_await write(repository);
}

// Ids of tenants have no line breaks.
Task<> PrivateImages::write(std::string repository) {
    std::string all;
    for (const std::string& tenant : repositories_[repository]) all += tenant + "\n";
    co_return co_await journal_.put(std::string{key_prefix} + repository, std::move(all));
}

void PrivateImages::load() {
    if (std::exchange(loaded_, true)) return;
    for (auto entry = journal_.all().lower_bound(std::string{key_prefix});
         entry != journal_.all().end() && entry->first.starts_with(key_prefix); ++entry) {
        Tenants& tenants = repositories_[entry->first.substr(key_prefix.size())];
        std::string_view text = entry->second;
        for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
            tenants.emplace(text.substr(0, end));
            text.remove_prefix(end + 1);
        }
    }
}

}  // namespace hostler::agent
