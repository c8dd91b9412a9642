// Makes a report of what the series say, stretch of time by stretch of time.
#pragma once

#include <functional>
#include <set>

#include "domain/report/cost.h"
#include "domain/report/rules.h"

namespace hostler::report {

enum class Depth { usage, all };  // `usage` asks for less: there are no verdicts but `idle`.

struct Question {
    Millis from = 0;
    Millis to = 0;
    Millis step = 300'000;        // Steps begin at multiples of it.
    Millis interval = 10'000;     // A sample stands for so long.
    std::vector<std::string> by;  // Labels of GPUs; "instance" is "workload"; "day", "hour".
    Depth depth = Depth::all;
    // How many GPUs these hosts have. Where it is set, what a host does counts only while all its GPUs are
    // among those that are looked at: else it tells of others.
    std::optional<std::map<std::string, int>> hosts_gpus{};
    // Of a report up to now: "host/GPU/tenant/workload" of each GPU that an instance holds at its end. What
    // does not is not idle still. Unset: whatever was idle to the end is.
    std::optional<std::set<std::string>> held{};
    PriceList prices{};  // A step costs what held when it began.
};

inline std::string held_name(std::string_view host, std::string_view gpu, std::string_view tenant,
                             std::string_view workload) {
    return fmt::format("{}/{}/{}/{}", host, gpu, tenant, workload);
}

// One question to the series; its answer is handed to Builder::take().
struct Ask {
    std::string_view metric;
    series::Over over = series::Over::avg;
    Measured of = Measured::gpu;
    std::optional<Figure> figure{};  // nullopt: how many samples there are.
};
std::vector<Ask> asks_of(Depth depth);

inline constexpr std::string_view stretch_too_large = "stretch_too_large";
inline constexpr std::size_t cells_max =
    500'000;                                    // GPUs, each with each of its holders, × steps of a stretch.
inline constexpr std::size_t slices_max = 120;  // Of the timeline.
inline constexpr Millis step_max = 3'600'000;   // A longer one would hide what is idle.

// The usual step for so long a time.
Millis usual_step(Millis span);

class Builder {
public:
    explicit Builder(Question question);

    // A stretch begins: [from, to) of the question, whole steps. Then take() of each ask, then work() until
    // it answers false.
    void begin(Millis from, Millis to);
    // Lines as Across::none makes them, of a query from `from` to `to`. Errors: exhausted
    // (stretch_too_large).
    Result<> take(const Ask& ask, std::vector<series::Line> lines);
    // Of the GPUs that were taken.
    std::vector<std::string> hosts() const;
    // Some of what was taken. Whether there is more. Errors: exhausted (report_too_large).
    Result<bool> work();

    // `top`: only so many groups of each section; 0: all.
    Report finish(std::size_t top) &&;

private:
    struct Row {
        std::vector<float> samples;                               // A number a step.
        std::array<std::vector<float>, figures_count> figures{};  // Empty: not measured.
    };
    struct Mean {
        double sum = 0;
        double weight = 0;
        void add(double value, double by);
        std::optional<double> value() const;
    };
    struct Bound {
        double seconds = 0;
        std::map<Figure, Mean> evidence;
    };
    struct Seconds {
        double measured = 0, claimed = 0, other = 0, busy = 0, idle = 0, unknown = 0;
    };
    struct Group {
        Seconds sums;
        Sums idle_cost;
        std::set<std::string> devices;
        Mean memory, idle_memory;
        double energy = 0, idle_energy = 0;  // Ws.
        double longest = 0;                  // Seconds.
        Millis idle_since = 0;
        std::map<Verdict, Bound> bounds;
    };
    struct Run {  // Of idleness, of one GPU with one holder.
        Millis since = 0;
        Millis until = 0;
        double seconds = 0;
        Group* group = nullptr;
    };
    enum class Use { free, claimed, other };

    void prepare();
    Result<> add(const series::Labels& labels, const Row& row);
    void add_cell(Group& group, Use use, const Figures& figures, double seconds, const PriceSpan* price);
    std::span<const PriceSpan> spans_of(const series::Labels& labels);
    void add_run(const series::Labels& labels, Group& group, Millis from, double seconds, bool idle);
    bool whole_host(const std::string& host, std::size_t step) const;
    Figures figures_at(const series::Labels& labels, const Row& row, std::size_t step) const;
    Result<Group*> group_of(const series::Labels& labels, Millis time);
    UsageLine usage_line(const Labels& labels, const Group& group) const;
    WasteLine waste_line(const Labels& labels, const Group& group) const;
    void add_findings(Report& to, const Labels& labels, const Group& group) const;
    std::vector<Slice> timeline() const;

    Question question_;
    bool by_time_ = false;
    Millis slice_ = 0;  // Length of the timeline's.
    // Of the stretch:
    Millis from_ = 0, to_ = 0;
    std::size_t steps_ = 0;
    std::map<series::Labels, Row> rows_;
    std::map<std::string, Row> hosts_;                         // By id.
    std::map<std::string, std::vector<float>> device_counts_;  // Samples, with whichever holder, by step.
    std::map<std::string, std::vector<int>> host_devices_;     // GPUs with samples, by step.
    std::map<series::Labels, Row>::const_iterator next_;       // For work().
    bool prepared_ = false;
    // Of all of it:
    std::map<Labels, Group> groups_;
    Group total_;
    std::map<series::Labels, Run> runs_;
    std::map<Millis, Seconds> slices_;
    std::map<std::pair<std::string, std::string>, std::vector<PriceSpan>> price_spans_;  // By host and model.
};

}  // namespace hostler::report
