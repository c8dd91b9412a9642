#include "store_contract.h"

#include "adapters/net/digest.h"
#include "ports/audit_chain.h"

namespace hostler::contract {

namespace {

Object object(std::string id, std::string kind = "instance", std::string tenant = "acme") {
    return {.kind = std::move(kind),
            .id = std::move(id),
            .tenant = std::move(tenant),
            .project = "p",
            .phase = "ready",
            .generation = 1,
            .body = "{}"};
}

EventRecord event(std::int64_t second, std::string id, std::string tenant = "acme") {
    return {.time = WallTime{std::chrono::seconds{second}},
            .kind = "instance",
            .id = std::move(id),
            .tenant = std::move(tenant),
            .actor = "master",
            .reason = "placed",
            .message = "It was placed."};
}

std::vector<std::string> ids(const std::vector<Object>& objects) {
    std::vector<std::string> ids;
    for (const auto& one : objects) ids.push_back(one.id);
    return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_P(StoreContract, EachLeaderHasAHigherEpoch) {
    const auto second = run(store_->lead(m1, lease_time, 0)).value().epoch;
    EXPECT_GT(second, epoch_);
    EXPECT_EQ(run(store_->lead(m1, lease_time, second + 1000)).value().epoch, second + 1001);
    ASSERT_TRUE(run(store_->resign()));
    reopen();
    EXPECT_EQ(run(store_->lead(m1, lease_time, 5)).value().epoch, second + 1002);
    EXPECT_EQ(run(store_->lead(m1, lease_time, ~0ull)).error().code, Code::invalid);
}

TEST_P(StoreContract, WhoLedBeforeCommitsNoMore) {
    ASSERT_TRUE(put(object("i-1")));
    const auto old = epoch_;
    epoch_ = run(store_->lead(m1, lease_time, 0)).value().epoch;
    Changes late{.epoch = old, .number = ++number_};
    late.put.push_back(object("i-late"));
    EXPECT_EQ(commit(late).error().code, Code::conflict);
    late.epoch = epoch_ + 1;  // Nobody was ever given this one.
    EXPECT_EQ(commit(late).error().code, Code::conflict);
    EXPECT_EQ(run(store_->find("instance", "i-late")).error().code, Code::not_found);
    EXPECT_TRUE(put(object("i-2")));
}

TEST_P(StoreContract, TellsWhoLeads) {
    const auto now = run(store_->leader());
    ASSERT_TRUE(now && *now);
    EXPECT_EQ((*now)->who, m1);
    EXPECT_EQ((*now)->epoch, epoch_);
    EXPECT_GT((*now)->left, Duration{0});
    EXPECT_LE((*now)->left, lease_time);
    ASSERT_TRUE(run(store_->renew()));
    const auto next = run(store_->lead(m2, lease_time, 0)).value().epoch;
    EXPECT_EQ(run(store_->leader()).value()->who, m2);
    EXPECT_EQ(run(store_->leader()).value()->epoch, next);
}

TEST_P(StoreContract, NobodyRenewsWhoNeverLed) {
    store_.reset();
    auto fresh = rig_->open().value();
    EXPECT_EQ(run(fresh->renew()).error().code, Code::conflict);
    EXPECT_EQ(run(fresh->resign()).error().code, Code::conflict);
}

TEST_P(StoreContract, NumbersRise) {
    ASSERT_TRUE(put(object("i-1")));
    Changes again{.epoch = epoch_, .number = number_};
    again.put.push_back(object("i-2"));
    EXPECT_EQ(commit(again).error().code, Code::conflict);
    number_ += 10;
    EXPECT_TRUE(put(object("i-3")));
    EXPECT_EQ(run(store_->load())->number, number_);
    EXPECT_EQ(ids(run(store_->load())->live), (Ids{"i-1", "i-3"}));
}

TEST_P(StoreContract, WhatWasCommittedIsThereAfterReopening) {
    Object one = object("i-1");
    one.generation = 7;
    one.body = std::string{"{\"a\": 1.0,\n \"b\":\"\xc3\xa9\"} "} + '\0' +
               "\xff\xfe";  // Byte for byte, whatever it is.
    ASSERT_TRUE(put(one));
    one.created = one.version = number_;
    Changes events = next();
    events.events.push_back(event(5, "i-1"));
    ASSERT_TRUE(commit(events));
    reopen();
    EXPECT_EQ(run(store_->find("instance", "i-1")), one);
    const auto snapshot = run(store_->load());
    EXPECT_EQ(snapshot->number, number_);
    EXPECT_EQ(snapshot->live, std::vector{one});
    auto expected = event(5, "i-1");
    expected.number = number_;
    EXPECT_EQ(run(store_->events({.kind = "instance", .id = "i-1"})), std::vector{expected});
}

TEST_P(StoreContract, ChangingKeepsTheAgeAndRaisesTheVersion) {
    for (const std::string kind : {"instance", "command"}) {
        ASSERT_TRUE(put(object("x-1", kind)));
        const auto made = number_;
        ASSERT_TRUE(put(object("x-2", kind)));
        Object changed = object("x-1", kind);
        changed.phase = "running";
        changed.generation = 2;
        changed.tenant = "other";
        ASSERT_TRUE(put(changed));
        changed.created = made;
        changed.version = number_;
        EXPECT_EQ(run(store_->find(kind, "x-1")), changed);
    }
}

TEST_P(StoreContract, LoadsWhatLivesInOrder) {
    ASSERT_TRUE(put(object("z-1", "instance")));
    ASSERT_TRUE(put(object("c-1", "command")));
    Changes changes = next();
    changes.put = {object("b", "instance"), object("a", "instance"), object("h-1", "host")};
    ASSERT_TRUE(commit(changes));
    Object ended = object("gone", "instance");
    ended.live = false;
    ASSERT_TRUE(put(ended));
    EXPECT_EQ(ids(run(store_->load())->live), (Ids{"c-1", "h-1", "z-1", "a", "b"}));
}

TEST_P(StoreContract, TellsWhatChangedSinceASnapshot) {
    ASSERT_TRUE(put(object("i-stays")));
    ASSERT_TRUE(put(object("i-changes")));
    ASSERT_TRUE(put(object("i-ends")));
    ASSERT_TRUE(put(object("i-goes")));
    const auto before = run(store_->load()).value();
    EXPECT_TRUE(before.whole);
    EXPECT_EQ(before.live.size(), 4u);
    const auto nothing = run(store_->load_since(before.point())).value();
    EXPECT_FALSE(nothing.whole);
    EXPECT_TRUE(nothing.live.empty() && nothing.gone.empty());

    Changes changes = next();
    changes.put = {object("i-changes"), object("i-ends"), object("c-new", "command")};
    changes.put[0].phase = "running";
    changes.put[1].live = false;
    changes.erase = {{"instance", "i-goes"}};
    ASSERT_TRUE(commit(std::move(changes)));
    Changes event_only = next();
    event_only.events = {event(1, "i-stays")};
    ASSERT_TRUE(commit(std::move(event_only)));

    const auto since = run(store_->load_since(before.point())).value();
    EXPECT_EQ(since.number, number_);
    // Applied to the snapshot it gives what is there now, whether it has all or a part of it.
    std::map<std::string, Object> copy;
    if (!since.whole)
        for (const Object& one : before.live) copy[one.id] = one;
    for (const auto& [kind, id] : since.gone) copy.erase(id);
    for (const Object& one : since.live)
        if (one.live)
            copy.insert_or_assign(one.id, one);
        else
            copy.erase(one.id);
    std::map<std::string, Object> now;
    for (const Object& one : run(store_->load()).value().live) now[one.id] = one;
    EXPECT_EQ(copy, now);
    EXPECT_EQ(now.size(), 3u);
    if (!since.whole) EXPECT_EQ(since.live.size(), 3u) << "i-stays did not change";
}

TEST_P(StoreContract, ErasesForGood) {
    for (const std::string kind : {"instance", "command"}) {
        ASSERT_TRUE(put(object("x-1", kind)));
        Changes changes = next();
        changes.erase.push_back({kind, "x-1"});
        changes.erase.push_back({kind, "never-there"});
        ASSERT_TRUE(commit(changes));
        EXPECT_EQ(run(store_->find(kind, "x-1")).error().code, Code::not_found);
        EXPECT_TRUE(run(store_->list({.kind = kind}))->objects.empty());
    }
}

TEST_P(StoreContract, PagesNeitherSkipNorRepeat) {
    for (int i = 0; i < 7; ++i) ASSERT_TRUE(put(object("i-" + std::to_string(9 - i))));
    Ids seen;
    ListQuery query{.kind = "instance", .limit = 2};
    for (int page = 0; page < 10; ++page) {
        const auto answer = run(store_->list(query)).value();
        EXPECT_LE(answer.objects.size(), 2u);
        for (const auto& one : answer.objects) seen.push_back(one.id);
        if (!answer.more) break;
        query.at = answer.at;
        query.after_created = answer.objects.back().created;
        query.after_id = answer.objects.back().id;
        ASSERT_TRUE(put(object("new-" + std::to_string(page))));  // Not in a list that was begun before.
        Object ended = object("i-" + std::to_string(9 - page));
        ended.live = false;
        ASSERT_TRUE(put(ended));  // Behind the cursor or before it, it keeps its place.
    }
    EXPECT_EQ(seen, (Ids{"i-9", "i-8", "i-7", "i-6", "i-5", "i-4", "i-3"}));
}

TEST_P(StoreContract, ListsWhatIsAskedFor) {
    Object ended = object("i-2", "instance", "acme");
    ended.live = false;
    Object other = object("i-3", "instance", "other");
    Object stopped = object("i-4", "instance", "acme");
    stopped.phase = "stopped";
    stopped.project = "q";
    Changes changes = next();
    changes.put = {object("i-1"), ended, other, stopped, object("h-1", "host", "acme")};
    ASSERT_TRUE(commit(changes));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance"}))->objects), (Ids{"i-1", "i-2", "i-3", "i-4"}));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance", .tenant = "acme"}))->objects),
              (Ids{"i-1", "i-2", "i-4"}));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance", .finished = false}))->objects),
              (Ids{"i-1", "i-3", "i-4"}));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance", .project = "q"}))->objects), (Ids{"i-4"}));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance", .phase = "ready"}))->objects),
              (Ids{"i-1", "i-2", "i-3"}));
    EXPECT_EQ(ids(run(store_->list({.kind = "instance", .tenant = "acme", .project = "p", .phase = "ready"}))
                      ->objects),
              (Ids{"i-1", "i-2"}));
    EXPECT_TRUE(run(store_->list({.kind = "instance", .tenant = ""}))->objects.empty());
}

TEST_P(StoreContract, EventsComeNewestLastAndBounded) {
    for (int i = 0; i < 5; ++i) {
        Changes changes = next();
        changes.events = {event(i, "i-1"), event(i, "i-2", "other")};
        ASSERT_TRUE(commit(changes));
    }
    const auto seconds = [&](EventQuery query) {
        std::vector<std::int64_t> seconds;
        for (const auto& one : run(store_->events(query)).value())
            seconds.push_back(one.time.time_since_epoch() / std::chrono::seconds{1});
        return seconds;
    };
    using Seconds = std::vector<std::int64_t>;
    EXPECT_EQ(seconds({}), (Seconds{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
    EXPECT_EQ(seconds({.kind = "instance", .id = "i-1"}), (Seconds{0, 1, 2, 3, 4}));
    EXPECT_EQ(seconds({.tenant = "other"}), (Seconds{0, 1, 2, 3, 4}));
    EXPECT_EQ(seconds({.tenant = "other", .limit = 2}), (Seconds{3, 4}));
    EXPECT_EQ(seconds({.id = "i-2", .after = number_ - 1}), (Seconds{4}));
    EXPECT_TRUE(seconds({.after = number_}).empty());
}

TEST_P(StoreContract, EventsAreReadPageByPageFromTheNewestOn) {
    for (int i = 0; i < 5; ++i) {
        Changes changes = next();
        changes.events = {event(i, "i-1"), event(i, "i-2", "other"), event(i, "i-3")};
        ASSERT_TRUE(commit(changes));
    }
    const std::vector<EventRecord> all = run(store_->events({})).value();
    ASSERT_EQ(all.size(), 15u);
    EXPECT_EQ(all.back().number, number_);
    EXPECT_EQ(all.back().line, all.front().line + 2);
    const auto pages = [&](EventQuery query) {
        std::vector<EventRecord> paged;
        for (int page = 0; page < 20; ++page) {
            const auto some = run(store_->events(query)).value();
            if (some.empty()) break;
            paged.insert(paged.begin(), some.begin(), some.end());
            query.before = EventPlace{some.front().number, some.front().line};
        }
        return paged;
    };
    EXPECT_EQ(pages({.limit = 4}), all) << "pages end within a commit";
    EXPECT_EQ(pages({.limit = 1}), all);
    EXPECT_EQ(pages({.kind = "instance", .id = "i-2", .limit = 2}).size(), 5u);
    EXPECT_EQ(pages({.tenant = "acme", .limit = 3}).size(), 10u);
    EXPECT_TRUE(run(store_->events({.before = EventPlace{all.front().number, all.front().line}}))->empty());
}

namespace {

AuditLine audit_line(std::int64_t second, std::string actor, std::string operation, std::string tenant) {
    return {.time = WallTime{std::chrono::seconds{second}},
            .actor = std::move(actor),
            .address = "203.0.113.7:5000",
            .operation = std::move(operation),
            .subject = "volume/v-" + std::to_string(second),
            .tenant = std::move(tenant),
            .status = 202,
            .before = R"({"state":"available"})",
            .after = R"({"state":"deleting"})",
            .client = "hostler/0.1.0"};
}

}  // namespace

TEST_P(StoreContract, TheAuditIsReadNewestFirstAndByWhatIsAsked) {
    std::vector<AuditLine> all;
    for (std::int64_t second = 1; second <= 6; ++second) {
        Changes changes = next();
        for (std::uint64_t line = 0; line < 2; ++line) {
            changes.audit.push_back(audit_line(second, line == 0 ? "key/k-1" : "key/k-2",
                                               second % 2 == 0 ? "deleteVolume" : "resizeVolume",
                                               second <= 3 ? "acme" : ""));
            if (second == 5) changes.audit.back().request = fmt::format("r-{}", line);
            all.insert(all.begin(), changes.audit.back());
            all.front().number = changes.number;
            all.front().line = line;
        }
        ASSERT_TRUE(commit(std::move(changes)));
    }
    ASSERT_TRUE(run(store_->prune(WallTime{std::chrono::seconds{100}}))) << "nothing is taken out by it";
    const auto whole = run(store_->audit({})).value();
    EXPECT_EQ(whole.lines, all);
    EXPECT_FALSE(whole.next);
    const auto count = [&](AuditQuery query) {
        return run(store_->audit(std::move(query))).value().lines.size();
    };
    EXPECT_EQ(count({.actor = "key/k-2"}), 6u);
    EXPECT_EQ(count({.operation = "deleteVolume"}), 6u);
    EXPECT_EQ(count({.subject = "volume/v-4"}), 2u);
    EXPECT_EQ(count({.tenant = "acme"}), 6u);
    EXPECT_EQ(count({.tenant = ""}), 6u) << "the operator's own";
    EXPECT_EQ(count({.request = "r-1"}), 1u);
    EXPECT_EQ(count({.request = "r-2"}), 0u);
    const auto at = [](int second) { return WallTime{std::chrono::seconds{second}}; };
    EXPECT_EQ(count({.since = at(3), .until = at(4)}), 4u);
    EXPECT_EQ(count({.actor = "key/k-1", .tenant = "acme", .since = at(3)}), 1u);

    AuditQuery paged{.limit = 5};
    std::vector<AuditLine> seen;
    for (int pages = 0; pages < 10; ++pages) {
        const auto page = run(store_->audit(paged)).value();
        seen.insert(seen.end(), page.lines.begin(), page.lines.end());
        if (!page.next) break;
        paged.after = page.next;
        Changes meanwhile = next();
        meanwhile.audit.push_back(audit_line(1000 + pages, "key/k-3", "createZone", ""));
        ASSERT_TRUE(commit(std::move(meanwhile)));
    }
    EXPECT_EQ(seen, all) << "what is done meanwhile neither comes in nor moves the rest";
}

TEST_P(StoreContract, OnePageOfTheAuditLooksAtABoundedPart) {
    Changes changes = next();
    changes.audit.push_back(audit_line(1, "key/old", "deleteVolume", "acme"));
    for (int i = 0; i < 5000; ++i) changes.audit.push_back(audit_line(2, "key/k-1", "resizeVolume", "acme"));
    ASSERT_TRUE(commit(std::move(changes)));
    AuditQuery query{.actor = "key/old", .tenant = "acme"};
    int pages = 1;
    AuditPage page = run(store_->audit(query)).value();
    for (; page.next && pages < 10; ++pages) {
        EXPECT_TRUE(page.lines.empty());
        query.after = page.next;
        page = run(store_->audit(query)).value();
    }
    EXPECT_EQ(pages, 3);
    ASSERT_EQ(page.lines.size(), 1u);
    EXPECT_EQ(page.lines.front().subject, "volume/v-1");
    EXPECT_FALSE(page.next);
}

namespace {

const net::OpenSslDigest sha;

// All of the audit, as it was written, and what is wrong with it.
template <class Run>
ChainCheck chain_of(Run run, Store& store) {
    const AuditAnchors anchors = run(store.audit_anchors(0, 1000)).value();
    ChainCheck check{sha, anchors.base};
    check.expect_head(anchors.head);
    for (const AuditSeal& seal : anchors.seals)
        check.add_seal(seal, [](const AuditSeal&) { return Result<>{}; });
    AuditQuery query{.limit = 7, .order = AuditOrder::written};
    while (true) {
        const AuditPage page = run(store.audit(query)).value();
        for (const AuditLine& line : page.lines) check.add(line);
        if (!page.next) break;
        query.after = page.next;
    }
    check.end();
    return check;
}

}  // namespace

TEST_P(StoreContract, TheAuditIsAChainThatOutlivesItsWriters) {
    const auto checked = [this] {
        return chain_of([this](auto task) { return run(std::move(task)); }, *store_);
    };
    AuditHead head = run(store_->load()).value().audit;
    EXPECT_EQ(head, AuditHead{});
    EXPECT_EQ(checked().found(), 0u);
    std::vector<AuditLine> all;
    const auto write = [&](int lines) {
        Changes changes = next();
        for (int i = 0; i < lines; ++i) {
            changes.audit.push_back(audit_line(100 - static_cast<std::int64_t>(all.size()), "key/k-1",
                                               "deleteVolume", i % 2 == 0 ? "acme" : ""));
            AuditLine& line = changes.audit.back();
            line.project = "p", line.zone = "nj", line.service = "volume", line.result = "denied";
            line.reason = "quota";
        }
        chain_lines(sha, changes.number, changes.audit, head);
        all.insert(all.end(), changes.audit.begin(), changes.audit.end());
        ASSERT_TRUE(commit(std::move(changes)));
    };
    const auto seal = [&] {
        Changes changes = next();
        changes.seals.push_back({head, WallTime{std::chrono::seconds{7}}, epoch_, "f00d", "PEM\n", "c2ln"});
        ASSERT_TRUE(commit(changes));
        changes.number = next().number;
        changes.seals[0].signature = "another";
        ASSERT_TRUE(commit(std::move(changes))) << "the first one stays";
    };
    write(3);
    write(1);
    seal();
    ASSERT_TRUE(run(store_->resign()));
    reopen();
    Snapshot now = run(store_->load()).value();
    EXPECT_EQ(now.audit, head);
    EXPECT_EQ(now.sealed, head);
    auto led = run(store_->lead(m1, lease_time, 0));
    ASSERT_TRUE(led) << led.error().message;
    epoch_ = led->epoch;
    write(20);
    now = run(store_->load_since(now.point())).value();
    EXPECT_EQ(now.audit, head);
    EXPECT_EQ(now.sealed.position, 4u);
    const ChainCheck check = checked();
    EXPECT_EQ(check.found(), 0u);
    EXPECT_EQ(std::tuple(check.chained(), check.seals()), std::tuple(24u, 1u));
    EXPECT_EQ(run(store_->audit_anchors(0, 10))->seals.front().signature, "c2ln");
    EXPECT_TRUE(run(store_->audit_anchors(4, 10))->seals.empty());
    // In the order in which they were written, whatever their times, and by what is asked.
    const auto read = [this](AuditQuery query) {
        query.order = AuditOrder::written;
        return run(store_->audit(std::move(query))).value().lines;
    };
    EXPECT_EQ(read({}), all);
    EXPECT_EQ(read({.tenant = "acme", .result = "denied"}).size(), 13u);
    EXPECT_TRUE(read({.result = "ok"}).empty());
    EXPECT_EQ(run(store_->audit({.project = "p", .result = "denied"}))->lines.size(), 24u);
    EXPECT_TRUE(run(store_->audit({.project = "q"}))->lines.empty());
    EXPECT_TRUE(run(store_->audit({.result = "ok"}))->lines.empty());
}

TEST_P(StoreContract, OldAuditLinesAreTakenOutAndTheRestIsAChain) {
    AuditHead head;
    const auto write = [&](std::int64_t second, int lines) {
        Changes changes = next();
        for (int i = 0; i < lines; ++i)
            changes.audit.push_back(audit_line(second, "key/k-1", "deleteVolume", "acme"));
        chain_lines(sha, changes.number, changes.audit, head);
        changes.seals.push_back(
            {head, WallTime{std::chrono::seconds{second}}, epoch_, "f00d", "PEM", "c2ln"});
        ASSERT_TRUE(commit(std::move(changes)));
    };
    Changes older = next();
    older.audit.push_back(audit_line(1, "key/k-1", "deleteVolume", "acme"));
    ASSERT_TRUE(commit(std::move(older))) << "of a release that knows no chain";
    write(10, 2500);
    write(50, 1);
    write(20, 1);  // The clock went back.
    write(60, 2);
    const auto prune = [this](std::int64_t second) {
        return run(store_->prune_audit(WallTime{std::chrono::seconds{second}})).value();
    };
    const auto checked = [this] {
        return chain_of([this](auto task) { return run(std::move(task)); }, *store_);
    };
    EXPECT_EQ(prune(1), 0u);
    EXPECT_EQ(checked().unchained(), 1u);
    EXPECT_EQ(prune(40), 2501u) << "up to the first that is younger";
    EXPECT_EQ(checked().found(), 0u);
    EXPECT_EQ(run(store_->audit_anchors(0, 100))->base.position, 2500u);
    EXPECT_EQ(run(store_->audit_anchors(0, 100))->seals.size(), 4u) << "seals stay";
    ASSERT_TRUE(run(store_->resign()));
    reopen();
    epoch_ = run(store_->lead(m1, lease_time, 0)).value().epoch;
    EXPECT_EQ(prune(60), 2u);
    write(70, 1);
    EXPECT_EQ(checked().found(), 0u);
    EXPECT_EQ(checked().chained(), 3u);
    EXPECT_EQ(prune(1000), 3u);
    EXPECT_EQ(checked().found(), 0u);
    EXPECT_EQ(run(store_->load())->audit, head) << "with no line at all";
    write(80, 1);
    EXPECT_EQ(checked().found(), 0u);
    EXPECT_EQ(checked().first()->position, 2506u);
}

TEST_P(StoreContract, PruningTakesOutWhatEndedLongAgo) {
    for (const std::string kind : {"instance", "command"}) {
        const auto end = [&](std::string id, std::int64_t second) {
            Object ended = object(std::move(id), kind);
            ended.live = false;
            ended.phase = "stopped";
            Changes changes = next();
            changes.put.push_back(ended);
            changes.events.push_back(event(second, ended.id));
            return commit(changes);
        };
        ASSERT_TRUE(put(object("lives", kind)));
        ASSERT_TRUE(end("old", 100));
        ASSERT_TRUE(end("young", 200));
        ASSERT_TRUE(run(store_->prune(WallTime{std::chrono::seconds{150}})));
        EXPECT_EQ(ids(run(store_->list({.kind = kind}))->objects), (Ids{"lives", "young"}));
        const auto old = run(store_->find(kind, "old"));
        ASSERT_TRUE(old) << "a used id stays used";
        EXPECT_FALSE(old->live);
        EXPECT_EQ(run(store_->find(kind, "young"))->body, "{}");
        EXPECT_TRUE(run(store_->events({.id = "old"}))->empty());
        EXPECT_EQ(run(store_->events({.id = "young"}))->size(), 1u);
        Changes clean = next();
        clean.erase = {{kind, "lives"}, {kind, "old"}, {kind, "young"}};
        ASSERT_TRUE(commit(clean));
        ASSERT_TRUE(run(store_->prune(WallTime{std::chrono::seconds{1000}})));
    }
}

TEST_P(StoreContract, PruningManyTakesThemAll) {
    constexpr int count = 5000;
    Changes changes = next();
    for (int i = 0; i < count; ++i) {
        Object ended = object("i-" + std::to_string(i));
        ended.live = false;
        changes.put.push_back(std::move(ended));
        changes.events.push_back(event(1, "i-" + std::to_string(i)));
    }
    ASSERT_TRUE(commit(changes));
    ASSERT_TRUE(run(store_->prune(WallTime{std::chrono::seconds{2}})));
    EXPECT_TRUE(run(store_->list({.kind = "instance"}))->objects.empty());
    EXPECT_TRUE(run(store_->events({}))->empty());
}

TEST_P(StoreContract, CommitsTakeEffectInTheOrderOfTheCalls) {
    constexpr int count = 500;
    std::vector<Task<>> calls;
    for (int i = 0; i < count; ++i) {
        Changes changes = next();
        Object one = object("i-1");
        one.body = std::to_string(i);
        changes.put = {one, object("i-" + std::to_string(i + 2))};
        calls.push_back(store_->commit(std::move(changes)));
    }
    for (int i = count - 1; i >= 0; --i) EXPECT_TRUE(run(std::move(calls[static_cast<std::size_t>(i)])));
    EXPECT_EQ(run(store_->find("instance", "i-1"))->body, std::to_string(count - 1));
    EXPECT_EQ(run(store_->load())->live.size(), static_cast<std::size_t>(count) + 1);
}

TEST_P(StoreContract, OneRefusedCommitLeavesItsNeighboursAlone) {
    Changes first = next(), wrong = next(), last = next();
    wrong.epoch = epoch_ - 1;
    first.put = {object("first")};
    wrong.put = {object("wrong")};
    last.put = {object("last")};
    auto a = store_->commit(first), b = store_->commit(wrong), c = store_->commit(last);
    EXPECT_TRUE(run(std::move(a)));
    EXPECT_EQ(run(std::move(b)).error().code, Code::conflict);
    EXPECT_TRUE(run(std::move(c)));
    EXPECT_EQ(ids(run(store_->load())->live), (Ids{"first", "last"}));
}

}  // namespace hostler::contract
