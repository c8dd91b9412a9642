#include "roles/master/alert/sender.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/alert/notice.h"
#include "ports/hmac.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

alert::NoticedAlert noticed(const alert::Line& line) {
    alert::NoticedAlert one{
        .fingerprint = line.fingerprint,
        .status = line.resolved ? alert::NoticeStatus::resolved : alert::NoticeStatus::firing,
        .labels = line.labels,
        .annotations = {{"summary", line.summary}, {"description", line.runbook}},
        .starts_at = wall(line.fired_at),
        .ends_at = wall_if(line.resolved_at),
        .value = line.value};
    return one;
}

alert::Notice notice_of(const alert::Delivery& delivery, std::string link) {
    alert::Notice notice{.id = delivery.id, .group = delivery.group, .alerts = {}, .link = std::move(link)};
    for (const alert::Line& line : delivery.lines) notice.alerts.push_back(noticed(line));
    const bool fires = std::ranges::any_of(delivery.lines, [](const auto& line) { return !line.resolved; });
    notice.status = fires ? alert::NoticeStatus::firing : alert::NoticeStatus::resolved;
    return notice;
}

HttpCall webhook(const Ports& ports, const alert::Receiver& receiver, const alert::Notice& notice) {
    HttpCall call{.url = receiver.url, .body = alert::webhook_body(notice)};
    if (receiver.secret.empty()) return call;
    const WallTime now = ports.timers.wall();
    const std::string mac = hmac_sha256(ports.digest, receiver.secret, alert::signed_text(now, call.body));
    call.headers.emplace_back("Hostler-Signature", alert::signature_header(now, mac));
    return call;
}

// It forgets what it is not told again: two repetitions may be lost.
HttpCall alertmanager(const Ports& ports, const alert::Receiver& receiver, const alert::Notice& notice) {
    const WallTime until = ports.timers.wall() + std::chrono::seconds{3 * receiver.repeat_s};
    HttpCall call{.url = receiver.url, .body = alert::alertmanager_body(notice, until)};
    while (call.url.ends_with('/')) call.url.pop_back();
    call.url += "/api/v2/alerts";
    if (!receiver.secret.empty()) call.headers.emplace_back("Authorization", "Bearer " + receiver.secret);
    return call;
}

Mail mail(const alert::Receiver& receiver, const alert::Notice& notice, std::int64_t made_at) {
    alert::Letter letter = alert::letter(notice);
    return {.server = receiver.url,
            .safety = receiver.plain ? MailSafety::plain : MailSafety::encrypted,
            .user = receiver.user,
            .password = receiver.secret,
            .from = receiver.from,
            .to = receiver.to,
            .subject = std::move(letter.subject),
            .text = std::move(letter.text),
            .html = std::move(letter.html),
            .id = notice.id,
            .date = wall(made_at)};
}

}  // namespace

Task<> send_notice(Ports ports, alert::Receiver receiver, alert::Delivery delivery, std::string link) {
    const alert::Notice notice = notice_of(delivery, std::move(link));
    const Reach reach = receiver.tenant.empty() ? Reach::anywhere : Reach::outside;
    if (receiver.kind == alert::ReceiverKind::email) {
        Mail letter = mail(receiver, notice, delivery.created_at);
        letter.reach = reach;
        co_return co_await ports.outgoing.mail(std::move(letter));
    }
    HttpCall call = receiver.kind == alert::ReceiverKind::webhook ? webhook(ports, receiver, notice)
                                                                  : alertmanager(ports, receiver, notice);
    call.reach = reach;
    call.headers.emplace_back("Content-Type", "application/json");
    const HttpAnswer answer = CO_TRY(co_await ports.outgoing.send(std::move(call)));
    if (answer.status / 100 == 2) co_return Result<>{};
    co_return fail(Code::unavailable, fmt::format("it answered with status {}", answer.status));
}

}  // namespace hostler::master
