#include "domain/alert/notice.h"

#include <fmt/format.h>

#include "domain/alert/json_text.h"

namespace hostler::alert {

namespace {

std::int64_t unix_seconds(WallTime at) {
    return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

std::string alert_json(const NoticedAlert& alert) {
    std::string out =
        fmt::format(R"({{"fingerprint":{},"status":"{}","labels":{},"annotations":{},"startsAt":"{}")",
                    json_string(alert.fingerprint), name(alert.status), json_object(alert.labels),
                    json_object(alert.annotations), rfc3339(alert.starts_at));
    if (alert.ends_at) out += fmt::format(R"(,"endsAt":"{}")", rfc3339(*alert.ends_at));
    if (alert.value) out += ",\"value\":" + json_number(*alert.value);
    return out += '}';
}

template <class Each>
std::string json_list(const std::vector<NoticedAlert>& alerts, Each each) {
    std::string out = "[";
    for (const NoticedAlert& alert : alerts) {
        if (out.size() > 1) out += ',';
        out += each(alert);
    }
    return out += ']';
}

// A Prometheus label's name: letters, digits and '_', no digit first.
Labels fit_names(const Labels& labels) {
    Labels fit;
    for (const auto& [label, value] : labels) {
        std::string name;
        for (const char c : label) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
            const bool digit = c >= '0' && c <= '9';
            if (digit && name.empty()) name += '_';
            name += letter || digit ? c : '_';
        }
        if (!name.empty() && !value.empty()) fit.emplace(std::move(name), value);
    }
    return fit;
}

}  // namespace

std::string_view name(NoticeStatus status) { return status == NoticeStatus::firing ? "firing" : "resolved"; }

std::string webhook_body(const Notice& notice) {
    return fmt::format(R"({{"version":"1","id":{},"group":{},"status":"{}","link":{},"alerts":{}}})",
                       json_string(notice.id), json_string(notice.group), name(notice.status),
                       json_string(notice.link), json_list(notice.alerts, alert_json));
}

std::string signed_text(WallTime at, std::string_view body) {
    return fmt::format("{}.{}", unix_seconds(at), body);
}

std::string signature_header(WallTime at, std::string_view mac) {
    return fmt::format("t={},v1={}", unix_seconds(at), mac);
}

std::string alertmanager_body(const Notice& notice, WallTime firing_until) {
    return json_list(notice.alerts, [&](const NoticedAlert& alert) {
        const WallTime ends =
            alert.status == NoticeStatus::firing ? firing_until : alert.ends_at.value_or(alert.starts_at);
        return fmt::format(
            R"({{"labels":{},"annotations":{},"startsAt":"{}","endsAt":"{}","generatorURL":{}}})",
            json_object(fit_names(alert.labels)), json_object(fit_names(alert.annotations)),
            rfc3339(alert.starts_at), rfc3339(ends), json_string(notice.link));
    });
}

}  // namespace hostler::alert
