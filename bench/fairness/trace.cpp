#include "bench/fairness/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hostler::bench {

namespace {

std::string file_of(const std::string& path) {
    for (const char* below : {"jobs120_32gpu.csv", "shockwave/jobs120_32gpu.csv"})
        if (const auto file = std::filesystem::path{path} / below; std::filesystem::exists(file)) return file;
    return path;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> words;
    std::istringstream text{line};
    for (std::string word; std::getline(text, word, ',');) words.push_back(word);
    return words;
}

Result<double> number(const std::string& word, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0 && value <= most))
        return fail(Code::invalid, fmt::format("\"{}\" is not a number from 0 to {}", word, most));
    return value;
}

Result<std::int64_t> micros(const std::string& word) { return std::llround(TRY(number(word, 1e9)) * 1e6); }

Result<> add(JobTrace& trace, const std::vector<std::string>& names, const std::vector<std::string>& words) {
    constexpr std::string_view published = "jct_s_";
    if (words.size() != names.size())
        return fail(Code::invalid, "another number of columns than in the first line");
    TraceJob job;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == "job_id") job.id = words[i];
        if (names[i] == "arrival_s") job.arrival_us = TRY(micros(words[i]));
        if (names[i] == "exclusive_s") job.exclusive_us = TRY(micros(words[i]));
        if (names[i] == "gpus") job.gpus = static_cast<int>(TRY(number(words[i], 1'000)));
        if (names[i].starts_with(published))
            trace.others[names[i].substr(published.size())].push_back(TRY(micros(words[i])));
    }
    if (job.id.empty() || job.gpus < 1 || job.exclusive_us < 1)
        return fail(Code::invalid, "a job needs job_id, gpus and exclusive_s");
    if (!trace.jobs.empty() && job.arrival_us < trace.jobs.back().arrival_us)
        return fail(Code::invalid, "the jobs are not in the order of arrival_s");
    trace.jobs.push_back(std::move(job));
    return {};
}

}  // namespace

Result<JobTrace> read_jobs(const std::string& path) {
    const std::string name = file_of(path);
    std::ifstream file{name};
    JobTrace trace;
    std::vector<std::string> names;
    std::string line;
    for (int at = 1; std::getline(file, line); ++at) {
        if (line.ends_with('\r')) line.pop_back();
        if (at == 1)
            names = split(line);
        else if (const auto added = add(trace, names, split(line)); !added)
            return fail(Code::invalid, fmt::format("{}:{}: {}", name, at, added.error().message));
    }
    if (trace.jobs.empty()) return fail(Code::invalid, fmt::format("{} has no jobs", name));
    return trace;
}

}  // namespace hostler::bench
