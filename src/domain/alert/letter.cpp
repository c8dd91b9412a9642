// The same notice as a letter: text, and HTML that mail programs show (no style sheet, no picture, no
// script).
#include <fmt/format.h>

#include <algorithm>

#include "domain/alert/notice.h"

namespace hostler::alert {

namespace {

std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    return out;
}

std::string found(const Labels& in, const std::string& name) {
    const auto at = in.find(name);
    return at == in.end() ? "" : at->second;
}

std::string headline(const NoticedAlert& alert) {
    const std::string summary = found(alert.annotations, "summary");
    return summary.empty() ? found(alert.labels, "alertname") : summary;
}

std::string labels_line(const Labels& labels) {
    std::string line;
    for (const auto& [name, value] : labels)
        line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, value);
    return line;
}

std::string lasted(const NoticedAlert& alert) {
    const auto seconds = [](WallTime at) {  // "2026-11-21 11:40:29 UTC"
        std::string text = rfc3339(at).substr(0, 19);
        text[10] = ' ';
        return text + " UTC";
    };
    std::string text = "since " + seconds(alert.starts_at);
    if (alert.ends_at) text += ", until " + seconds(*alert.ends_at);
    if (alert.value) text += fmt::format(", value {:.6g}", *alert.value);
    return text;
}

std::size_t count(const Notice& notice, NoticeStatus status) {
    return static_cast<std::size_t>(std::ranges::count(notice.alerts, status, &NoticedAlert::status));
}

std::string text_of(const Notice& notice, std::string_view subject) {
    std::string text = fmt::format("{}\n", subject);
    for (const NoticedAlert& alert : notice.alerts) {
        text += fmt::format("\n{}: {}\n", name(alert.status), headline(alert));
        if (const auto more = found(alert.annotations, "description"); !more.empty()) text += more + "\n";
        text += fmt::format("  {}\n  {}\n", lasted(alert), labels_line(alert.labels));
    }
    if (!notice.link.empty()) text += fmt::format("\n{}\n", notice.link);
    return text;
}

std::string html_of(const Notice& notice, std::string_view subject) {
    std::string html = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><body style=\"font-family:sans-serif\">\n<h1 "
        "style=\"font-size:1.2em\">{}</h1>\n",
        escaped(subject));
    for (const NoticedAlert& alert : notice.alerts) {
        const std::string_view colour = alert.status == NoticeStatus::firing ? "#b3261e" : "#1b6e3c";
        html += fmt::format(
            "<div style=\"border-left:4px solid {};padding:0 1em;margin:1em 0\">\n<p><b>{}: {}</b></p>\n",
            colour, name(alert.status), escaped(headline(alert)));
        if (const auto more = found(alert.annotations, "description"); !more.empty())
            html += fmt::format("<p>{}</p>\n", escaped(more));
        html += fmt::format("<p style=\"color:#555\">{}<br>{}</p>\n</div>\n", escaped(lasted(alert)),
                            escaped(labels_line(alert.labels)));
    }
    if (!notice.link.empty())
        html += fmt::format("<p><a href=\"{}\">{}</a></p>\n", escaped(notice.link), escaped(notice.link));
    return html + "</body></html>\n";
}

}  // namespace

Letter letter(const Notice& notice) {
    const std::size_t firing = count(notice, NoticeStatus::firing);
    const std::string state =
        notice.status == NoticeStatus::firing ? fmt::format("FIRING:{}", firing) : "RESOLVED";
    Letter letter{.subject = one_line(fmt::format("[{}] {}", state, notice.group)), .text = {}, .html = {}};
    letter.text = text_of(notice, letter.subject);
    letter.html = html_of(notice, letter.subject);
    return letter;
}

}  // namespace hostler::alert
