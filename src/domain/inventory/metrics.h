// Samples as packed numbers, in the order in which the wire and the series carry them.
#pragma once

#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "domain/inventory/sample.h"

namespace hostler {

namespace detail {

// Its own members, then those of what it derives from.
template <class Sample, class Visit>
constexpr void each_metric(Visit visit) {
    using Members = boost::describe::describe_members<Sample, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Members>([&](auto member) {
        using Field = std::remove_cvref_t<decltype(std::declval<Sample>().*decltype(member)::pointer)>;
        if constexpr (std::is_same_v<Field, Metric>) visit(std::string_view{member.name}, member.pointer);
    });
    using Bases = boost::describe::describe_bases<Sample, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Bases>([&](auto base) { each_metric<typename decltype(base)::type>(visit); });
}

template <class Sample>
std::vector<Metric Sample::*> metric_members() {
    std::vector<Metric Sample::*> members;
    each_metric<Sample>([&](std::string_view, auto member) { members.push_back(member); });
    return members;
}

}  // namespace detail

// Every member of GpuSample or HostSample that is a Metric, as the struct declares them. New ones go to the
// end of their struct: a peer that was told no order still reads those that it knows.
template <class Sample>
std::vector<std::string_view> metric_names() {
    std::vector<std::string_view> names;
    detail::each_metric<Sample>([&](std::string_view name, auto) { names.push_back(name); });
    return names;
}

// In the order of metric_names(); NaN stands for what was not measured. Exact up to 2^53.
template <class Sample>
std::vector<double> pack_metrics(const Sample& sample) {
    std::vector<double> values;
    detail::each_metric<Sample>([&](std::string_view, auto member) {
        const Metric& metric = sample.*member;
        values.push_back(metric ? static_cast<double>(*metric) : std::numeric_limits<double>::quiet_NaN());
    });
    return values;
}

namespace detail {

inline Metric metric_of(double value) {
    constexpr double metric_max = 4.6e18;
    const bool usable = std::isfinite(value) && std::abs(value) <= metric_max;
    return usable ? Metric{static_cast<std::int64_t>(value)} : std::nullopt;
}

}  // namespace detail

// The reverse. What is missing at the end, not finite, or beyond 2^62 is absent; what is too much is ignored.
template <class Sample>
void unpack_metrics(std::span<const double> values, Sample& into) {
    std::size_t at = 0;
    detail::each_metric<Sample>([&](std::string_view, auto member) {
        into.*member = at < values.size() ? detail::metric_of(values[at]) : std::nullopt;
        ++at;
    });
}

// Where a peer's values go: for each of the metrics that it named its place in metric_names(), or none.
struct MetricOrder {
    std::vector<int> places;  // -1: one that is not known here. Empty: as metric_names().
    static constexpr std::size_t names_max = 1024;
};

template <class Sample, class Names>
MetricOrder metric_order(const Names& told) {
    MetricOrder order;
    const auto known = metric_names<Sample>();
    for (const auto& name : told) {
        if (order.places.size() == MetricOrder::names_max) break;
        int at = static_cast<int>(known.size()) - 1;
        while (at >= 0 && known[static_cast<std::size_t>(at)] != std::string_view{name}) --at;
        order.places.push_back(at);
    }
    return order;
}

// As unpack_metrics(), of values in a peer's order.
template <class Sample>
void unpack_metrics(std::span<const double> values, const MetricOrder& order, Sample& into) {
    if (order.places.empty()) return unpack_metrics(values, into);
    static const auto members = detail::metric_members<Sample>();
    for (const auto member : members) into.*member = std::nullopt;
    for (std::size_t i = 0; i < std::min(values.size(), order.places.size()); ++i)
        if (order.places[i] >= 0)
            into.*members[static_cast<std::size_t>(order.places[i])] = detail::metric_of(values[i]);
}

}  // namespace hostler
