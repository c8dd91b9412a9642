// What `hostler top` shows, as text.
#include <algorithm>
#include <map>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/top.h"
#include "core/counted.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

constexpr std::string_view red = "\x1b[31m", yellow = "\x1b[33m", green = "\x1b[32m", dim = "\x1b[2m",
                           bold = "\x1b[1m", normal = "\x1b[0m";

// Letters, not bytes.
std::size_t letters(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string first_letters(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    for (std::size_t seen = 0; at < text.size(); ++at)
        if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && seen++ == count) break;
    return std::string{text.substr(0, at)};
}

struct Cell {
    std::string text;
    std::string_view colour{};
    bool right = false;
};
using Row = std::vector<Cell>;

class Lines {
public:
    explicit Lines(const TopView& view) : view_(view) {}

    // Columns as wide as their widest cell; those that no row fills are left out.
    void table(std::vector<std::string> heads, const std::vector<Row>& rows) {
        if (rows.empty()) return;
        std::vector<std::size_t> widths(heads.size(), 0);
        for (const Row& row : rows)
            for (std::size_t i = 0; i < row.size(); ++i)
                widths[i] = std::max(widths[i], letters(row[i].text));
        Row head;
        for (std::size_t i = 0; i < heads.size(); ++i) {
            if (widths[i] > 0) widths[i] = std::max(widths[i], letters(heads[i]));
            head.push_back({heads[i], dim, rows.front()[i].right});
        }
        line(head, widths);
        for (const Row& row : rows) line(row, widths);
    }

    void line(const Row& row, const std::vector<std::size_t>& widths) {
        std::string text;
        std::size_t used = 0;
        const std::size_t room =
            view_.columns > 0 ? static_cast<std::size_t>(view_.columns) : std::string::npos;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i < widths.size() && widths[i] == 0) continue;
            const std::size_t gap = used > 0 ? 2 : 0;
            if (used + gap >= room) break;
            const std::string cut = first_letters(row[i].text, room - used - gap);
            const std::size_t width = i < widths.size() ? widths[i] : 0;
            const std::size_t pad =
                std::min(width > letters(cut) ? width - letters(cut) : 0, room - used - gap - letters(cut));
            const bool last = i + 1 == row.size();
            text.append(gap, ' ');
            if (row[i].right) text.append(pad, ' ');
            const bool painted = view_.colour && !row[i].colour.empty();
            if (painted) text += row[i].colour;
            text += cut;
            if (painted) text += normal;
            if (!row[i].right && !last) text.append(pad, ' ');
            used += gap + letters(cut) + pad;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        lines_.push_back(std::move(text));
    }
    void line(std::string text, std::string_view colour = {}) { line(Row{{std::move(text), colour}}, {}); }

    std::size_t size() const { return lines_.size(); }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    const TopView& view_;
    std::vector<std::string> lines_;
};

std::string bar(const std::optional<double>& percent) {
    constexpr int width = 10;
    if (!percent) return "";
    const int full = static_cast<int>(std::clamp(*percent / 100, 0.0, 1.0) * width + 0.5);
    return fmt::format("{:|<{}}{:.<{}} {:>3.0f}%", "", full, "", width - full, *percent);
}

std::string gib(const std::optional<std::int64_t>& bytes) {
    return bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) / (1 << 30)) : "-";
}

std::string of_bytes(const std::optional<std::int64_t>& used, const std::optional<std::int64_t>& total) {
    if (!used && !total) return "";
    return fmt::format("{}/{} GiB", gib(used), gib(total));
}

std::string watts(const std::optional<double>& now, const std::optional<double>& limit) {
    if (!now) return "";
    return limit ? fmt::format("{:.0f}/{:.0f} W", *now, *limit) : fmt::format("{:.0f} W", *now);
}

bool held(const api::GpuUsage& gpu) { return gpu.use != api::GpuUse::idle && gpu.use != api::GpuUse::stock; }

// Busy is good, held and idle is money.
std::string_view colour_of_use(const api::GpuUsage& gpu) {
    constexpr double idle_percent = 5;
    if (!gpu.utilization_percent) return {};
    if (*gpu.utilization_percent >= idle_percent) return green;
    return held(gpu) ? yellow : std::string_view{};
}

std::string_view colour_of_heat(const std::optional<double>& celsius) {
    constexpr double hot = 85, warm = 75;
    if (!celsius || *celsius < warm) return {};
    return *celsius >= hot ? red : yellow;
}

std::string holder_of(const api::GpuUsage& gpu) {
    if (!gpu.instance_id.empty()) return safe_line(gpu.instance_id);
    if (!gpu.pod.empty()) return safe_line(gpu.pod_namespace + "/" + gpu.pod);
    if (!gpu.node.empty()) return safe_line("node " + gpu.node);
    const bool named = held(gpu) || gpu.use == api::GpuUse::stock;
    return named ? boost::describe::enum_to_string(gpu.use, "") : "";
}

Row row_of(const api::GpuUsage& gpu) {
    const std::string_view state = boost::describe::enum_to_string(gpu.state, "");
    std::string note = gpu.state == api::GpuState::healthy ? "" : std::string{state};
    for (const std::string& why : gpu.throttled) note += (note.empty() ? "" : " ") + safe_line(why);
    return {{safe_line(gpu.host_name)},
            {fmt::format("{}", gpu.index), {}, true},
            {safe_line(gpu.model)},
            {gpu.sampled_at ? bar(gpu.utilization_percent) : "no sample", colour_of_use(gpu)},
            {of_bytes(gpu.memory_used_bytes, gpu.memory_total_bytes), {}, true},
            {watts(gpu.power_watts, gpu.power_limit_watts), {}, true},
            {gpu.temperature_celsius ? fmt::format("{:.0f} C", *gpu.temperature_celsius) : "",
             colour_of_heat(gpu.temperature_celsius), true},
            {holder_of(gpu), bold},
            {safe_line(gpu.tenant_id)},
            {note, gpu.state == api::GpuState::healthy ? yellow : red}};
}

Row row_of(const api::HostUsage& host) {
    const std::string state = boost::describe::enum_to_string(host.state, "");
    return {{safe_line(host.name)},
            {safe_line(host.zone)},
            {state, host.state == api::HostState::ready ? std::string_view{} : red},
            {bar(host.cpu_percent)},
            {host.load ? fmt::format("{:.1f}", *host.load) : "", {}, true},
            {of_bytes(host.memory_used_bytes, host.memory_total_bytes), {}, true},
            {of_bytes(host.disk_used_bytes, host.disk_total_bytes), {}, true},
            {fmt::format("{}/{}", host.gpus_used, host.gpus), {}, true}};
}

struct Sum {
    int gpus = 0;
    int measured = 0;
    double percent = 0;
    double watts = 0;
    std::int64_t used = 0, total = 0;
    int processes = 0;

    void add(const api::GpuUsage& gpu) {
        ++gpus;
        if (gpu.utilization_percent) {
            ++measured;
            percent += *gpu.utilization_percent;
        }
        watts += gpu.power_watts.value_or(0);
        used += gpu.memory_used_bytes.value_or(0);
        total += gpu.memory_total_bytes.value_or(0);
    }
    std::optional<double> busy() const {
        return measured > 0 ? std::optional{percent / measured} : std::nullopt;
    }
};

std::vector<Row> instances_of(const std::vector<api::GpuUsage>& gpus) {
    std::map<std::pair<std::string, std::string>, Sum> instances;  // By tenant and name.
    for (const auto& gpu : gpus) {
        if (gpu.instance_id.empty()) continue;
        Sum& sum = instances[{gpu.tenant_id, gpu.instance_id}];
        sum.add(gpu);
        for (const auto& share : gpu.shares)
            if (share.instance_id == gpu.instance_id) sum.processes += share.processes;
    }
    std::vector<Row> rows;
    for (const auto& [name, sum] : instances)
        rows.push_back({{safe_line(name.second), bold},
                        {safe_line(name.first)},
                        {fmt::format("{}", sum.gpus), {}, true},
                        {bar(sum.busy())},
                        {of_bytes(sum.used, sum.total), {}, true},
                        {fmt::format("{:.0f} W", sum.watts), {}, true},
                        {fmt::format("{}", sum.processes), {}, true}});
    return rows;
}

std::string summary(const Top& top) {
    Sum all;
    int claimed = 0;
    for (const auto& gpu : top.gpus) {
        all.add(gpu);
        claimed += held(gpu) ? 1 : 0;
    }
    std::string text = "Hostler";
    if (!top.hosts.empty()) text += "  " + counted(top.hosts.size(), "host");
    text += fmt::format("  {}, {} held", counted(all.gpus, "GPU"), claimed);
    if (const auto busy = all.busy()) text += fmt::format("  {:.0f}% busy", *busy);
    text += fmt::format("  {:.1f} kW  {:%H:%M:%S}Z", all.watts / 1000,
                        std::chrono::floor<std::chrono::seconds>(top.at));
    return text;
}

}  // namespace

std::vector<std::string> top_lines(const Top& top, const TopView& view) {
    Lines lines{view};
    lines.line(summary(top), bold);
    if (!top.trouble.empty()) lines.line(safe_line(top.trouble), red);
    const auto room = [&](std::size_t rows, std::size_t kept) {
        if (view.rows <= 0) return rows;
        const auto left = static_cast<std::size_t>(view.rows) -
                          std::min(static_cast<std::size_t>(view.rows), lines.size() + kept);
        return std::min(rows, left);
    };
    // A third for hosts, a third for instances; GPUs have what is left.
    const std::size_t third = view.rows > 0 ? static_cast<std::size_t>(view.rows) / 3 : 0;
    const auto some = [&](std::vector<Row> rows, const char* what) {
        const std::size_t shown =
            view.rows > 0 ? std::min(rows.size(), third > 2 ? third - 2 : 0) : rows.size();
        const std::size_t hidden = rows.size() - shown;
        rows.resize(shown);
        return std::pair{std::move(rows), hidden > 0 ? fmt::format("… {} more {}", hidden, what) : ""};
    };
    if (!top.hosts.empty()) {
        std::vector<Row> all;
        for (const auto& host : top.hosts) all.push_back(row_of(host));
        const auto [rows, more] = some(std::move(all), "hosts");
        lines.line("");
        lines.table({"HOST", "ZONE", "STATE", "CPU", "LOAD", "MEMORY", "DISK", "GPUS"}, rows);
        if (!more.empty()) lines.line(more, dim);
    }
    const auto [instances, more_instances] = some(instances_of(top.gpus), "instances");
    const std::size_t instance_lines =
        instances.empty() ? 0 : instances.size() + 2 + (more_instances.empty() ? 0 : 1);
    lines.line("");
    std::vector<Row> gpus;
    const std::size_t first = std::min(view.first, top.gpus.empty() ? 0 : top.gpus.size() - 1);
    for (std::size_t i = first; i < top.gpus.size(); ++i) gpus.push_back(row_of(top.gpus[i]));
    const std::size_t fits = room(gpus.size(), instance_lines + 1);
    const std::size_t hidden = fits < gpus.size() ? gpus.size() - (fits > 0 ? fits - 1 : 0) : 0;
    gpus.resize(gpus.size() - hidden);
    if (top.gpus.empty())
        lines.line("no GPUs");
    else
        lines.table({"HOST", "GPU", "MODEL", "BUSY", "MEMORY", "POWER", "TEMP", "HELD BY", "TENANT", "NOTE"},
                    gpus);
    if (hidden > 0) lines.line(fmt::format("… {} more {}", hidden, hidden == 1 ? "GPU" : "GPUs"), dim);
    if (!instances.empty()) {
        lines.line("");
        lines.table({"INSTANCE", "TENANT", "GPUS", "BUSY", "MEMORY", "POWER", "PROCESSES"}, instances);
        if (!more_instances.empty()) lines.line(more_instances, dim);
    }
    return lines.take();
}

}  // namespace hostler::cli
