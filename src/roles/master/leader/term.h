// One term of leadership: the estate in memory, the commits under way, and those who wait for them. It ends
// when a commit fails or its outcome is unknown; the next term begins from the store.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "core/rate.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "roles/master/leader/tenure.h"
#include "roles/master/series/queries.h"
#include "roles/master/series/recorder.h"
#include "roles/master/state/desk.h"
#include "roles/master/state/feed.h"
#include "roles/master/state/ports.h"

namespace hostler::uplink {
class AccessList;
class Frame;
class Routes;
}  // namespace hostler::uplink
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
    Estate& estate() { return estate_; }  // To load; else work at the desk.
    void begin_with(Estate estate);

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
    // It was asked in vain a moment ago, and is asked once more.
    void ask_to_renew_again(const std::string& name) { renewed_.erase(name); }
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

    // ── Who is connected ──
    // One connection of an access point; its sessions end with it.
    void add_access(const std::string& name, std::string version, std::uint32_t sessions_max,
                    wire::Link& link);
    void drop_access(const std::string& name, wire::Link& link);
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
    // Sends what is under way for this host (again): it does each command once.
    void send_commands(const std::string& host);
    // Somebody looks at it: it is asked to tell more often, for a while.
    void watch_telemetry(const std::string& host);
    void heard(const std::string& host) { live_.hosts[host].heard = ports_.timers.now(); }
    void cut_off(const std::string& host, const std::string& why);
    HostLimits& host_limits() { return host_limits_; }
    Recorder& recorder() { return recorder_; }
    const Recorder& recorder() const { return recorder_; }
    Queries& queries() { return queries_; }
    const Queries& queries() const { return queries_; }
    // Its reports up to this number are durable, samples and all.
    void acknowledged(const std::string& host, std::uint64_t sequence);
    void hosts_moved(const std::set<std::string>& hosts);  // Other access points lead there now.
    const uplink::AccessList& access_list() const { return *access_list_; }  // As agents are told.
    void note_status(const std::string& access, std::uint32_t tunnels, std::uint32_t banned);
    void knows_access(const std::string& host) { live_.hosts[host].access_told = access_told_; }
    void send_all_routes(wire::Link& gateway);

private:
    Task<> write(Changes changes, std::vector<Touched> touched);
    void publish(std::uint64_t number, std::vector<Touched> touched);
    void send_command(const HostCommand& command);
    void add_routes(const Instance& instance, uplink::Routes& routes);
    void send_routes(const std::vector<Touched>& touched);
    void send_ended(const std::vector<Touched>& touched);
    void tell_access();
    void tell_drains();
    void rotate();
    bool send_to(const std::string& name, const uplink::Frame& frame);  // "host/h-…" "access/…" "gateway/…"
    Task<> durable();
    Task<> sweep();
    Task<> archive();
    Task<> prune();

    Ports ports_;
    const Settings& settings_;
    const AddressPool pool_;
    const std::uint64_t epoch_;
    const std::shared_ptr<const Tenure> tenure_;
    Estate estate_;
    Live live_;
    Desk desk_;
    Feed feed_;
    std::uint64_t number_;   // Of the last commit that was begun,
    std::uint64_t durable_;  // and of the last that is durable.
    Signal durable_changed_;
    std::multimap<std::uint64_t, std::move_only_function<void()>> afterwards_;
    std::optional<Error> ended_;
    std::optional<Error> read_only_;
    std::uint64_t outranked_by_ = 0;
    Signal ending_;
    std::map<std::string, wire::Link*> access_;
    std::unique_ptr<uplink::AccessList> access_list_;
    std::uint64_t access_told_ = 0;           // Counts the changes of that list.
    std::vector<wire::Link*> gateways_;       // In the order in which they came: a simulation repeats it.
    Instant beat_{};                          // When those who watch were last told that we are here.
    std::map<std::string, Instant> sent_;     // Commands, by id.
    std::map<std::string, Instant> renewed_;  // Who was asked to renew its certificate, by name,
    std::string asked_for_;                   // and for which authorities.
    std::map<std::string, std::vector<std::string>> routed_;         // Names that gateways know, by instance.
    std::map<std::string, std::shared_ptr<wire::Link>> said_hello_;  // By host.
    HostLimits host_limits_;
    Recorder recorder_;
    TaskGroup tasks_;
    Queries queries_;
};

using TermPtr = std::shared_ptr<Term>;

}  // namespace hostler::master
