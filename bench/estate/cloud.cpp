#include "bench/estate/cloud.h"

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "adapters/series/store.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/pki/authority.h"
#include "roles/master/sealing/keys.h"
#include "roles/master/uplink/host_link.h"

namespace hostler::bench {

namespace {

constexpr std::string_view access_point = "bench";

// The peer's identity is what is expected of it.
class Named final : public Stream {
public:
    Named(StreamPtr under, std::string identity) : under_(std::move(under)), identity_(std::move(identity)) {}
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
    std::string_view address() const override { return under_->address(); }

private:
    StreamPtr under_;
    std::string identity_;
};

}  // namespace

// Leads nowhere, and encrypts nothing.
class Cloud::NoTls final : public Net {
public:
    Task<StreamPtr> dial(std::string, Duration) override { co_return fail(Code::unavailable, "no network"); }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::unavailable, "no network"); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side, Duration) override {
        co_return std::make_unique<Named>(std::move(raw), how.expect);
    }
};

Cloud::Cloud(Loop& loop, Turns& turns, std::filesystem::path folder)
    : loop_(loop),
      turns_(turns),
      folder_(std::move(folder)),
      timers_(net::make_timers(loop)),
      random_(net::make_random()),
      keys_(net::make_keys()),
      net_(std::make_unique<NoTls>()),
      store_worker_(make_worker(loop, "store")),
      series_worker_(make_worker(loop, "series")),
      query_worker_(make_worker(loop, "queries")),
      outgoing_(*timers_),
      own_(std::make_shared<const Credentials>(), *keys_, nullptr),
      term_task_(loop),
      tasks_(loop) {}

Cloud::~Cloud() = default;

Task<> Cloud::begin(std::vector<std::string> hosts) {
    std::filesystem::create_directories(folder_ / "authority");
    std::filesystem::create_directories(folder_ / "series");
    for (const auto& made : {folder_, folder_ / "authority", folder_ / "series"})
        std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    authority_ = CO_TRY(net::open_authority((folder_ / "authority").string(), *random_, timers_->wall()));
    sealer_ = CO_TRY(sodium::open_sealer(folder_ / "sealing.keys"));
    store_ = CO_TRY(open_sqlite((folder_ / "store.db").string(), *store_worker_));
    series_ = CO_TRY(series::open_store(*series_worker_, *query_worker_, (folder_ / "series").string()));
    ports_ =
        std::make_unique<master::Ports>(master::Ports{loop_, *timers_, *net_, *random_, *store_, *authority_,
                                                      digest_, own_, *series_, outgoing_, *sealer_});
    CO_TRY(co_await lead());
    master::Desk& desk = lead_.term->desk("bench");
    desk.estate.zones.add({.name = "bench"});
    desk.estate.specs.add({.name = "h100-1",
                           .cpu_milli = 8'000,
                           .memory_bytes = std::int64_t{64} << 30,
                           .gpu_type = "H100 SXM5 80GB",
                           .gpu_count = 1});
    for (std::string& id : hosts) {
        Host row{.zone = "bench", .message = "it has not reported yet"};
        row.id = std::move(id);
        row.joined_at = desk.estate.micros();
        desk.estate.hosts.add(std::move(row));
    }
    CO_TRY(co_await lead_.term->commit());
    term_task_.start("term", [](master::TermPtr term) -> Task<> {
        (void)co_await term->run();
        co_return Result<>{};
    }(lead_.term));
    co_return Result<>{};
}

// As Master::serve_term() does.
Task<> Cloud::lead() {
    const Lease lease = CO_TRY(co_await store_->lead({"bench", ""}, settings_.lease, 0));
    const Snapshot snapshot = CO_TRY(co_await store_->load());
    lead_.term = std::make_shared<master::Term>(
        *ports_, settings_, CO_TRY(AddressPool::parse(settings_.network_pool)), lease.epoch, snapshot.number);
    master::Term& term = *lead_.term;
    CO_TRY(agree_on_authority(term.desk("master"), *authority_));
    CO_TRY(agree_on_sealing(term.desk("master"), *sealer_));
    co_return co_await term.commit();
}

Task<> Cloud::close() {
    if (lead_.term) lead_.term->end({Code::unavailable, "the bench is over"});
    co_await term_task_.close();
    co_await tasks_.close();
    lead_.term = nullptr;
    co_return Result<>{};
}

void Cloud::ask(Asked asked, api::EventSink* sink, std::move_only_function<void(api::Reply)> then) {
    tasks_.start("call", [](Cloud& self, Asked what, api::EventSink* to, auto told) -> Task<> {
        const std::int64_t begun = self.turns_.asked();
        auto caller = what.tenant.empty() ? api::Caller::of_operator("key/operator")
                                          : api::Caller::of_tenant("key/" + what.tenant, what.tenant);
        auto reply = co_await self.api_.handlers().answer({.method = std::move(what.method),
                                                           .target = std::move(what.target),
                                                           .body = std::move(what.body)},
                                                          std::move(caller), to);
        self.turns_.answered(what.what, begun);
        told(std::move(*reply));  // answer() never fails.
        co_return Result<>{};
    }(*this, std::move(asked), sink, std::move(then)));
}

void Cloud::serve(const std::string& host, std::shared_ptr<wire::Channel> channel) {
    const std::uint64_t session = ++sessions_;
    const std::string access{access_point};
    HOSTLER_ASSERT(host_connected(lead_.term->desk("access/" + access), host, access, session));
    lead_.term->commit_then(nullptr);
    tasks_.start("host", serve_host(lead_.term,
                                    {.access = access,
                                     .number = session,
                                     .host = host,
                                     .channel = session,
                                     .invitation = ++lead_.term->host_limits().invitation},
                                    std::move(channel)));
}

}  // namespace hostler::bench
