#include "sql/changes_text.h"

#include "sql/pieces.h"

namespace hostler::sql {

namespace {

// Field by field in both directions, so that neither can forget one.
struct Writer {
    std::string& to;
    bool goes_on() const { return true; }
    Result<> text(const std::string& value) {
        put_text(to, value);
        return {};
    }
    template <class T>
    Result<> number(const T& value) {
        put_number(to, static_cast<std::uint64_t>(value));
        return {};
    }
    Result<> time(const WallTime& value) { return number(value.time_since_epoch().count()); }
    template <class T, class Each>
    Result<> list(const std::vector<T>& values, Each each) {
        put_number(to, values.size());
        for (const T& value : values) TRY(each(*this, value));
        return {};
    }
};

struct Reader {
    std::string_view& from;
    bool goes_on() const { return !from.empty(); }
    Result<> text(std::string& value) {
        value = TRY(take_text(from));
        return {};
    }
    template <class T>
    Result<> number(T& value) {
        value = static_cast<T>(TRY(take_number(from)));
        return {};
    }
    Result<> time(WallTime& value) {
        value = WallTime{std::chrono::microseconds{static_cast<std::int64_t>(TRY(take_number(from)))}};
        return {};
    }
    template <class T, class Each>
    Result<> list(std::vector<T>& values, Each each) {
        for (std::uint64_t left = TRY(take_number(from)); left > 0; --left) {
            T value{};
            TRY(each(*this, value));
            values.push_back(std::move(value));
        }
        return {};
    }
};

template <class Way, class Of>
Result<> go(Way& way, Of& changes) {
    TRY(way.number(changes.number));
    TRY(way.list(changes.put, [](Way& to, auto& object) -> Result<> {
        TRY(to.text(object.kind));
        TRY(to.text(object.id));
        TRY(to.text(object.tenant));
        TRY(to.text(object.project));
        TRY(to.text(object.phase));
        TRY(to.number(object.generation));
        TRY(to.number(object.created));
        TRY(to.number(object.live));
        return to.text(object.body);
    }));
    TRY(way.list(changes.erase, [](Way& to, auto& key) -> Result<> {
        TRY(to.text(key.first));
        return to.text(key.second);
    }));
    TRY(way.list(changes.events, [](Way& to, auto& event) -> Result<> {
        TRY(to.time(event.time));
        TRY(to.text(event.kind));
        TRY(to.text(event.id));
        TRY(to.text(event.tenant));
        TRY(to.text(event.actor));
        TRY(to.text(event.reason));
        return to.text(event.message);
    }));
    TRY(way.list(changes.ledger, [](Way& to, auto& line) -> Result<> {
        TRY(to.time(line.time));
        TRY(to.text(line.claim));
        TRY(to.text(line.host));
        TRY(to.text(line.tenant));
        TRY(to.text(line.use));
        return to.text(line.body);
    }));
    TRY(way.list(changes.audit, [](Way& to, auto& line) -> Result<> {
        TRY(to.time(line.time));
        TRY(to.text(line.actor));
        TRY(to.text(line.address));
        TRY(to.text(line.operation));
        TRY(to.text(line.subject));
        TRY(to.text(line.tenant));
        TRY(to.number(line.status));
        TRY(to.text(line.before));
        return to.text(line.after);
    }));
    if (!way.goes_on()) return {};  // Of a release that knows no clients.
    for (auto& line : changes.audit) TRY(way.text(line.client));
    if (!way.goes_on()) return {};  // Of a release that knows no chain.
    for (auto& line : changes.audit) {
        TRY(way.text(line.project));
        TRY(way.text(line.zone));
        TRY(way.text(line.service));
        TRY(way.text(line.result));
        TRY(way.text(line.reason));
        TRY(way.number(line.chain.position));
        TRY(way.text(line.chain.hash));
        TRY(way.text(line.previous));
    }
    TRY(way.list(changes.seals, [](Way& to, auto& seal) -> Result<> {
        TRY(to.number(seal.head.position));
        TRY(to.text(seal.head.hash));
        TRY(to.time(seal.time));
        TRY(to.number(seal.epoch));
        TRY(to.text(seal.authority));
        TRY(to.text(seal.certificate));
        return to.text(seal.signature);
    }));
    if (!way.goes_on()) return {};  // Of a release that knows no requests.
    for (auto& line : changes.audit) TRY(way.text(line.request));
    return {};
}

}  // namespace

std::size_t size_of(const Changes& changes) {
    std::size_t size = 0;
    for (const Object& object : changes.put) size += object.body.size() + 200;
    for (const EventRecord& event : changes.events) size += event.message.size() + 200;
    for (const LedgerLine& line : changes.ledger) size += line.body.size() + 200;
    for (const AuditLine& line : changes.audit) size += line.before.size() + line.after.size() + 500;
    for (const AuditSeal& seal : changes.seals) size += seal.certificate.size() + 300;
    return size + changes.erase.size() * 50;
}

// Each is a text of its own: what a later release adds at its end is passed over.
void put_changes(std::string& into, const Changes& changes) {
    std::string one;
    Writer writer{one};
    HOSTLER_ASSERT(go(writer, changes).has_value());
    put_text(into, one);
}

Result<Changes> take_changes(std::string_view& from) {
    std::string_view one = TRY(take_text(from));
    Changes changes;
    Reader reader{one};
    TRY(go(reader, changes));
    return changes;
}

}  // namespace hostler::sql
