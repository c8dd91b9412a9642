// The page: figures, the course over time, then each section with bars beside its numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "domain/report/order.h"
#include "domain/report/rules.h"
#include "domain/report/text.h"

namespace hostler::report {

namespace {

constexpr std::string_view style = R"(
:root{--ink:#16202c;--soft:#5b6775;--line:#e2e7ee;--busy:#1f5fbf;--part:#9fc3ef;--idle:#e7a33b;--free:#e6eaf0;--other:#c8bfe3}
*{box-sizing:border-box}
body{margin:0;background:#f4f6f9;color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{max-width:1060px;margin:0 auto;padding:36px 28px 48px}
h1{font-size:27px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:18px;margin:0 0 2px}
p{margin:0 0 12px}
.sub,.note,footer{color:var(--soft)}
.note,footer{font-size:13px}
section{background:#fff;border:1px solid var(--line);border-radius:10px;padding:20px 22px;margin-top:18px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-top:22px}
.card{background:#fff;border:1px solid var(--line);border-radius:10px;padding:13px 16px}
.card b{display:block;font-size:25px;line-height:1.25;font-weight:650;letter-spacing:-.01em}
.card span{color:var(--soft);font-size:13px}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px;color:var(--soft);margin:6px 0 8px}
.key i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
svg{display:block;width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:#5b6775}
table{border-collapse:collapse;width:100%;margin-top:8px;font-size:13.5px}
th{font-weight:600;color:var(--soft);text-align:left;font-size:12px;border-bottom:1.5px solid var(--line);padding:6px 10px 6px 0;vertical-align:bottom}
td{border-bottom:1px solid var(--line);padding:7px 10px 7px 0;vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
td.l{min-width:5em}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;overflow-wrap:normal}
td.bar{width:22%;min-width:90px;padding-top:11px}
td.bar.short{width:10%;min-width:60px}
td.bar svg{height:12px}
td.what{color:var(--soft);font-size:12.5px;min-width:11em}
td.when{white-space:nowrap}
.tag{display:inline-block;color:#fff;border-radius:20px;padding:1px 10px;font-size:12px;white-space:nowrap}
footer{margin-top:22px}
@page{size:A4;margin:14mm}
@media print{
body{background:#fff;font-size:12px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}
section,.card{border-radius:6px}
section{padding:14px 16px;margin-top:12px}
.cards{grid-template-columns:repeat(5,1fr);gap:8px;margin-top:14px}
.card b{font-size:19px}
h1{font-size:22px;margin-top:0}
table{font-size:10.5px}
th,td.what,.note,.key,footer,.card span{font-size:10px}
th,td{padding:5px 7px 5px 0}
th.n{white-space:normal}
td.l{min-width:4em}
td.l:first-child{min-width:7em}
td.when{white-space:normal;min-width:6em}
td.what{min-width:9em}
td.bar,td.bar.short{min-width:36px;padding-top:7px}
.tag{font-size:10px;padding:0 7px}
thead{display:table-header-group}
tr,.card,.chart{break-inside:avoid}
h2,.note{break-after:avoid}
}
)";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (c == '\'')
            out += "&#39;";
        else
            out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    return out;
}

// "12,345", "1,234.5", "0.03"
std::string number(double value) {
    std::string text = fmt::format("{:.{}f}", value, value >= 1000 ? 0 : value >= 10 ? 1 : value > 0 ? 2 : 0);
    if (text.contains('.')) {
        while (text.ends_with('0')) text.pop_back();
        if (text.ends_with('.')) text.pop_back();
    }
    const auto point = std::min(text.find('.'), text.size());
    for (std::size_t i = point; i > 3; i -= 3) text.insert(i - 3, 1, ',');
    return text;
}

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}&thinsp;%", *value) : "–";
}

std::string day(WallTime time) { return rfc3339(time).substr(0, 10); }
std::string moment(WallTime time) { return day(time) + " " + rfc3339(time).substr(11, 5); }

std::string cell(const std::string& value) { return fmt::format("<td class=\"n\">{}</td>", value); }

std::string card(const std::string& value, std::string_view what) {
    return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>\n", value, what);
}

struct Part {
    double value;
    std::string_view colour;
};

// Parts of a whole, side by side.
template <class Parts>
std::string bar(const Parts& parts, double whole, std::string_view how = "bar") {
    std::string made = fmt::format("<td class=\"{}\">", how) +
                       "<svg viewBox=\"0 0 200 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                       "<rect width=\"200\" height=\"12\" fill=\"#f1f4f8\"/>";
    double at = 0;
    for (const Part& part : parts) {
        const double width = whole > 0 ? 200 * part.value / whole : 0;
        if (width <= 0) continue;
        made += fmt::format("<rect x=\"{:.1f}\" width=\"{:.1f}\" height=\"12\" fill=\"{}\"/>", at, width,
                            part.colour);
        at += width;
    }
    return made + "</svg></td>";
}

struct Entry {
    std::string_view colour;
    std::string_view what;
};

std::string legend(std::initializer_list<Entry> entries) {
    std::string made = "<div class=\"key\">";
    for (const Entry& entry : entries)
        made += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", entry.colour, entry.what);
    return made + "</div>\n";
}

std::string label_heads(const Report& report) {
    std::string made;
    for (const std::string& name : label_order(report)) made += fmt::format("<th>{}</th>", escaped(name));
    return made;
}

std::string label_cells(const Report& report, const Labels& labels) {
    std::string made;
    for (const std::string& name : label_order(report)) {
        const std::string& value = label_in(labels, name);
        made += fmt::format("<td class=\"l\">{}</td>",
                            value.empty() ? "<span class=\"note\">nobody</span>" : escaped(value));
    }
    return made;
}

// A round number at or above `most`, and how many parts it divides into well.
std::pair<double, int> scale_for(double most) {
    const double power = std::pow(10, std::floor(std::log10(std::max(most, 1.0))));
    for (const auto& [step, parts] : {std::pair{1.0, 4}, {2.0, 4}, {4.0, 4}, {5.0, 5}, {8.0, 4}, {10.0, 5}})
        if (most <= step * power) return {step * power, parts};
    return {most, 4};
}

// Between two times under the picture: so long that some eight of them have room.
std::chrono::minutes tick_step(const Report& report) {
    constexpr int ticks = 8;
    constexpr int usual[] = {10, 30, 60, 120, 240, 360, 720, 1440, 2880, 10'080, 20'160};
    for (const int minutes : usual)
        if (report.to - report.from <= std::chrono::minutes{minutes} * ticks)
            return std::chrono::minutes{minutes};
    return std::chrono::days{30};
}

WallTime first_tick(const Report& report) {
    const auto step = tick_step(report);
    WallTime at = std::chrono::floor<std::chrono::days>(report.from);
    while (at < report.from) at += step;
    return at;
}

// Stacked columns, one a slice of time.
std::string course(const Report& report) {
    if (report.timeline.empty()) return "";
    constexpr double left = 44, top = 8, width = 940, height = 210;
    double most = 1;
    for (const Slice& slice : report.timeline) most = std::max(most, slice.gpus);
    const auto [scale, parts] = scale_for(most);
    const auto y = [&](double value) { return top + height * (1 - value / scale); };
    const auto time = [](WallTime at) { return static_cast<double>(at.time_since_epoch().count()); };
    const double begin = time(report.from), whole = time(report.to) - begin;
    const auto x = [&](double at) { return left + width * (at - begin) / whole; };
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 1000 {}\" role=\"img\" aria-label=\"GPUs over time\">\n", top + height + 28);
    for (int i = 0; i <= parts; ++i) {
        const double value = scale * i / parts;
        svg += fmt::format(
            "<path d=\"M{} {:.1f}H{}\" stroke=\"#e2e7ee\"/><text x=\"{}\" y=\"{:.1f}\" "
            "text-anchor=\"end\">{}</text>\n",
            left, y(value), left + width, left - 8, y(value) + 4, number(value));
    }
    double length = whole;
    for (std::size_t i = 1; i < report.timeline.size(); ++i)
        length = std::min(length, time(report.timeline[i].from) - time(report.timeline[i - 1].from));
    for (const Slice& slice : report.timeline) {
        const double from = x(time(slice.from)), to = x(std::min(time(slice.from) + length, begin + whole));
        double at = 0;
        const double partly = std::max(0.0, slice.claimed - slice.busy - slice.idle);
        for (const Part& part : {Part{slice.busy, "#1f5fbf"}, Part{partly, "#9fc3ef"},
                                 Part{slice.idle, "#e7a33b"}, Part{slice.gpus - slice.claimed, "#e6eaf0"}}) {
            if (part.value <= 0) continue;
            svg += fmt::format(
                "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>", from,
                y(at + part.value), std::max(0.5, to - from - (to - from > 6 ? 1 : 0)),
                y(at) - y(at + part.value), part.colour);
            at += part.value;
        }
        svg += "\n";
    }
    for (WallTime at = first_tick(report); at <= report.to; at += tick_step(report)) {
        const double place = x(time(at));
        const bool midnight = std::chrono::floor<std::chrono::days>(at) == at;
        svg += fmt::format(
            "<path d=\"M{0:.1f} {1}v5\" stroke=\"#b8c1cc\"/><text x=\"{0:.1f}\" y=\"{2}\" "
            "text-anchor=\"middle\">{3}</text>\n",
            place, top + height, top + height + 18, midnight ? day(at).substr(5) : moment(at).substr(11));
    }
    return fmt::format(
        "<section class=\"chart\"><h2>GPUs over time</h2>\n<p class=\"note\">How many there were on average, "
        "and what they did. Times are UTC.</p>\n{}{}</svg></section>\n",
        legend({{"#1f5fbf", "busy"},
                {"#9fc3ef", "claimed, between"},
                {"#e7a33b", "claimed and idle"},
                {"#e6eaf0", "not claimed"}}),
        svg);
}

std::string usage_section(const Report& report) {
    if (report.total.measured_hours == 0)
        return "<section><h2>Usage</h2><p>Nothing was measured in this time.</p></section>\n";
    if (report.usage.empty()) return "";
    std::string made =
        "<section><h2>Usage</h2>\n<p class=\"note\">GPU-hours; the bar shows what became of them.</p>\n" +
        legend({{"#1f5fbf", "busy"},
                {"#9fc3ef", "claimed, between"},
                {"#e7a33b", "claimed and idle"},
                {"#c8bfe3", "other: in stock, being prepared, or not ours"},
                {"#e6eaf0", "free"}});
    double most = 0;
    for (const UsageLine& line : report.usage) most = std::max(most, line.measured_hours);
    made += fmt::format(
        "<table><thead><tr>{}<th></th><th class=\"n\">GPUs</th><th class=\"n\">claimed</th><th "
        "class=\"n\">busy</th><th class=\"n\">idle</th><th class=\"n\">other</th><th "
        "class=\"n\">free</th><th "
        "class=\"n\">utilisation</th><th "
        "class=\"n\">memory</th><th class=\"n\">kWh</th></tr></thead><tbody>\n",
        label_heads(report));
    for (const UsageLine& line : report.usage) {
        const double between = std::max(0.0, line.claimed_hours - line.busy_hours - line.idle_hours);
        made += "<tr>" + label_cells(report, line.labels) +
                bar(std::array{Part{line.busy_hours, "#1f5fbf"}, Part{between, "#9fc3ef"},
                               Part{line.idle_hours, "#e7a33b"}, Part{line.other_hours, "#c8bfe3"},
                               Part{line.free_hours, "#dbe1e9"}},
                    most) +
                cell(number(line.gpus)) + cell(number(line.claimed_hours)) + cell(number(line.busy_hours)) +
                cell(number(line.idle_hours)) + cell(number(line.other_hours)) +
                cell(number(line.free_hours)) + cell(percent(line.utilization_percent)) +
                cell(percent(line.memory_used_percent)) + cell(number(line.energy_kwh)) + "</tr>\n";
    }
    made += "</tbody></table>\n";
    if (report.left_out > 0)
        made += fmt::format("<p class=\"note\">{} more are left out.</p>\n", report.left_out);
    return made + "</section>\n";
}

std::string waste_section(const Report& report) {
    if (report.waste.empty()) return "";
    std::string made = fmt::format(
        "<section><h2>Claimed and idle</h2>\n<p class=\"note\">Held by instances in steps with a utilisation "
        "below {:g}&thinsp;%.</p>\n<table><thead><tr>{}<th></th><th class=\"n\">idle hours</th>{}<th "
        "class=\"n\">of claimed</th><th class=\"n\">longest</th><th class=\"n\">memory held</th><th>still "
        "idle since</th><th>what to do</th></tr></thead><tbody>\n",
        idle_below_percent, label_heads(report),
        report.idle_costs.empty() ? "" : "<th class=\"n\">their price</th>");
    double most = 0;
    for (const WasteLine& line : report.waste) most = std::max(most, line.idle_hours);
    for (const WasteLine& line : report.waste)
        made += "<tr>" + label_cells(report, line.labels) +
                bar(std::array{Part{line.idle_hours, "#e7a33b"}}, most, "bar short") +
                cell(number(line.idle_hours)) +
                (report.idle_costs.empty() ? "" : cell(escaped(text_of(line.idle_costs)))) +
                cell(percent(line.idle_percent)) + cell(number(line.longest_hours) + "&thinsp;h") +
                cell(percent(line.memory_used_percent)) +
                fmt::format("<td class=\"when\">{}</td><td class=\"what\">{}</td></tr>\n",
                            line.idle_since ? moment(*line.idle_since) : "–", escaped(line.advice));
    return made + "</tbody></table></section>\n";
}

std::string_view colour_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::idle: return "#8a94a3";
        case Verdict::thermal_bound: return "#b3261e";
        case Verdict::power_bound: return "#cf5c36";
        case Verdict::pcie_bound: return "#0f7c80";
        case Verdict::memory_bound: return "#6a51a3";
        case Verdict::compute_bound: return "#2e7d5b";
        case Verdict::input_bound: return "#9a6a00";
    }
    broken("a verdict outside its enum", __FILE__, __LINE__);
}

std::string bottlenecks_section(const Report& report) {
    if (report.bottlenecks.empty()) return "";
    std::string made = fmt::format(
        "<section><h2>What held work back</h2>\n<p class=\"note\">By step. Time without an entry had no "
        "clear bottleneck, or too little was measured.</p>\n<table><thead><tr>{}<th>verdict</th><th></th><th "
        "class=\"n\">hours</th><th class=\"n\">of claimed</th><th>evidence (mean)</th><th>what to "
        "do</th></tr></thead><tbody>\n",
        label_heads(report));
    for (const Finding& line : report.bottlenecks)
        made += "<tr>" + label_cells(report, line.labels) +
                fmt::format("<td><span class=\"tag\" style=\"background:{}\">{}</span></td>",
                            colour_of(line.verdict), words(line.verdict)) +
                bar(std::array{Part{line.percent, colour_of(line.verdict)}}, 100, "bar short") +
                cell(number(line.hours)) + cell(percent(line.percent)) +
                fmt::format("<td class=\"what\">{}</td><td class=\"what\">{}</td></tr>\n",
                            escaped(text_of(line.evidence)), escaped(line.advice));
    return made + "</tbody></table></section>\n";
}

std::string part_of(double part, double whole) {
    return whole > 0 ? fmt::format("{:.0f}&thinsp;%", 100 * part / whole) : "–";
}

}  // namespace

std::string page(const Report& report, std::string_view title) {
    const UsageLine& all = report.total;
    std::string html = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style></head>\n"
        "<body><main>\n<h1>{0}</h1>\n<p class=\"sub\">{2} to {3} UTC{4}</p>\n<div class=\"cards\">\n",
        escaped(title), style, moment(report.from), moment(report.to),
        report.by.empty()
            ? ""
            : fmt::format(", by {}", escaped(fmt::format("{}", fmt::join(label_order(report), ", ")))));
    html +=
        card(number(all.measured_hours), "GPU-hours measured") +
        card(part_of(all.claimed_hours, all.measured_hours), "of them claimed") +
        card(percent(all.utilization_percent), "utilisation while claimed") +
        card(number(all.idle_hours), "GPU-hours claimed and idle") +
        (report.idle_costs.empty() ? "" : card(escaped(text_of(report.idle_costs)), "price of idle hours")) +
        card(number(all.energy_kwh) + "&thinsp;kWh", "drawn by GPUs");
    html += "</div>\n" + course(report) + usage_section(report) + waste_section(report) +
            bottlenecks_section(report);
    return html + fmt::format(
                      "<footer>Judged in steps of {} s, from samples of the hosts; hours without samples are "
                      "not counted.</footer>\n</main></body></html>\n",
                      report.step);
}

}  // namespace hostler::report
