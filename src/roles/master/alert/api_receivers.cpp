// Who is told of alerts.
#include <fmt/format.h>

#include "api/operations_alert.h"
#include "roles/master/alert/alerts.h"
#include "roles/master/alert/sender.h"
#include "roles/master/alert/view.h"
#include "roles/master/http/api.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<const alert::Receiver*> receiver_named(const Desk& desk, const api::Call& call,
                                              const std::string& name,
                                              const std::optional<std::string>& tenant_id) {
    const std::string tenant = TRY(tenant_meant(call, tenant_id));
    if (const auto* found = desk.estate.alert_receivers.find(alert::receiver_id(tenant, name))) return found;
    return fail(Code::not_found, fmt::format("there is no alert receiver {}", name),
                "alert_receiver_not_found");
}

// What no server would ever take.
Result<> check_address(const alert::Receiver& receiver) {
    const auto checked =
        receiver.kind == alert::ReceiverKind::email
            ? check(Mail{.server = receiver.url,
                         .safety = receiver.plain ? MailSafety::plain : MailSafety::encrypted,
                         .user = receiver.user,
                         .password = receiver.secret,
                         .from = receiver.from,
                         .to = receiver.to,
                         .subject = "alert",
                         .text = "alert",
                         .id = "an-1"})
            : check(HttpCall{.url = receiver.url});
    if (checked) return {};
    Error error{Code::invalid, "one field of the request is wrong", "invalid"};
    error.fields.push_back({"url", checked.error().message});
    return std::unexpected(std::move(error));
}

Result<api::AlertReceiver> put(Desk& desk, alert::Receiver receiver) {
    TRY(check_address(receiver));
    const std::string id = receiver.id;
    TRY(put_alert_receiver(desk, std::move(receiver)));
    return view(desk, desk.estate.alert_receivers.at(id));
}

Result<api::AlertReceiver> create(Desk& desk, const api::Call& call,
                                  const api::CreateAlertReceiver& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    if (desk.estate.alert_receivers.find(alert::receiver_id(tenant, request.name)))
        return fail(Code::conflict, fmt::format("there is an alert receiver {} already", request.name),
                    "alert_receiver_exists");
    alert::Receiver receiver = receiver_of(request, request.name, tenant);
    receiver.secret = request.secret.value_or("");
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    auto made = TRY(put(desk, std::move(receiver)));
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return made;
}

// The secret goes nowhere but where it was meant to go.
Result<api::AlertReceiver> replace(Desk& desk, const api::Call& call,
                                   const api::ReplaceAlertReceiver& request) {
    const alert::Receiver& before = *TRY(receiver_named(desk, call, request.receiver, request.tenant_id));
    alert::Receiver receiver = receiver_of(request, before.name, before.tenant);
    const bool same =
        before.kind == receiver.kind && before.url == receiver.url && before.user == receiver.user;
    receiver.secret = request.secret.value_or(same && !receiver.plain ? before.secret : "");
    return put(desk, std::move(receiver));
}

alert::Delivery test_message(Desk& desk, const alert::Receiver& receiver) {
    const std::int64_t now = desk.estate.micros();
    const alert::Labels labels{{"alertname", "test"}, {"severity", "info"}};
    alert::Delivery made{.id = new_id(desk.random, "an"),
                         .receiver = receiver.id,
                         .tenant = receiver.tenant,
                         .group = "test",
                         .lines = {},
                         .created_at = now};
    made.lines.push_back({.fingerprint = alert::fingerprint("test", labels),
                          .labels = labels,
                          .summary = fmt::format("This is a test of receiver {}.", receiver.name),
                          .runbook = "Nothing is the matter.",
                          .fired_at = now});
    return made;
}

}  // namespace

static Subject receiver_subject(const Desk& desk, const api::Call& call, const std::string& name,
                                const std::optional<std::string>& tenant) {
    const auto* row = desk.estate.alert_receivers.find(alert::receiver_id(alert_owner(call, tenant), name));
    return row ? Subject{"alert_receiver/" + row->id, row->tenant, api::encode(view(desk, *row))} : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertReceiver& request) {
    return receiver_subject(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertReceiver& request) {
    return receiver_subject(desk, call, request.receiver, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertReceiver& request) {
    return receiver_subject(desk, call, request.receiver, request.tenant_id);
}

void add_alert_receivers(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_alert_receiver>(create);
    service.write<ops::replace_alert_receiver>(replace);
    service.read<ops::list_alert_receivers>(
        [](const Desk& desk, const api::Call& call,
           const api::ListAlertReceivers& request) -> Result<api::List<api::AlertReceiver>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::AlertReceiver>(
                       desk.estate.alert_receivers,
                       [&](const alert::Receiver& row) { return tenant.empty() || row.tenant == tenant; })
                .page(call, [&](const alert::Receiver& row) { return view(desk, row); });
        });
    service.read<ops::get_alert_receiver>(
        [](const Desk& desk, const api::Call& call,
           const api::NameAlertReceiver& request) -> Result<api::AlertReceiver> {
            return view(desk, *TRY(receiver_named(desk, call, request.receiver, request.tenant_id)));
        });
    service.write<ops::delete_alert_receiver>(
        [](Desk& desk, const api::Call& call, const api::NameAlertReceiver& request) -> Result<api::Empty> {
            const std::string id = TRY(receiver_named(desk, call, request.receiver, request.tenant_id))->id;
            delete_alert_receiver(desk, id);
            return api::Empty{};
        });
    service.handlers().on<ops::test_alert_receiver>(
        [&service](api::Call call, api::NameAlertReceiver request) -> Task<api::TestedAlertReceiver> {
            const TermPtr term = CO_TRY(service.leader());
            Desk& desk = term->desk(call.caller.actor);
            const alert::Receiver receiver =
                *CO_TRY(receiver_named(desk, call, request.receiver, request.tenant_id));
            if (call.dry_run) co_return api::TestedAlertReceiver{false, "nothing was sent"};
            const auto sent = co_await send_notice(term->ports(), receiver, test_message(desk, receiver),
                                                   term->settings().public_url + "/v1/alerts");
            CO_TRY(co_await check_cancelled());
            co_return api::TestedAlertReceiver{sent.has_value(),
                                               sent ? "it has arrived" : sent.error().message};
        });
}

}  // namespace hostler::master
