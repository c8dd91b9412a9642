// One term of leadership: the estate in memory, the commits under way, and those who wait for them. It ends
// when a commit fails or its outcome is unknown; the next term begins from the store.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <typeindex>

#include "core/rate.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "roles/master/leader/tenure.h"
#include "roles/master/changes/change_log.h"
#include "roles/master/state/desk.h"
#include "roles/master/state/feed.h"
#include "roles/master/state/ports.h"

namespace hostler::uplink {
class Frame;
}
namespace hostler::wire {
class Link;
}

namespace hostler::master {

// What hosts that come and go may cost a master.
struct HostLimits {
    static constexpr std::size_t handshakes_max =
        256;  // Under way at one time; who comes then is invited later.
    // Of one host, whatever access point says that it is there; and of all that have not joined yet.
    static constexpr RateLimit invitations{.per_second = 0.5, .burst = 8};
    static constexpr RateLimit visits{.per_second = 20, .burst = 200};
    static constexpr std::size_t hosts_max = 50'000;  // Whose invitations are counted.

    std::size_t handshakes = 0;
    Rates invited{invitations, hosts_max};
    Rate visited{visits};
    std::uint64_t invitation = 0;  // Counts them: which was before which.
};

class Term : public std::enable_shared_from_this<Term> {
public:
    Term(const Ports& ports, const Settings& settings, AddressPool pool, std::uint64_t epoch,
         std::uint64_t number, std::shared_ptr<const Tenure> tenure = std::make_shared<Tenure>());
    ~Term();

    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t commits_waiting() const { return number_ - durable_; }  // For the store.
    const Ports& ports() const { return ports_; }
    const Settings& settings() const { return settings_; }
    Feed& feed() { return feed_; }
    ChangeLog& changes() { return changes_; }
    Estate& estate() { return estate_; }  // To load; else work at the desk.
    void begin_with(Estate estate);
    // The last line of the audit that a commit of this term has, or of what it began with.
    const AuditHead& audit_head() const { return audit_head_; }

    // To look, or to change something as `actor`. What is changed must be committed before anything is
    // awaited.
    Desk& desk(std::string actor);
    const Desk& look() const { return desk_; }

    // All that was changed, durable when it returns; when nothing was, all that was changed before. The
    // commit goes on when the caller is cancelled. Errors: unavailable, exhausted (the term has ended),
    // cancelled.
    Task<> commit();
    // The same without waiting; `then` is called once it is durable, and never if the term ends.
    void commit_then(std::move_only_function<void()> then);
    std::uint64_t durable() const { return durable_; }  // The number of the last commit that is.
    // What was read from memory is durable when it returns, and this term may still tell it.
    Task<> settled();

    // Instead of run(): from here on it is looked at alone. What would change something gets this error.
    void only_read(Error why) { read_only_ = std::move(why); }
    const std::optional<Error>& read_only() const { return read_only_; }

    // Until the term ends. Errors: why it did; cancelled.
    Task<> run();
    void end(Error why);
    // Somebody has obeyed a higher epoch than ours: the store is older than the cloud.
    void outranked(const std::string& who, std::uint64_t epoch);
    std::uint64_t outranked_by() const { return outranked_by_; }
    // Also when its lease may have run out: nothing from memory is told from then on.
    bool ended() const { return ended_ || !tenure_->lasts(ports_.timers.now_with_sleep()); }
    TaskGroup& tasks() { return tasks_; }

    // What a feature keeps as long as this term; `make` gives a shared_ptr of it when it is first asked for.
    template <class T, class Make>
    T& part(Make make) {
        auto& held = parts_[typeid(T)];
        if (!held) held = make();
        return *static_cast<T*>(held.get());
    }

    // ── Who is connected ──
    // Access points by name, with the last link of each.
    const std::map<std::string, wire::Link*>& access_links() const { return access_; }
    void add_access(const std::string& name, wire::Link& link) { access_[name] = &link; }
    bool drop_access(const std::string& name, wire::Link& link);  // true: it was that one.
    // Gateways in the order in which they came: a simulation repeats it.
    const std::vector<wire::Link*>& gateways() const { return gateways_; }
    void add_gateway(wire::Link& link);
    void drop_gateway(wire::Link& link);

    // The sealed link on which this host has said hello; it is the one that counts until another does.
    void add_host(const std::string& host, std::shared_ptr<wire::Link> link);
    void hang_up(const std::string& host);  // On whoever has said hello.
    bool drop_host(const std::string& host,
                   const std::shared_ptr<wire::Link>& link);  // true: it was that one.
    // false: the host is not connected, or too much waits for it.
    bool send_to_host(const std::string& host, const uplink::Frame& frame);
    // Errors: unavailable (not connected), timeout, those of the host.
    Task<uplink::Frame> ask_host(std::string host, uplink::Frame frame, Duration deadline);
    // To whoever says that it has this name: "host/h-…" "access/…" "gateway/…". false: nobody got it.
    bool send_to(const std::string& name, const uplink::Frame& frame);
    void heard(const std::string& host) { live_.hosts[host].heard = ports_.timers.now(); }
    void cut_off(const std::string& host, const std::string& why);
    HostLimits& host_limits() { return host_limits_; }

private:
    Task<> write(Changes changes, std::vector<Touched> touched, std::vector<Notice> notices);
    void publish(std::uint64_t number, std::vector<Touched> touched, std::vector<Notice> notices);
    Task<> wait_durable();
    Task<> sweep();
    Task<> prune();
    Task<> prune_audit();

    Ports ports_;
    const Settings& settings_;
    const AddressPool pool_;
    const std::uint64_t epoch_;
    const std::shared_ptr<const Tenure> tenure_;
    Estate estate_;
    Live live_;
    Desk desk_;
    Feed feed_;
    ChangeLog changes_;
    std::uint64_t number_;   // Of the last commit that was begun,
    std::uint64_t durable_;  // and of the last that is durable.
    AuditHead audit_head_;   // Of the last commit that was begun.
    Signal durable_changed_;
    std::multimap<std::uint64_t, std::move_only_function<void()>> afterwards_;
    std::optional<Error> ended_;
    std::optional<Error> read_only_;
    std::uint64_t outranked_by_ = 0;
    Signal ending_;
    std::map<std::string, wire::Link*> access_;
    std::vector<wire::Link*> gateways_;
    Instant beat_{};  // When those who watch were last told that we are here.
    std::map<std::string, std::shared_ptr<wire::Link>> said_hello_;  // By host.
    HostLimits host_limits_;
    std::map<std::type_index, std::shared_ptr<void>> parts_;
    TaskGroup tasks_;
};

using TermPtr = std::shared_ptr<Term>;

}  // namespace hostler::master
