// What is told about alerts, and how other people's programs want to hear it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler::alert {

using Labels = std::map<std::string, std::string>;

enum class NoticeStatus { firing, resolved };

struct NoticedAlert {
    std::string fingerprint;  // Of the alert's labels: the same while it lasts.
    NoticeStatus status = NoticeStatus::firing;
    Labels labels;       // "alertname", "severity", and what tells it from its siblings.
    Labels annotations;  // "summary", "description": sentences.
    WallTime starts_at{};
    std::optional<WallTime> ends_at{};  // Of a resolved one.
    std::optional<double> value{};      // What was measured, when it was last looked at.
};

// One delivery about a group of alerts. Sent again after a failure it is the same, its id included.
struct Notice {
    std::string id;
    std::string group;                           // What its alerts have in common, "GpuHot zone=lon".
    NoticeStatus status = NoticeStatus::firing;  // `firing` while any of them does.
    std::vector<NoticedAlert> alerts;
    std::string link{};  // Where a person looks at them.
};

std::string_view name(NoticeStatus status);

// The JSON that docs/operate/notices.md describes.
std::string webhook_body(const Notice& notice);

// What a request's signature covers, and how the header is written that carries it:
// "t=1763750429,v1=5257a8…". `mac` is the HMAC-SHA256 of signed_text() in hex.
std::string signed_text(WallTime at, std::string_view body);
std::string signature_header(WallTime at, std::string_view mac);

// For POST /api/v2/alerts of Prometheus' Alertmanager. It forgets a firing alert at `firing_until`, unless it
// is told again before. Labels' names are made fit for it ('_' in place of what they may not hold).
std::string alertmanager_body(const Notice& notice, WallTime firing_until);

struct Letter {
    std::string subject;  // One line.
    std::string text;
    std::string html;
};
Letter letter(const Notice& notice);

}  // namespace hostler::alert
