#include "cli/explain.h"

#include <fmt/format.h>

#include "cli/client.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

std::string explanation(const json::value& object) {
    const auto text = [&](std::string_view name) {
        const json::value* value = field_of(object, name);
        return value && value->is_string() ? safe_line(value->get_string()) : std::string{};
    };
    std::string out = fmt::format("{} ({})\n", text("sentence"), text("token"));
    if (const json::value* blocking = field_of(object, "blocking"); blocking && blocking->is_array()) {
        std::size_t width = 0;
        for (const json::value& one : blocking->get_array())
            if (const auto* host = field_of(one, "host"); host && host->is_string())
                width = std::max(width, host->get_string().size());
        for (const json::value& one : blocking->get_array()) {
            const auto* host = field_of(one, "host");
            const auto* reason = field_of(one, "reason");
            if (host && reason && host->is_string() && reason->is_string())
                out += fmt::format("  {:<{}}  {}\n", safe_line(host->get_string()), width,
                                   safe_line(reason->get_string()));
        }
    }
    if (const auto help = text("wouldHelp"); !help.empty()) out += fmt::format("Would help: {}\n", help);
    return out;
}

// The other things that it waits for follow the most important one.
std::string cluster_explanation(const json::value& object) {
    std::string out = explanation(object);
    const json::value* waits = field_of(object, "waits");
    if (!waits || !waits->is_array()) return out;
    for (const json::value& one : waits->get_array())
        if (!text_of(object, "sentence").ends_with(text_of(one, "sentence"))) out += explanation(one);
    return out;
}

std::string milli_percent(const json::value& object, std::string_view name) {
    const json::value* value = field_of(object, name);
    return value && value->is_number() ? fmt::format("{:.0f} %", value->to_number<double>() / 10) : "";
}

// "Expected start: 2026-01-01 12:00" for a field that is there.
std::string row_of(const api::Schema& schema, const json::value& object, std::string_view title,
                   std::string_view name, const Style& style) {
    const json::value* value = field_of(object, name);
    const api::Property* property = schema.find(name);
    if (!value || value->is_null() || !property) return {};
    return fmt::format("{}: {}\n", title, cell(*property, *value, style, true));
}

std::string job_explanation(const api::Schema& schema, const json::value& object, const Style& style) {
    std::string out = explanation(object);
    out += row_of(schema, object, "Before it", "position", style);
    out += row_of(schema, object, "Expected start", "expectedStart", style);
    if (const json::value* shares = field_of(object, "shares"); shares && shares->is_array())
        for (const json::value& one : shares->get_array())
            out +=
                fmt::format("Queue {}: {} of the cloud, entitled to {}\n", safe_line(text_of(one, "queue")),
                            milli_percent(one, "shareMilli"), milli_percent(one, "entitledMilli"));
    return out;
}

// The answer of a dry run.
std::string job_plan(const api::Schema& schema, const json::value& plan, const Style& style) {
    std::string out = safe_line(text_of(plan, "sentence")) + "\n";
    out += row_of(schema, plan, "Expected start", "expectedStart", style);
    const json::value* hosts = field_of(plan, "hosts");
    if (hosts && hosts->is_array() && !hosts->get_array().empty())
        out += row_of(schema, plan, "Hosts", "hosts", style);
    return out;
}

}  // namespace

std::optional<std::string> render_explanation(const api::Schema& schema, const json::value& object,
                                              const Style& style) {
    if (schema.name == "Explanation") return explanation(object);
    if (schema.name == "ClusterExplanation") return cluster_explanation(object);
    if (schema.name == "JobExplanation") return job_explanation(schema, object, style);
    if (const json::value* plan = schema.name == "Job" ? field_of(object, "plan") : nullptr;
        plan && plan->is_object())
        return job_plan(*schema.find("plan")->schema, *plan, style);
    return std::nullopt;
}

}  // namespace hostler::cli
