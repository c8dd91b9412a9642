#include "domain/job/job.h"

#include <algorithm>

namespace hostler {

std::optional<NextElement> next_element(const Job& job, std::int64_t now) {
    if (job.held || is_final(job.phase) || job.phase == JobPhase::preempting) return std::nullopt;
    const std::int64_t at_most = job.spec.array.at_most;
    if (at_most > 0 && std::ssize(job.runs) >= at_most) return std::nullopt;
    const auto due =
        std::ranges::find_if(job.again, [&](const JobRetry& one) { return one.not_before <= now; });
    if (due != job.again.end()) return NextElement{due->position, due->attempt, due->failures};
    if (job.next < job.elements()) return NextElement{.position = job.next};
    return std::nullopt;
}

AfterEnd after_end(const Job& job, const JobRun& run, std::string_view reason) {
    if (reason == "completed") return AfterEnd::succeed;
    constexpr std::string_view for_all[] = {"time_limit", "cancelled", "image_missing"};
    if (std::ranges::count(for_all, reason) > 0) return AfterEnd::fail;
    const bool not_its_own = reason == "preempted" || reason == "host_lost" || reason == "host_removed";
    if (not_its_own) return run.attempt <= job_retries_max ? AfterEnd::retry : AfterEnd::fail;
    return run.failures < job.spec.retries ? AfterEnd::retry : AfterEnd::fail;
}

std::int64_t backoff_s(std::int64_t failures) {
    constexpr std::int64_t most = 300;
    return failures <= 0
               ? 0
               : std::min<std::int64_t>(std::int64_t{1} << std::min<std::int64_t>(failures, 9), most);
}

std::string name_of_task(const Job& job, const NextElement& element, std::int64_t rank) {
    const bool array = !job.spec.array.ranges.empty();
    std::string name = job.name;
    if (array) name += fmt::format(".{}", job.spec.array.index_at(element.position));
    if (!array || job.spec.gang) name += fmt::format(".{}", job.spec.gang ? rank : element.position);
    if (element.attempt > 1) name += fmt::format("-{}", element.attempt);
    return fmt::format("{}.{}", name, job.id.substr(job.id.find('-') + 1, 4));
}

}  // namespace hostler
