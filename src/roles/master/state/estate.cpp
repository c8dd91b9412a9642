#include "roles/master/state/estate.h"

#include <fmt/format.h>

#include "roles/master/state/sealed_fields.h"

namespace hostler::master {

namespace {

template <class T>
SecretsOf secrets_of(const T& row) {
    return {Kind<T>::name, Kind<T>::id(row), Kind<T>::tenant(row)};
}

// As it goes into the store. What has ended needs no secrets any more.
template <HasSecrets T>
T closed(T row, const Sealer& sealer, std::string_view key, bool live) {
    const SecretsOf of = secrets_of(row);
    const auto done = each_secret(row, [&](std::string_view field, std::string& text) -> Result<> {
        if (live) return seal_secret(sealer, key, of, field, text);
        text.clear();
        return {};
    });
    HOSTLER_ASSERT(done);  // A key that is current is here: agree_on_sealing().
    return row;
}

struct Seal {
    const Sealer* sealer = nullptr;
    std::string key;
};

template <class T>
Object envelope(T& row, const std::map<std::string, std::string>& beyond, const Seal& seal,
                std::uint64_t number, bool live) {
    if (row.meta.created == 0) row.meta.created = number;
    row.meta.version = number;
    Object object;
    object.kind = Kind<T>::name;
    object.id = Kind<T>::id(row);
    object.tenant = Kind<T>::tenant(row);
    object.project = project_of(row);
    object.phase = Kind<T>::phase(row);
    object.generation = row.meta.generation;
    object.created = row.meta.created;
    object.version = row.meta.version;
    object.live = live;
    const auto before = beyond.find(object.id);
    const auto write = [&](const T& as) {
        object.body = before == beyond.end() ? encode_body(as) : encode_body_onto(as, before->second);
    };
    if constexpr (HasSecrets<T>) {
        HOSTLER_ASSERT(seal.sealer);
        write(closed(row, *seal.sealer, seal.key, live));
    } else {
        write(row);
    }
    return object;
}

void add_notice(std::vector<Notice>& to, Notice notice) {
    if (!notice.id.empty()) to.push_back(std::move(notice));
}

// The notices of a row that a commit has, as its rows in kinds.def say.
template <class T>
void tell_of([[maybe_unused]] const Estate& estate, [[maybe_unused]] const T& object,
             [[maybe_unused]] Happened what, [[maybe_unused]] std::vector<Notice>& to) {
    using namespace audience;
#define PART(type)
#define KIND(...)
#define HIDDEN(type, why)
#define SHOWN(type, word, permission, id_of, name_at, who) \
    if constexpr (std::is_same_v<T, type>)                 \
        add_notice(to, {word, Permission::permission, id_of, name_at, who, what});
#define SHOWN_PART(type, word, permission, id_of, name_at, who) \
    if constexpr (std::is_same_v<T, type>)                      \
        add_notice(to, {word, Permission::permission, id_of, name_at, who, Happened::changed});
#include "roles/master/kinds.def"
#undef KIND
#undef PART
}

}  // namespace

void Estate::begin(std::string actor, WallTime time) {
    actor_ = std::move(actor);
    time_ = time;
}

void Estate::event(std::string_view kind, const std::string& id, const std::string& tenant,
                   std::string reason, std::string message) {
    // Hosts say some of it, and no database may refuse it.
    for (std::string* text : {&reason, &message}) std::ranges::replace(*text, '\0', ' ');
    events_.push_back(
        {time_, std::string{kind}, id, tenant, actor_, std::move(reason), std::move(message), 0});
}

void Estate::ledger(const Claim& claim, std::string use) {
    ledger_.push_back({time_, claim.id, claim.host, claim.tenant, std::move(use), encode_body(claim)});
}

void Estate::name_models(Claim& claim) const {
    const Host* host = hosts.find(claim.host);
    if (!host) return;
    std::vector<std::string> models;
    for (const std::string& uuid : claim.gpus)
        for (const GpuFacts& gpu : host->facts.gpus)
            if (gpu.uuid == uuid) models.push_back(gpu.model);
    if (models.size() == claim.gpus.size()) claim.gpu_models = std::move(models);
}

const Claim& Estate::hold(Claim claim) {
    claim.since = micros();
    name_models(claim);
    const Claim& held = claims.add(std::move(claim));
    ledger(held, text_of(held.use));
    return held;
}

void Estate::readdress(const std::string& id, int address_index) {
    Claim& claim = claims.edit(id);
    claim.address_index = address_index;
    ledger(claim, text_of(claim.use));
}

void Estate::pass_on(const std::string& id, ClaimUse use, ClaimOf of) {
    Claim& claim = claims.edit(id);
    claim.use = use;
    claim.tenant = std::move(of.tenant);
    claim.project = std::move(of.project);
    claim.holder = std::move(of.holder);
    claim.created_by = std::move(of.created_by);
    name_models(claim);
    if (use != ClaimUse::leaving) claim.since = micros();
    if (use == ClaimUse::stock) claim.group.clear();
    ledger(claim, text_of(use));
}

void Estate::release(const std::string& id) {
    ledger(claims.at(id), "released");
    claims.erase(id);
}

bool Estate::unchanged() const {
    bool any = !events_.empty() || !ledger_.empty() || !audit_.empty() || !seals_.empty() || !again_.empty();
    each_table(*this, [&](const auto& table) {
        any = any || !table.changed_.empty() || !table.retired_.empty() || !table.erased_.empty();
    });
    return !any;
}

Estate::Trial::Trial(Estate& estate)
    : estate_(estate),
      events_(std::exchange(estate.events_, {})),
      ledger_(std::exchange(estate.ledger_, {})),
      audit_(std::exchange(estate.audit_, {})),
      seals_(std::exchange(estate.seals_, {})),
      again_(std::exchange(estate.again_, {})) {
    ++estate_.trials_;
    each_table(estate_, [](auto& table) { table.begin_trial(); });
}

Estate::Trial::~Trial() {
    --estate_.trials_;
    each_table(estate_, [](auto& table) { table.end_trial(); });
    estate_.events_ = std::move(events_);
    estate_.ledger_ = std::move(ledger_);
    estate_.audit_ = std::move(audit_);
    estate_.seals_ = std::move(seals_);
    estate_.again_ = std::move(again_);
}

std::size_t Estate::size() const {
    std::size_t size = 0;
    each_table(*this, [&](const auto& table) { size += table.rows_.size(); });
    return size;
}

std::uint64_t Estate::rows_visited() const {
    std::uint64_t visited = 0;
    each_table(*this, [&](const auto& table) { visited += table.rows_visited(); });
    return visited;
}

Changes Estate::take(std::uint64_t epoch, std::uint64_t number, std::vector<Touched>& touched) {
    Changes changes;
    changes.epoch = epoch;
    changes.number = number;
    changes.put = std::exchange(again_, {});
    notices_.clear();
    const Seal seal{sealer_, current_key()};
    each_table(*this, [&]<class T>(Table<T>& table) {
        for (const std::string& id : table.changed_) {
            T& row = table.rows_.at(id);
            const bool is_new = row.meta.created == 0 && !table.erased_.contains(id);
            changes.put.push_back(envelope(row, table.beyond_, seal, number, true));
            tell_of(*this, row, is_new ? Happened::added : Happened::changed, notices_);
            touched.push_back({std::string{Kind<T>::name}, id});
        }
        for (T& row : table.retired_) {
            changes.put.push_back(envelope(row, table.beyond_, seal, number, false));
            touched.push_back({std::string{Kind<T>::name}, Kind<T>::id(row)});
            tell_of(*this, row, Happened::removed, notices_);
            table.beyond_.erase(Kind<T>::id(row));
        }
        for (const auto& [id, row] : table.erased_) {
            if (table.rows_.contains(id)) continue;  // Made again under the same name.
            changes.erase.emplace_back(std::string{Kind<T>::name}, id);
            tell_of(*this, row, Happened::removed, notices_);
            touched.push_back({std::string{Kind<T>::name}, id});
        }
        table.changed_.clear();
        table.retired_.clear();
        table.erased_.clear();
    });
    changes.events = std::exchange(events_, {});
    std::set<std::string> told;  // Tenants.
    for (const EventRecord& event : changes.events)
        if (told.insert(event.tenant).second) notices_.push_back(notice_of_events(event.tenant));
    changes.ledger = std::exchange(ledger_, {});
    changes.audit = std::exchange(audit_, {});
    changes.seals = std::exchange(seals_, {});
    return changes;
}

std::string Estate::current_key() const {
    for (const auto& [id, key] : sealing_keys.all())
        if (key.phase == SealingPhase::current) return id;
    return {};
}

std::set<std::string> Estate::known_keys(const std::vector<Object>& objects) const {
    std::set<std::string> known;
    for (const auto& [id, key] : sealing_keys.all()) known.insert(id);
    for (const Object& object : objects)
        if (object.kind == Kind<SealingKey>::name) known.insert(object.id);
    return known;
}

Result<> Estate::load(const std::vector<Object>& objects) { return load(objects, known_keys(objects)); }

Result<> Estate::load(std::span<const Object> objects, const std::set<std::string>& keys) {
    for (const Object& object : objects) {
        if (!object.live) {
            forget(object.kind, object.id);
            continue;
        }
        Result<> read;
        unreadable_.erase({object.kind, object.id});
        each_table(*this, [&]<class T>(Table<T>& table) {
            if (object.kind == Kind<T>::name) read = load_into(table, object, keys);
        });
        if (!read && read.error().code == Code::invalid)
            read = set_aside({object.kind, object.id, read.error().message});
        TRY(std::move(read));
        // A kind that only a newer release knows stays in the store, untouched.
    }
    return {};
}

template <class T>
Result<> Estate::load_into(Table<T>& table, const Object& object, const std::set<std::string>& keys) {
    bool beyond = false;
    T row = TRY(decode_body<T>(object.body, &beyond));
    if constexpr (HasSecrets<T>) {
        const SecretsOf of = secrets_of(row);
        if (sealer_)
            TRY(each_secret(row, [&](std::string_view field, std::string& text) {
                return open_secret(*sealer_, keys, of, field, text);
            }));
    }
    row.meta = {object.generation, object.created, object.version};
    table.load(object.id, std::move(row), beyond ? object.body : std::string{});
    return {};
}

Result<> Estate::set_aside(const Unreadable& row) {
    bool decided = false;
    each_table(*this, [&]<class T>(const Table<T>&) {
        decided = decided || (Kind<T>::decided && row.kind == Kind<T>::name);
    });
    if (decided)
        return fail(
            Code::internal,
            fmt::format("{} {} in the store cannot be read: {}; restore a backup, or take the row out "
                        "with `hostler store drop {} {}`",
                        row.kind, row.id, row.why, row.kind, row.id),
            "row_damaged");
    forget(row.kind, row.id);
    unreadable_[{row.kind, row.id}] = row.why;
    return {};
}

void Estate::forget(std::string_view kind, const std::string& id) {
    unreadable_.erase({std::string{kind}, id});
    each_table(*this, [&]<class T>(Table<T>& table) {
        if (kind != Kind<T>::name) return;
        table.forget(id);
    });
}

}  // namespace hostler::master
