#include "roles/agent/identity.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "roles/agent/master_link.h"

namespace hostler::agent {

namespace {

// Parts of a stored value; PEM has no NUL.
template <std::size_t Count>
std::optional<std::array<std::string, Count>> parts(std::string_view text) {
    std::array<std::string, Count> made;
    for (std::size_t at = 0; at < Count; ++at) {
        const auto end = text.find('\0');
        if ((end == std::string_view::npos) != (at + 1 == Count)) return std::nullopt;
        made[at] = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return made;
}

std::string joined_parts(std::initializer_list<std::string_view> values) {
    std::string text;
    for (const auto value : values) {
        if (!text.empty()) text += '\0';
        text += value;
    }
    return text;
}

// Whether trying again could help without a person.
bool passing(const Error& error) {
    switch (error.code) {
        case Code::unavailable:
        case Code::timeout:
        case Code::exhausted:
        case Code::internal: return true;
        case Code::invalid:
        case Code::unauthenticated:
        case Code::forbidden:
        case Code::not_found:
        case Code::conflict:
        case Code::cancelled: return false;
    }
    return false;
}

}  // namespace

Result<JoinToken> parse_join_token(std::string_view text) {
    constexpr std::size_t fingerprint_size = 64;
    const auto dot = text.find('.');
    JoinToken token;
    if (dot != std::string_view::npos) {
        token.secret = text.substr(0, dot);
        token.fingerprint = text.substr(dot + 1);
        for (char& c : token.fingerprint)
            if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    }
    const bool hex = token.fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!token.secret.starts_with("ht_") || token.secret.size() < 10 || token.secret.size() > 256 ||
        token.fingerprint.size() != fingerprint_size || !hex)
        return fail(Code::invalid,
                    "this is not a host token; it looks like ht_SECRET.FINGERPRINT, as "
                    "`hostler host token create` prints it");
    return token;
}

void MemberBook::load() {
    const auto stored = ports_.journal.all().find("identity");
    if (stored == ports_.journal.all().end()) return;
    const auto values = parts<5>(stored->second);
    if (!values) {
        log_error("the stored identity cannot be read; this host has to join again");
        return;
    }
    const auto& [host, zone, key, certificate, authority] = *values;
    member_ = {host, zone, std::make_shared<const Credentials>(Credentials{certificate, key, authority})};
}

Task<> MemberBook::join() {
    const JoinToken token = CO_TRY(parse_join_token(settings_.token));
    if (settings_.access.empty()) co_return fail(Code::invalid, "no access point is given to join at");
    Backoff backoff{settings_, ports_.timers, ports_.random};
    for (std::size_t tries = 0;; ++tries) {
        const std::string address = settings_.access[tries % settings_.access.size()];
        auto member = co_await join_at(address);
        if (member) {
            CO_TRY(co_await store(*member));
            CO_TRY(co_await ports_.journal.erase("joining"));
            log_info("joined as host {} in zone {}", member_->host, member_->zone);
            co_return Result<>{};
        }
        if (!passing(member.error())) co_return std::unexpected(member.error());
        log_warn("cannot join at {} yet: {}", address, member.error().message);
        CO_TRY(co_await backoff.wait());
    }
}

Task<Membership> MemberBook::join_at(std::string address) {
    const JoinToken token = CO_TRY(parse_join_token(settings_.token));
    const KeyRequest request = CO_TRY(co_await key_to_join());
    uplink::Frame frame;
    auto& ask = *frame.mutable_join_request();
    ask.set_token(token.secret);
    ask.set_csr(request.csr_pem);
    if (auto known = co_await ports_.host.facts()) ask.set_hostname(known->hostname);
    // Whoever answers there is nobody yet. The token is for a master of its authority alone.
    static const auto nobody = std::make_shared<const Credentials>();
    const Judge judge =
        [this, &token, &address](const std::string& authority) -> Result<std::shared_ptr<const Credentials>> {
        // One alone: what stands beside the right one would be believed as well.
        if (const auto shown = ports_.keys.fingerprints(authority);
            !shown || shown->size() != 1 || shown->front() != token.fingerprint)
            return fail(Code::unauthenticated,
                        fmt::format("{} is not an access point of the cloud that issued this token: "
                                    "its authority has another fingerprint",
                                    address));
        return std::make_shared<const Credentials>(Credentials{"", "", authority});
    };
    StreamPtr stream = CO_TRY(co_await dial_as(nobody, "", address));
    frame = CO_TRY(co_await visit(std::move(stream), judge, std::move(frame)));
    if (!frame.has_join_answer())
        co_return fail(Code::unavailable, address + " did not answer the request to join");
    const uplink::JoinAnswer answer = std::move(*frame.mutable_join_answer());
    const auto authorities = CO_TRY(ports_.keys.fingerprints(answer.authority()));
    if (authorities.empty() || authorities.front() != token.fingerprint)
        co_return fail(Code::unauthenticated, address + " answered with another authority");
    const auto facts = CO_TRY(ports_.keys.read(answer.certificate()));
    if (facts.identity != Identity{"host", answer.host()} || answer.host().empty())
        co_return fail(Code::unauthenticated,
                       fmt::format("{} answered with a certificate for {}", address, facts.identity.text()));
    Membership member{answer.host(), answer.zone(),
                      std::make_shared<const Credentials>(
                          Credentials{answer.certificate(), request.key_pem, answer.authority()})};
    // The access point has passed on what the master said: now it must prove to be of that authority itself.
    for (Backoff backoff{settings_, ports_.timers, ports_.random};;) {
        const auto proven = co_await dial_as(member.credentials, "access/", address);
        if (proven) co_return member;
        if (!passing(proven.error())) co_return std::unexpected(proven.error());
        CO_TRY(co_await backoff.wait());
    }
}

Task<KeyRequest> MemberBook::key_to_join() {
    const auto stored = ports_.journal.all().find("joining");
    if (stored != ports_.journal.all().end())
        if (const auto values = parts<3>(stored->second); values && (*values)[0] == settings_.token)
            co_return KeyRequest{(*values)[1], (*values)[2]};
    const KeyRequest request = CO_TRY(ports_.keys.make({"host", "joining"}));
    CO_TRY(co_await ports_.journal.put("joining",
                                       joined_parts({settings_.token, request.key_pem, request.csr_pem})));
    co_return request;
}

Task<> MemberBook::store(Membership member) {
    const Credentials& own = *member.credentials;
    CO_TRY(co_await ports_.journal.put(
        "identity", joined_parts({member.host, member.zone, own.key, own.certificate, own.authority})));
    member_ = std::move(member);
    co_return Result<>{};
}

Task<StreamPtr> MemberBook::dial(std::string address) {
    return dial_as(member_->credentials, "access/", std::move(address));
}

Task<StreamPtr> MemberBook::dial_as(std::shared_ptr<const Credentials> who, std::string expect,
                                    std::string address) {
    StreamPtr raw = CO_TRY(co_await ports_.net.dial(address, settings_.dial_deadline));
    Secure how;
    how.own = std::move(who);
    how.peer_required = !expect.empty();
    how.expect = std::move(expect);
    co_return co_await ports_.net.secure(std::move(raw), std::move(how), Side::client,
                                         settings_.dial_deadline);
}

bool MemberBook::renewal_due() const {
    const auto facts = ports_.keys.read(member_->credentials->certificate);
    return facts && ports_.timers.wall() >= facts->not_before + (facts->not_after - facts->not_before) / 3;
}

bool MemberBook::expired() const {
    const auto facts = ports_.keys.read(member_->credentials->certificate);
    return facts && ports_.timers.wall() >= facts->not_after;
}

bool MemberBook::beyond_renewal() const {
    const auto facts = ports_.keys.read(member_->credentials->certificate);
    return facts && ports_.timers.wall() > facts->not_after + renewable;
}

Result<uplink::Frame> MemberBook::renewal_request() const {
    const KeyRequest request =
        TRY(ports_.keys.renew(member_->credentials->key, Identity{"host", member_->host}));
    uplink::Frame frame;
    frame.mutable_renew_request()->set_csr(request.csr_pem);
    return frame;
}

Task<> MemberBook::renew(std::shared_ptr<wire::Link> link) {
    uplink::Frame question = CO_TRY(renewal_request());
    uplink::Frame answer = CO_TRY(co_await link->ask(std::move(question), settings_.call_deadline));
    co_return co_await renewed(std::move(answer));
}

Task<> MemberBook::renew_at(std::string address) {
    const auto own = member_->credentials;
    const Judge judge = [own](const std::string&) -> Result<std::shared_ptr<const Credentials>> {
        return own;
    };
    uplink::Frame question = CO_TRY(renewal_request());
    StreamPtr stream = CO_TRY(co_await dial(std::move(address)));
    uplink::Frame answer = CO_TRY(co_await visit(std::move(stream), judge, std::move(question)));
    co_return co_await renewed(std::move(answer));
}

Task<> MemberBook::renewed(uplink::Frame answer) {
    if (!answer.has_join_answer()) co_return fail(Code::unavailable, "the request to renew was not answered");
    const Membership before = *member_;
    const std::string& certificate = answer.join_answer().certificate();
    const auto present = CO_TRY(ports_.keys.read(before.credentials->certificate));
    const auto facts = CO_TRY(ports_.keys.read(certificate));
    if (facts.identity != Identity{"host", before.host} || facts.not_after < present.not_after ||
        facts.key_fingerprint != present.key_fingerprint)
        co_return fail(Code::unauthenticated, "the renewed certificate is not ours; it is not used");
    // Whom to believe from here on: who says it is the master of whom we believe so far.
    std::string authority = answer.join_answer().authority();
    if (authority.empty()) authority = before.credentials->authority;
    CO_TRY(ports_.keys.fingerprints(authority));
    Membership after = before;
    after.credentials = std::make_shared<const Credentials>(
        Credentials{certificate, before.credentials->key, std::move(authority)});
    CO_TRY(co_await store(std::move(after)));
    log_info("the certificate is renewed until {}", rfc3339(facts.not_after));
    co_return Result<>{};
}

Task<uplink::Frame> MemberBook::visit(StreamPtr stream, Judge judge, uplink::Frame question) {
    wire::Link link{ports_.loop, ports_.timers, std::move(stream)};
    const auto master = std::make_shared<MasterLink>(ports_, link);
    TaskGroup tasks{ports_.loop};
    std::optional<Error> refused;
    tasks.start("visit",
                [](wire::Link& from, std::shared_ptr<MasterLink> to, std::optional<Error>& why) -> Task<> {
                    while (true) {
                        auto frame = co_await from.receive();
                        if (frame && frame->has_goodbye())
                            frame = fail(Code::unavailable,
                                         fmt::format("{} says: {}", from.address(), frame->goodbye().why()));
                        if (!frame) why = frame.error();
                        if (!frame) break;
                        if (frame->has_invite()) to->invite(frame->invite());
                        if (frame->has_sealed())
                            CO_TRY(co_await to->feed(std::move(*frame->mutable_sealed())));
                    }
                    to->end();
                    co_return Result<>{};
                }(link, master, refused));
    auto answer = co_await [](MemberBook& self, std::shared_ptr<MasterLink> by, Judge judge,
                              uplink::Frame ask) -> Task<uplink::Frame> {
        const Duration patience = self.settings_.call_deadline;
        const std::string authority = CO_TRY(co_await MasterLink::invitation(by, patience));
        auto who = CO_TRY(judge(authority));
        const auto to = CO_TRY(co_await MasterLink::open(by, std::move(who), patience));
        co_return co_await to->ask(std::move(ask), patience);
    }(*this, master, std::move(judge), std::move(question));
    master->end();
    link.close();
    co_await tasks.close();
    CO_TRY(co_await check_cancelled());
    // What the access point said on the way out tells more than that the connection ended, or was closed
    // under the question because it had: that is not this task's own end.
    const bool lost =
        !answer && (answer.error().code == Code::unavailable || answer.error().code == Code::cancelled);
    if (lost && refused && refused->code != Code::cancelled) co_return std::unexpected(*refused);
    if (lost) co_return fail(Code::unavailable, "the way to the master was lost");
    co_return answer;
}

Task<> Backoff::wait() {
    // Half of it for certain, half by chance, so that a thousand hosts do not come back at once.
    const auto half = next_ / 2;
    const auto chance =
        Duration{static_cast<std::int64_t>(random_number(random_) % 1024)} * half.count() / 1024;
    next_ = std::min(next_ * 2, settings_.backoff_max);
    return sleep(timers_, half + chance);
}

}  // namespace hostler::agent
