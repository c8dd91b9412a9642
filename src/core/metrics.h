// What a role shows of itself, in the text format of Prometheus (version 0.0.4).
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hostler {

// Each name once, with its help, its type and its values.
class MetricsPage {
public:
    enum class Type { gauge, counter };
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Begins a metric; its values follow. Names: hostler_ROLE_WHAT, counters end in _total.
    void begin(std::string_view name, std::string_view help, Type type);
    void value(Labels labels, std::integral auto of) { put(labels, std::to_string(of)); }

    void value(Labels labels, std::floating_point auto of) { put(labels, number(of)); }
    // The same with labels that many values share, as labels() made them.
    void row(std::string_view labels, std::integral auto of) { put_row(labels, std::to_string(of)); }
    void row(std::string_view labels, std::floating_point auto of) { put_row(labels, number(of)); }
    static std::string labels(Labels labels);

    // A metric of one value.
    void add(std::string_view name, std::string_view help, Type type, std::integral auto of) {
        begin(name, help, type);
        value({}, of);
    }
    // How much of a bounded thing there is, as NAME, and its bound, as NAME_max.
    void add_bounded(std::string_view name, std::string_view help, std::integral auto of,
                     std::integral auto max) {
        add(name, help, Type::gauge, of);
        add(std::string{name} + "_max", "The bound of " + std::string{name} + ".", Type::gauge, max);
    }

    const std::string& text() const { return text_; }

private:
    void put(Labels labels, std::string_view of) { put_row(MetricsPage::labels(labels), of); }
    void put_row(std::string_view labels, std::string_view of);
    static std::string number(double of);
    std::string text_;
    std::string name_;
};

// Of this process: memory, open files and their bound.
void write_process_metrics(MetricsPage& page);

}  // namespace hostler
