#include "roles/master/search/search.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "roles/master/search/kinds.h"

namespace hostler::master {

namespace {

using namespace searching;

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

enum class Rank { same, begins, contains };

struct Found {
    Rank rank = Rank::contains;
    std::size_t order = 0;  // Of its kind.
    std::string name;       // The text that matched best.
    std::string key;        // In its table.
    api::SearchHit hit;
    std::function<void(api::SearchHit&)> show;  // Called for those alone that are answered.
};

// Where the caller may read one kind.
struct Reach {
    bool everywhere = false;
    TenantNames tenants, providers;
    bool cut = false;
};

class Finder {
public:
    Finder(const Desk& desk, const api::Caller& caller, const api::Search& request)
        : desk_(desk), who_(caller.principal), text_(lower(request.q)), limit_(request.limit) {
        written_.insert(request.q);
        written_.insert(text_);
    }

    api::SearchResult run() {
        kind<OfInstance>();
        kind<OfJob>();
        kind<OfCluster>();
        kind<OfVolume>();
        kind<OfHost>();
        find_gpus();
        kind<OfProjects>();
        kind<OfTenants>();
        kind<OfUser>();
        kind<OfGroup>();
        kind<OfSpec>();
        kind<OfStock>();
        find_templates();
        kind<OfZone>();
        if (found_.size() < limit_)
            compare_all();
        else
            cut_ = true;
        return answer();
    }

private:
    // Rows that are compared one by one, if it comes to that.
    struct Walk {
        std::size_t order = 0;
        std::size_t rows = 0;
        std::function<void(std::size_t most)> go;
    };

    std::optional<std::pair<Rank, std::string>> match(const Texts& texts) const {
        std::optional<std::pair<Rank, std::string>> best;
        for (const std::string& one : texts) {
            const std::string text = lower(one);
            const auto at = text.find(text_);
            if (at == text.npos) continue;
            const Rank rank = text == text_ ? Rank::same : at == 0 ? Rank::begins : Rank::contains;
            if (!best || rank < best->first) best = {rank, text};
        }
        return best;
    }

    void add(std::string_view kind, std::size_t order, const std::string& key, const Texts& texts,
             std::function<void(api::SearchHit&)> show) {
        auto matched = match(texts);
        if (!matched || !known_.emplace(order, key).second) return;
        Found& one = found_.emplace_back();
        one.rank = matched->first;
        one.order = order;
        one.name = std::move(matched->second);
        one.key = key;
        one.hit.kind = kind;
        one.show = std::move(show);
    }

    template <class K, class Row>
    void consider(std::size_t order, const Row& row) {
        if (!K::there(row) || !authorize(who_, K::permission, K::scope(row))) return;
        add(K::kind, order, Kind<Row>::id(row), K::texts(row),
            [this, &row](api::SearchHit& hit) { K::show(desk_, row, hit); });
    }

    Reach reach_of(Permission permission) const {
        std::set<std::string> tenants, providers;
        for (const Held& held : who_.held) {
            if (!held.permissions.has(permission)) continue;
            if (held.scope.kind == ScopeKind::cloud) return {.everywhere = true};
            (held.scope.kind == ScopeKind::provider ? providers : tenants).insert(held.scope.tenant);
        }
        Reach reach{.providers = {providers.begin(), providers.end()}};
        for (const std::string& tenant : tenants) {
            reach.cut = reach.tenants.size() == search_tenants_max;
            if (reach.cut) break;
            reach.tenants.push_back(tenant);
        }
        return reach;
    }

    // By their order. Nothing that is answered tells how many rows of others were passed by.
    template <class K>
    void kind() {
        const std::size_t order = kinds_++;
        if (!authorize_anywhere(who_, K::permission)) return;
        const Reach reach = reach_of(K::permission);
        cut_ = cut_ || reach.cut;
        for (const std::string& text : written_) {
            if (const auto* row = K::table(desk_).find(text)) consider<K>(order, *row);
            if (reach.everywhere || !in_tenants<K>) look_at_ids<K>(order, text);
            if constexpr (requires { K::begin(desk_, reach.tenants, text); }) {
                const auto named = K::begin(desk_, reach.everywhere ? TenantNames{} : reach.tenants, text);
                cut_ = cut_ || (reach.everywhere && named.size() >= search_begins_max);
                for (const auto* row : named) consider<K>(order, *row);
            }
        }
        plan_walk<K>(order, reach);
    }

    template <class K>
    static constexpr bool in_tenants = row_of(K::permission).level == PermissionLevel::project ||
                                       row_of(K::permission).level == PermissionLevel::tenant;

    template <class K>
    void look_at_ids(std::size_t order, const std::string& text) {
        const auto rows = K::table(desk_).all();
        std::size_t looked_at = 0;
        for (auto at = rows.from(text); at != rows.end(); ++at) {
            const auto& [id, row] = *at;
            if (!id.starts_with(text)) return;
            if (++looked_at > search_begins_max) {
                cut_ = cut_ || authorize(who_, K::permission, Scope::cloud());
                return;
            }
            consider<K>(order, row);
        }
    }

    template <class K>
    void plan_walk(std::size_t order, const Reach& reach) {
        const auto& table = K::table(desk_);
        if constexpr (in_tenants<K>) {
            if (!reach.everywhere) return plan_walk_in_tenants<K>(order, reach);
        }
        if constexpr (requires { K::by_provider(desk_); }) {
            if (!reach.everywhere) return plan_walk_of<K>(order, K::by_provider(desk_), reach.providers);
        }
        walks_.push_back({order, table.all().size(), [this, order, &table](std::size_t most) {
                              for (const auto& [id, row] : table.all()) {
                                  if (most-- == 0) return;
                                  consider<K>(order, row);
                              }
                          }});
    }

    template <class K>
    void plan_walk_in_tenants(std::size_t order, const Reach& reach) {
        const auto& table = K::table(desk_);
        if constexpr (requires { table.by().tenant; }) {
            plan_walk_of<K>(order, table.by().tenant, reach.tenants);
        } else {  // Tenants themselves.
            Walk walk{.order = order};
            walk.rows = reach.tenants.size();
            walk.go = [this, order, &table, tenants = reach.tenants](std::size_t most) {
                for (std::size_t i = 0; i < std::min(most, tenants.size()); ++i)
                    if (const auto* row = table.find(tenants[i])) consider<K>(order, *row);
            };
            walks_.push_back(std::move(walk));
        }
    }

    // Rows of these owners, by an index of owners.
    template <class K>
    void plan_walk_of(std::size_t order, const auto& index, const std::vector<std::string>& owners) {
        Walk walk{.order = order};
        for (const std::string& owner : owners) walk.rows += index.count(owner);
        walk.go = [this, order, &index, owners](std::size_t most) {
            for (const std::string& owner : owners) {
                const auto rows = index.of(owner, most);
                most -= rows.size();
                for (const auto* row : rows) consider<K>(order, *row);
            }
        };
        walks_.push_back(std::move(walk));
    }

    // By UUID, as drivers write them: "GPU-6d1f…".
    void find_gpus() {
        const std::size_t order = kinds_++;
        if (!authorize_anywhere(who_, Permission::gpu_read)) return;
        const bool everywhere = authorize(who_, Permission::gpu_read, Scope::cloud());
        std::set<std::string> written = written_;
        if (text_.starts_with("gpu-")) written.insert("GPU-" + text_.substr(4));
        for (const std::string& text : written) {
            const auto hosts = desk_.estate.hosts.by().gpu.between(text, behind(text), search_begins_max);
            cut_ = cut_ || (everywhere && hosts.size() >= search_begins_max);
            for (const Host* host : hosts)
                if (authorize(who_, Permission::gpu_read, scope_of_provider(host->owner)))
                    for (const GpuFacts& gpu : host->facts.gpus)
                        if (gpu.uuid.starts_with(text)) add_gpu(order, *host, gpu);
        }
    }
    void add_gpu(std::size_t order, const Host& host, const GpuFacts& gpu) {
        add("gpu", order, gpu.uuid, {gpu.uuid}, [&host, &gpu](api::SearchHit& hit) {
            const auto state = host.gpu_states.find(gpu.uuid);
            hit.id = gpu.uuid;
            hit.name = gpu.model;
            hit.state = text_of(state == host.gpu_states.end() ? GpuHealth::healthy : state->second.health);
        });
    }

    // They are settings, and few.
    void find_templates() {
        const std::size_t order = kinds_++;
        if (!authorize_anywhere(who_, Permission::template_read)) return;
        for (const InstanceTemplate& one : desk_.settings.templates)
            add("template", order, one.name, {one.name},
                [&one](api::SearchHit& hit) { hit.id = hit.name = one.name; });
    }

    void compare_all() {
        std::ranges::sort(walks_, {}, [](const Walk& walk) { return std::pair(walk.rows, walk.order); });
        std::size_t left = search_rows_max;
        for (const Walk& walk : walks_) {
            cut_ = cut_ || walk.rows > left;
            walk.go(std::min(walk.rows, left));
            left -= std::min(walk.rows, left);
        }
    }

    api::SearchResult answer() {
        std::ranges::sort(found_, {}, [](const Found& one) {
            return std::tuple(one.rank, one.order, std::string_view{one.name}, std::string_view{one.key});
        });
        api::SearchResult result{.truncated = cut_ || found_.size() > limit_};
        if (found_.size() > limit_) found_.resize(limit_);
        for (Found& one : found_) {
            one.show(one.hit);
            result.items.push_back(std::move(one.hit));
        }
        return result;
    }

    const Desk& desk_;
    const Principal& who_;
    std::string text_;               // In lower case.
    std::set<std::string> written_;  // As it was written, and so: ids and names are found by order.
    std::size_t limit_;
    std::size_t kinds_ = 0;
    bool cut_ = false;
    std::vector<Walk> walks_;
    std::vector<Found> found_;
    std::set<std::pair<std::size_t, std::string>> known_;  // Of these, by kind and key.
};

}  // namespace

api::SearchResult search(const Desk& desk, const api::Caller& caller, const api::Search& request) {
    return Finder{desk, caller, request}.run();
}

}  // namespace hostler::master
