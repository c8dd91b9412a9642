// For tests: a term on a store in memory that can be told to wait or to fail.
#pragma once

#include <deque>

#include "core/suspend.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"
#include "ports/testing/plain_tokens.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "roles/master/http/api.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/fake_series.h"

namespace hostler::master::testing {

class FakeStore final : public Store {
public:
    Task<Lease> lead(Contender, Duration, std::uint64_t above) override { co_return Lease{above + 1, false}; }
    Task<> renew() override {
        ++renewals;
        if (hang_renewals)
            CO_TRY(co_await suspend<void>(
                [this](WakerPtr<void> waker) { renewing.push_back(std::move(waker)); }));
        if (renewal_failure) co_return std::unexpected(*renewal_failure);
        co_return Result<>{};
    }
    std::optional<Instant> renewed() const override { return renewed_beside; }
    Task<> resign() override { co_return Result<>{}; }
    Task<std::optional<Leader>> leader() override { co_return std::nullopt; }
    Task<> commit(Changes changes) override {
        begun.push_back(changes.number);
        if (hang)
            CO_TRY(co_await suspend<void>(
                [this](WakerPtr<void> waker) { waiting.push_back(std::move(waker)); }));
        if (failure) co_return std::unexpected(*failure);
        for (Object& object : changes.put) objects[{object.kind, object.id}] = std::move(object);
        for (const auto& gone : changes.erase) objects.erase(gone);
        for (std::uint64_t line = 0; EventRecord & event : changes.events) {
            event.number = changes.number;
            event.line = line++;
            log.push_back(std::move(event));
        }
        for (AuditSeal& seal : changes.seals) anchors.seals.push_back(std::move(seal));
        if (!changes.audit.empty()) anchors.head = changes.audit.back().chain;
        for (std::uint64_t line = 0; AuditLine & kept : changes.audit) {
            kept.number = changes.number;
            kept.line = line++;
            lines.push_back(std::move(kept));
        }
        done.push_back(changes.number);
        co_return Result<>{};
    }
    Task<Snapshot> load() override {
        Snapshot all;
        for (const auto& [key, object] : objects)
            if (object.live) all.live.push_back(object);
        all.audit = anchors.head;
        if (!anchors.seals.empty()) all.sealed = anchors.seals.back().head;
        co_return all;
    }
    Task<Snapshot> load_since(StorePoint point) override {
        if (since.empty()) co_return co_await load();
        Snapshot next = std::move(since.front());
        since.pop_front();
        co_return next;
    }
    Task<Page> list(ListQuery query) override {
        Page page{.at = query.at != 0 ? query.at : done.empty() ? 0 : done.back()};
        std::vector<const Object*> rows;
        for (const auto& [key, object] : objects)
            if (key.first == query.kind && (!query.tenant || object.tenant == *query.tenant) &&
                object.created <= page.at &&
                std::pair(object.created, object.id) > std::pair(query.after_created, query.after_id))
                rows.push_back(&object);
        std::ranges::sort(rows, {},
                          [](const Object* object) { return std::pair(object->created, object->id); });
        for (const Object* object : rows) {
            if (page.objects.size() == query.limit)
                page.more = true;
            else
                page.objects.push_back(*object);
        }
        co_return page;
    }
    Task<Object> find(std::string kind, std::string id) override {
        const auto at = objects.find({kind, id});
        if (at == objects.end()) co_return fail(Code::not_found, "none");
        co_return at->second;
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        std::vector<EventRecord> found;
        for (const EventRecord& event : log)
            if ((query.kind.empty() || query.kind == event.kind) &&
                (query.id.empty() || query.id == event.id) &&
                (!query.tenant || *query.tenant == event.tenant) &&
                (query.after == 0 || event.number > query.after) &&
                (!query.before ||
                 std::pair(event.number, event.line) < std::pair(query.before->number, query.before->line)))
                found.push_back(event);
        if (found.size() > query.limit)
            found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(query.limit));
        co_return found;
    }
    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        AuditAnchors some{.base = anchors.base, .head = anchors.head};
        for (const AuditSeal& seal : anchors.seals) {
            if (seal.head.position <= after) continue;
            if (some.seals.size() == limit)
                some.more = true;
            else
                some.seals.push_back(seal);
        }
        co_return some;
    }
    Task<std::uint64_t> prune_audit(WallTime before) override {
        audit_pruned.push_back(before);
        std::uint64_t count = 0;
        while (!lines.empty() && lines.front().time < before) {
            anchors.base = lines.front().chain;
            lines.erase(lines.begin());
            ++count;
        }
        co_return count;
    }
    // Looks at two lines a call, so that pages are short.
    Task<AuditPage> audit(AuditQuery query) override {
        AuditPage page;
        int looked_at = 0;
        const auto is_asked_for = [&query](const AuditLine& one) {
            return (query.actor.empty() || query.actor == one.actor) &&
                   (query.operation.empty() || query.operation == one.operation) &&
                   (query.subject.empty() || query.subject == one.subject) &&
                   (query.request.empty() || query.request == one.request) &&
                   (query.project.empty() || query.project == one.project) &&
                   (query.result.empty() || query.result == one.result);
        };
        if (query.order == AuditOrder::written) {
            for (const AuditLine& one : lines) {
                const AuditPlace place{one.time, one.number, one.line};
                if (query.after &&
                    std::pair(one.number, one.line) <= std::pair(query.after->number, query.after->line))
                    continue;
                if (looked_at++ == 2 || page.lines.size() == query.limit) co_return page;
                page.next = place;
                if (is_asked_for(one) && (!query.tenant || *query.tenant == one.tenant))
                    page.lines.push_back(one);
            }
            page.next.reset();
            co_return page;
        }
        for (auto at = lines.rbegin(); at != lines.rend(); ++at) {
            const AuditPlace place{at->time, at->number, at->line};
            const auto order = [](const AuditPlace& of) { return std::tuple(of.time, of.number, of.line); };
            if (query.after && order(place) >= order(*query.after)) continue;
            if (at->time < query.since || at->time > query.until) continue;
            if (query.tenant && at->tenant != *query.tenant) continue;
            if (looked_at++ == 2 || page.lines.size() == query.limit) co_return page;
            page.next = place;
            if (is_asked_for(*at)) page.lines.push_back(*at);
        }
        page.next.reset();
        co_return page;
    }
    Task<> prune(WallTime before) override {
        pruned.push_back(before);
        co_return Result<>{};
    }
    Task<std::unique_ptr<Backup>> backup(WallTime, const Digest&) override {
        struct Pieces final : Backup {
            explicit Pieces(int number) : left(number) {}
            Task<std::string> next() override { co_return left-- > 0 ? "piece " : ""; }
            int left;
        };
        if (backup_failure) co_return std::unexpected(*backup_failure);
        co_return std::make_unique<Pieces>(backup_pieces);
    }
    void let_go() {
        hang = false;
        for (auto& waker : std::exchange(waiting, {})) waker->wake({});
    }

    bool hang = false;
    std::optional<Error> failure;
    std::deque<Snapshot> since;  // What load_since() answers; empty: everything.
    bool hang_renewals = false;
    std::optional<Instant> renewed_beside;
    std::optional<Error> renewal_failure, backup_failure;
    int renewals = 0;
    int backup_pieces = 3;
    std::deque<WakerPtr<void>> renewing;
    std::vector<std::uint64_t> begun, done;
    std::deque<WakerPtr<void>> waiting;
    std::map<std::pair<std::string, std::string>, Object> objects;
    std::vector<EventRecord> log;
    std::vector<AuditLine> lines;  // Of the audit.
    AuditAnchors anchors;          // Of its chain.
    std::vector<WallTime> pruned, audit_pruned;
};

// A stream whose other end has said who it is.
class NamedStream final : public Stream {
public:
    NamedStream(StreamPtr under, std::string identity, bool expired)
        : under_(std::move(under)), identity_(std::move(identity)), expired_(expired) {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        return under_->try_read(into);
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return under_->try_write(from);
    }
    Task<> readable() override { return under_->readable(); }
    Task<> writable() override { return under_->writable(); }
    Task<> finish() override { return under_->finish(); }
    void close() override { under_->close(); }
    std::string_view identity() const override { return identity_; }
    bool expired() const override { return expired_; }
    std::string_view address() const override { return under_->address(); }

private:
    StreamPtr under_;
    std::string identity_;
    bool expired_;
};

// Leads nowhere. In place of TLS a client says who it is in a line, "host/h-a" or "expired host/h-a".
class NoNet final : public Net {
public:
    Task<StreamPtr> dial(std::string, Duration) override { co_return fail(Code::unavailable, "no network"); }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::unavailable, "no network"); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side, Duration) override {
        ++handshakes;
        std::string who;
        for (char next = 0;; who += next) {
            CO_TRY(co_await read_exactly(*raw, {&next, 1}));
            if (next == '\n') break;
        }
        const bool expired = who.starts_with("expired ");
        if (expired) who.erase(0, 8);
        if ((expired && how.grace == Duration{0}) || (who.empty() && how.peer_required) ||
            (!how.expect.empty() && who != how.expect))
            co_return fail(Code::unauthenticated, fmt::format("expected {} but it is {}", how.expect, who));
        co_return std::make_unique<NamedStream>(std::move(raw), who, expired);
    }
    int handshakes = 0;
};

class NoKeys final : public Keys {
public:
    Result<KeyRequest> make(Identity) override { return fail(Code::invalid, "no keys"); }
    Result<KeyRequest> renew(std::string, Identity) override { return fail(Code::invalid, "no keys"); }
    Result<CertificateFacts> read(std::string) const override { return fail(Code::invalid, "no keys"); }
    Result<std::vector<std::string>> fingerprints(std::string) const override {
        return fail(Code::invalid, "no keys");
    }
};

// A request is "csr of KEY", a certificate "IDENTITY with KEY", of another authority than the first "… by
// NAME"; anything else is refused. It writes no host names down.
class PlainAuthority final : public Authority {
public:
    Result<SignedCertificate> sign(std::string csr, Identity who, ServerNames, WallTime, Duration) override {
        const std::string by = issuing == "f00d" ? "" : " by " + issuing;
        return SignedCertificate{.certificate = who.text() + " with " + TRY(key_fingerprint(csr)) + by};
    }
    Result<CertificateFacts> check(std::string text) const override {
        const auto slash = text.find('/'), with = text.find(" with "), by = text.find(" by ");
        if (slash == std::string::npos || with == std::string::npos)
            return fail(Code::invalid, "no certificate");
        const std::string signer = by == std::string::npos ? "f00d" : text.substr(by + 4);
        if (std::ranges::count(names, signer) == 0)
            return fail(Code::unauthenticated, "not signed by our authority");
        return CertificateFacts{
            .identity = {text.substr(0, slash), text.substr(slash + 1, with - slash - 1)},
            .key_fingerprint = text.substr(with + 6, std::min(by, text.size()) - with - 6),
            .authority = signer};
    }
    Result<std::string> key_fingerprint(std::string csr) const override {
        if (!csr.starts_with("csr of ")) return fail(Code::invalid, "no request");
        return csr.substr(7);
    }
    Result<std::string> sign_text(std::string_view text) const override {
        return fmt::format("CERTIFICATE {}\n has signed {}", issuing, text);
    }
    Result<> check_text(std::string_view text, const std::string& signature, const std::string& certificate,
                        const std::string& fingerprint) const override {
        if (certificate == fmt::format("CERTIFICATE {}\n", fingerprint) &&
            signature == fmt::format("{} has signed {}", certificate, text))
            return {};
        return fail(Code::unauthenticated, "the signature is not by the key of its certificate");
    }
    std::string certificate() const override {
        std::string all;
        for (const std::string& one : names) all += "CERTIFICATE " + one + "\n";
        return all;
    }
    std::string fingerprint() const override { return names.front(); }
    std::vector<AuthorityFacts> all() const override {
        std::vector<AuthorityFacts> all;
        for (const std::string& one : names)
            all.push_back({.fingerprint = one,
                           .name = "CN=plain",
                           .certificate = "CERTIFICATE " + one + "\n",
                           .not_before = {},
                           .not_after = {},
                           .issues = one == issuing});
        return all;
    }
    Result<> add(WallTime) override {
        if (disk_is_full) return fail(Code::unavailable, "the disk is full");
        if (names.size() == 1) names.push_back(fmt::format("f{:03}", ++made));
        return {};
    }
    Result<> keep(std::vector<std::string> kept, std::string by) override {
        if (disk_is_full) return fail(Code::unavailable, "the disk is full");
        if (std::ranges::count(names, by) == 0) return fail(Code::not_found, "no key of " + by);
        std::erase_if(names, [&](const std::string& one) { return std::ranges::count(kept, one) == 0; });
        issuing = std::move(by);
        return {};
    }
    std::vector<std::string> names{"f00d"};
    std::string issuing = "f00d";
    int made = 0;
    bool disk_is_full = false;
};

// Tells texts apart, and is no fingerprint. What is no printable character is written in hexadecimal digits:
// digests go into headers.
class PlainDigest final : public Digest {
public:
    std::string sha256(std::string_view text) const override {
        constexpr std::size_t length_max = 128;  // Digests of digests would grow.
        if (text.size() > length_max) {
            std::uint64_t sum = 0xcbf29ce484222325;
            for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
            return fmt::format("#{:064x}", sum);
        }
        std::string digest = "#";
        for (const char c : text)
            digest +=
                c >= ' ' && c <= '~' ? std::string{c} : fmt::format("{:02x}", static_cast<unsigned char>(c));
        return digest;
    }
};

struct TermRig {
    TermRig() {
        ports.tokens = &tokens;
        begin(1);
    }
    ~TermRig() { finish(); }
    void begin(std::uint64_t epoch) {
        lead.term = std::make_shared<Term>(ports, settings, AddressPool::parse("10.208.0.0/12").value(),
                                           epoch, store.done.empty() ? 0 : store.done.back());
        if (!store.objects.contains({"sealing_key", "k-0"}))
            HOSTLER_ASSERT(lead.term->estate().load({PlainSealer::record("k-0")}));
    }
    void finish() {
        if (lead.term) (void)hostler::testing::try_run(loop, close(lead.term));
        lead.term = nullptr;
        timers.settle();
    }
    static Task<> close(TermPtr term) {
        co_await term->tasks().close();
        co_return Result<>{};
    }
    Term& term() { return *lead.term; }
    Desk& desk() { return term().desk("test"); }
    // Commits, and says how that ended; nullopt: it waits.
    std::optional<Result<>> commit() { return hostler::testing::try_run(loop, term().commit()); }
    void touch(const std::string& zone) { desk().estate.zones.add({.name = zone}); }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    CountingRandom random;
    FakeStore store;
    NoNet net;
    PlainAuthority authority;
    PlainDigest digest;
    Settings settings;
    NoKeys keys;
    Certified own{std::make_shared<const Credentials>(), keys, nullptr};
    FakeSeries series;
    hostler::testing::PlayedOutgoing outgoing{timers};
    PlainSealer sealer;
    hostler::testing::QuickPasswords passwords;
    hostler::testing::PlainTokens tokens;
    Ports ports{loop,   timers, net,    random,   store,  authority,
                digest, own,    series, outgoing, sealer, passwords};
    Lead lead;
};

}  // namespace hostler::master::testing
