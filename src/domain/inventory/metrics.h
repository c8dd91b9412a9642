// Samples as packed numbers, in the order in which the wire and the series carry them.
#pragma once

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

template <class Sample, class Visit>
constexpr void each_metric(Visit visit) {
    using Members = boost::describe::describe_members<Sample, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Members>([&](auto member) {
        using Field = std::remove_cvref_t<decltype(std::declval<Sample>().*decltype(member)::pointer)>;
        if constexpr (std::is_same_v<Field, Metric>) visit(std::string_view{member.name}, member.pointer);
    });
}

}  // namespace detail

// Every member of GpuSample or HostSample that is a Metric, as the struct declares them. New ones go to the
// end of their struct: an older peer then still reads those that it knows.
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

// The reverse. What is missing at the end, not finite, or beyond 2^62 is absent; what is too much is ignored.
template <class Sample>
void unpack_metrics(std::span<const double> values, Sample& into) {
    constexpr double metric_max = 4.6e18;
    std::size_t at = 0;
    detail::each_metric<Sample>([&](std::string_view, auto member) {
        const double value = at < values.size() ? values[at] : std::numeric_limits<double>::quiet_NaN();
        ++at;
        const bool usable = std::isfinite(value) && std::abs(value) <= metric_max;
        into.*member = usable ? Metric{static_cast<std::int64_t>(value)} : std::nullopt;
    });
}

}  // namespace hostler
