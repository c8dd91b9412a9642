// Alerts, their rules, silences and receivers.
#pragma once

#include "api/operation.h"
#include "api/types_alert.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListAlerts, List<Alert>> list_alerts{{
    .name = "listAlerts", .path = "/v1/alerts", .permission = Permission::alert_read,
    .help = "List alerts: with a tenant's key those of the tenant, with an operator's all.",
    .list = true, .noun = "alert", .verb = "list",
    .columns = "severity rule summary state firedAt isSilenced tenantID value id", .example = "alert list --severity warning"}};
inline constexpr Typed<NameAlert, Alert> get_alert{{
    .name = "getAlert", .path = "/v1/alerts/{alert}", .permission = Permission::alert_read,
    .help = "Show an alert and its runbook.", .noun = "alert", .verb = "get"}};

inline constexpr Typed<CreateAlertRule, AlertRule> create_alert_rule{{
    .name = "createAlertRule", .method = Method::post, .path = "/v1/alert-rules",
    .permission = Permission::alert_write,
    .help = "Create an alert rule.", .status = 201, .noun = "alert rule", .verb = "create", .argument = "name",
    .example = "alert rule create too-hot --metric temperature_celsius --over avg --window 5m --threshold 85 --for 5m"}};
inline constexpr Typed<ReplaceAlertRule, AlertRule> replace_alert_rule{{
    .name = "replaceAlertRule", .method = Method::put, .path = "/v1/alert-rules/{alertRule}",
    .permission = Permission::alert_write, .help = "Replace an alert rule, also a default one.",
    .noun = "alert rule", .verb = "replace",
    .example = "alert rule replace gpu-idle-held --metric utilisation_percent --threshold 1 --disabled"}};
inline constexpr Typed<ListAlertRules, List<AlertRule>> list_alert_rules{{
    .name = "listAlertRules", .path = "/v1/alert-rules",
    .permission = Permission::alert_read, .help = "List alert rules.",
    .list = true, .pages = Pages::own, .query = true, .noun = "alert rule", .verb = "list",
    .columns = "name severity metric comparison threshold firing pending disabled isDefault tenantID error"}};
inline constexpr Typed<NameAlertRule, AlertRule> get_alert_rule{{
    .name = "getAlertRule", .path = "/v1/alert-rules/{alertRule}", .permission = Permission::alert_read,
    .help = "Show an alert rule.", .noun = "alert rule", .verb = "get"}};
inline constexpr Typed<NameAlertRule, Empty> delete_alert_rule{{
    .name = "deleteAlertRule", .method = Method::delete_, .path = "/v1/alert-rules/{alertRule}",
    .permission = Permission::alert_write,
    .help = "Delete an alert rule. A replaced default rule returns to its default.", .noun = "alert rule",
    .verb = "delete"}};

inline constexpr Typed<CreateAlertSilence, AlertSilence> create_alert_silence{{
    .name = "createAlertSilence", .method = Method::post, .path = "/v1/silences",
    .permission = Permission::alert_write,
    .help = "Silence the notifications of some alerts for a while.", .status = 201, .noun = "alert silence",
    .verb = "create",
    .example = "alert silence create --matcher alertname=gpu-hot --for 2h --comment 'cooling is being serviced'"}};
inline constexpr Typed<ListAlertSilences, List<AlertSilence>> list_alert_silences{{
    .name = "listAlertSilences", .path = "/v1/silences",
    .permission = Permission::alert_read, .help = "List silences.",
    .list = true, .noun = "alert silence", .verb = "list",
    .columns = "id matchers comment expiresAt madeBy tenantID createdAt"}};
inline constexpr Typed<NameAlertSilence, Empty> delete_alert_silence{{
    .name = "deleteAlertSilence", .method = Method::delete_, .path = "/v1/silences/{silence}",
    .permission = Permission::alert_write,
    .help = "End a silence at once.", .noun = "alert silence", .verb = "delete"}};

inline constexpr Typed<CreateAlertReceiver, AlertReceiver> create_alert_receiver{{
    .name = "createAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers",
    .permission = Permission::alert_write, .help = "Create a receiver of alert notifications.", .status = 201,
    .noun = "alert receiver", .verb = "create", .argument = "name",
    .example = "alert receiver create on-call --type webhook --url https://hooks.example.com/alerts --severity warning"}};
inline constexpr Typed<ReplaceAlertReceiver, AlertReceiver> replace_alert_receiver{{
    .name = "replaceAlertReceiver", .method = Method::put, .path = "/v1/alert-receivers/{receiver}",
    .permission = Permission::alert_write,
    .help = "Replace the settings of an alert receiver.", .noun = "alert receiver",
    .verb = "replace"}};
inline constexpr Typed<ListAlertReceivers, List<AlertReceiver>> list_alert_receivers{{
    .name = "listAlertReceivers", .path = "/v1/alert-receivers", .permission = Permission::alert_read,
    .help = "List alert receivers and the state of their deliveries.", .list = true, .noun = "alert receiver",
    .verb = "list", .columns = "name type url severity waiting delivered failed lastError deliveredAt tenantID"}};
inline constexpr Typed<NameAlertReceiver, AlertReceiver> get_alert_receiver{{
    .name = "getAlertReceiver", .path = "/v1/alert-receivers/{receiver}", .permission = Permission::alert_read,
    .help = "Show an alert receiver. Its secret is never shown.", .noun = "alert receiver", .verb = "get"}};
inline constexpr Typed<NameAlertReceiver, Empty> delete_alert_receiver{{
    .name = "deleteAlertReceiver", .method = Method::delete_, .path = "/v1/alert-receivers/{receiver}",
    .permission = Permission::alert_write, .help = "Delete an alert receiver.", .noun = "alert receiver",
    .verb = "delete"}};
inline constexpr Typed<NameAlertReceiver, TestedAlertReceiver> test_alert_receiver{{
    .name = "testAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers/{receiver}/test",
    .permission = Permission::alert_write, .help = "Send a test message to an alert receiver.",
    .noun = "alert receiver", .verb = "test", .example = "alert receiver test on-call"}};

}  // namespace hostler::api::ops
