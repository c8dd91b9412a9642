#include "domain/scheduler/reclaim.h"

#include <algorithm>
#include <numeric>

namespace hostler {

namespace {

using Set = std::vector<std::size_t>;  // Numbers of spares.

class Search {
public:
    Search(const Candidate& host, const std::vector<Spare>& spares, const std::map<std::string, int>& at_most,
           const Demand& demand, const std::function<bool(const Candidate&)>& also, int& tries)
        : host_(host), spares_(spares), left_(at_most), demand_(demand), also_(also), tries_(tries) {}

    std::optional<Set> run() {
        Set all(spares_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (!fits_without(all)) return std::nullopt;
        for (std::size_t size = least(); size <= spares_.size() && tries_ > 0; ++size) {
            least_gpus_ = std::max(missing_gpus(), sum_of(size, &Search::gpus_of, std::less{}));
            extend(size, 0);
            if (best_) return best_;
        }
        return tries_ > 0 ? std::nullopt : needed();
    }

private:
    using Amount = std::int64_t (*)(const Spare&);
    static std::int64_t gpus_of(const Spare& spare) { return std::ssize(spare.gpus); }
    static std::int64_t cpu_of(const Spare& spare) { return spare.cpu_milli; }
    static std::int64_t memory_of(const Spare& spare) { return spare.memory_bytes; }

    // Of so many of them, the largest or the smallest.
    std::int64_t sum_of(std::size_t size, Amount of, auto order) const {
        std::vector<std::int64_t> amounts;
        for (const Spare& spare : spares_) amounts.push_back(of(spare));
        std::ranges::sort(amounts, order);
        return std::accumulate(amounts.begin(), amounts.begin() + static_cast<std::ptrdiff_t>(size),
                               std::int64_t{0});
    }
    std::int64_t missing_gpus() const {
        return demand_.gpu_count - std::ranges::count_if(host_.gpus, [&](const FreeGpu& gpu) {
                   return model_matches(demand_.gpu_type, gpu.model);
               });
    }
    // Fewer than this never do, by their numbers alone.
    std::size_t least() const {
        std::size_t size = 1;
        const auto lacks = [&](std::int64_t missing, Amount of) {
            return sum_of(size, of, std::greater{}) < missing;
        };
        while (size < spares_.size() &&
               (lacks(missing_gpus(), &Search::gpus_of) ||
                lacks(demand_.cpu_milli - host_.cpu_milli, &Search::cpu_of) ||
                lacks(demand_.memory_bytes - host_.memory_bytes, &Search::memory_of)))
            ++size;
        return size;
    }

    void extend(std::size_t more, std::size_t from) {
        if (more == 0) return consider();
        for (std::size_t i = from; i + more <= spares_.size() && tries_ > 0; ++i) {
            if (best_ && best_gpus_ <= least_gpus_) return;
            int& left = left_[spares_[i].kind];
            if (left < 1) continue;
            --left, chosen_.push_back(i);
            extend(more - 1, i + 1);
            ++left, chosen_.pop_back();
        }
    }
    void consider() {
        std::int64_t gpus = 0;
        for (const std::size_t i : chosen_) gpus += gpus_of(spares_[i]);
        if (best_ && gpus >= best_gpus_) return;
        --tries_;
        if (!fits_without(chosen_)) return;
        best_ = chosen_;
        best_gpus_ = gpus;
    }

    // As many as may go, without those that need not.
    std::optional<Set> needed() {
        Set set;
        for (std::size_t i = 0; i < spares_.size(); ++i)
            if (left_[spares_[i].kind]-- > 0) set.push_back(i);
        if (!fits_without(set)) return std::nullopt;
        for (std::size_t i = set.size(); i-- > 0;) {
            Set fewer = set;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (fits_without(fewer)) set = std::move(fewer);
        }
        return set;
    }

    bool fits_without(const Set& gone) const {
        Candidate host = host_;
        for (const std::size_t i : gone) {
            const Spare& spare = spares_[i];
            host.cpu_milli += spare.cpu_milli;
            host.memory_bytes += spare.memory_bytes;
            host.gpus.insert(host.gpus.end(), spare.gpus.begin(), spare.gpus.end());
            ++host.places;
        }
        return !unfit(demand_, host) && (!also_ || also_(host));
    }

    const Candidate& host_;
    const std::vector<Spare>& spares_;
    std::map<std::string, int> left_;
    const Demand& demand_;
    const std::function<bool(const Candidate&)>& also_;
    int& tries_;
    std::int64_t least_gpus_ = 0;
    Set chosen_;
    std::optional<Set> best_;
    std::int64_t best_gpus_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> fewest(const Candidate& host, const std::vector<Spare>& spares,
                                               const std::map<std::string, int>& at_most,
                                               const Demand& demand,
                                               const std::function<bool(const Candidate&)>& also,
                                               int& tries) {
    const auto set = Search{host, spares, at_most, demand, also, tries}.run();
    if (!set) return std::nullopt;
    std::vector<std::string> ids;
    for (const std::size_t i : *set) ids.push_back(spares[i].id);
    return ids;
}

}  // namespace hostler
