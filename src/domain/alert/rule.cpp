#include "domain/alert/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hostler::alert {

namespace {

series::Over over_of(Over over) {
    switch (over) {
        case Over::last: return series::Over::last;
        case Over::avg: return series::Over::avg;
        case Over::min: return series::Over::min;
        case Over::max: return series::Over::max;
        case Over::sum: return series::Over::sum;
        case Over::increase: return series::Over::increase;
        case Over::rate: return series::Over::rate;
    }
    broken("an over outside its enum", __FILE__, __LINE__);
}

series::Across across_of(Across across) {
    switch (across) {
        case Across::none: return series::Across::none;
        case Across::sum: return series::Across::sum;
        case Across::avg: return series::Across::avg;
        case Across::min: return series::Across::min;
        case Across::max: return series::Across::max;
        case Across::count: return series::Across::count;
    }
    broken("an across outside its enum", __FILE__, __LINE__);
}

std::vector<series::Match> where_of(const Rule& rule) {
    std::vector<series::Match> all;
    for (const std::string& text : rule.where)
        if (auto match = parse_match(text)) all.push_back(std::move(*match));
    if (!rule.tenant.empty()) all.push_back({.label = "tenant", .values = {rule.tenant}});
    return all;
}

double combined(Across across, const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    switch (across) {
        case Across::none:
        case Across::sum: return sum;
        case Across::avg: return sum / static_cast<double>(values.size());
        case Across::min: return std::ranges::min(values);
        case Across::max: return std::ranges::max(values);
        case Across::count: return static_cast<double>(values.size());
    }
    broken("an across outside its enum", __FILE__, __LINE__);
}

}  // namespace

std::string rule_id(const std::string& tenant, const std::string& name) {
    return tenant.empty() ? name : tenant + "/" + name;
}

bool breaches(Comparison comparison, double value, double threshold) {
    switch (comparison) {
        case Comparison::above: return value > threshold;
        case Comparison::at_least: return value >= threshold;
        case Comparison::below: return value < threshold;
        case Comparison::at_most: return value <= threshold;
    }
    broken("a comparison outside its enum", __FILE__, __LINE__);
}

std::string sign(Comparison comparison) {
    switch (comparison) {
        case Comparison::above: return ">";
        case Comparison::at_least: return ">=";
        case Comparison::below: return "<";
        case Comparison::at_most: return "<=";
    }
    broken("a comparison outside its enum", __FILE__, __LINE__);
}

series::Query query_of(const Rule& rule, series::Millis now) {
    const series::Millis window = rule.window_s * 1000;
    return {.metric = rule.metric,
            .where = where_of(rule),
            .from = now - window,
            .to = now,
            .step = window,
            .over = over_of(rule.over),
            .across = across_of(rule.across),
            .by = rule.by};
}

std::vector<Sample> select(const Rule& rule, const std::vector<Sample>& samples) {
    const series::Query query = query_of(rule, 0);
    std::vector<Sample> chosen;
    std::map<Labels, std::vector<double>> groups;
    for (const Sample& sample : samples) {
        if (!series::matches(query, sample.labels)) continue;
        if (rule.across == Across::none) {
            chosen.push_back(sample);
            continue;
        }
        Labels group;
        for (const std::string& label : rule.by)
            if (const auto at = sample.labels.find(label); at != sample.labels.end()) group.insert(*at);
        groups[std::move(group)].push_back(sample.value);
    }
    for (const auto& [labels, values] : groups) chosen.push_back({labels, combined(rule.across, values)});
    return chosen;
}

std::string fingerprint(const std::string& rule, const Labels& labels) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](std::string_view text) {
        for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3;  // No byte of UTF-8: texts do not run into one another.
    };
    add(rule);
    for (const auto& [label, value] : labels) add(label), add(value);
    return fmt::format("{:016x}", hash);
}

std::string fill(std::string_view text, const Rule& rule, const Labels& labels, double value) {
    std::string filled;
    while (true) {
        const auto open = text.find('{');
        const auto close = open == text.npos ? text.npos : text.find('}', open);
        if (close == text.npos) return filled.append(text);
        filled.append(text.substr(0, open));
        const std::string name{text.substr(open + 1, close - open - 1)};
        if (name == "value")
            filled += std::isnan(value) ? "nothing" : fmt::format("{:g}", value);
        else if (name == "threshold")
            filled += fmt::format("{:g}", rule.threshold);
        else if (name == "rule")
            filled += rule.name;
        else if (const auto label = labels.find(name); label != labels.end())
            filled += label->second;
        text.remove_prefix(close + 1);
    }
}

}  // namespace hostler::alert
