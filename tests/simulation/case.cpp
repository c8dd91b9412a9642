#include "case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace hostler::simulation {

namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 3> weathers = {"calm", "deaths", "everything"};

std::unexpected<Error> wrong(std::string_view part) {
    return fail(Code::invalid,
                fmt::format("'{}' is no part of a case, as seed=7,hosts=1,storm=40,strikes=master.2", part));
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(at), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

template <class Number>
bool read(std::string_view text, Number& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && end == text.data() + text.size() && into >= 0;
}

std::set<std::string> names(std::string_view text) {
    std::set<std::string> all;
    for (const auto name : split(text, '+')) all.emplace(name);
    return all;
}

// Tries one smaller case after the other, and keeps what still fails alike.
class Shrinker {
public:
    Shrinker(const Case& failing, const Verdict& seen, const Judge& judge, int runs_max)
        : judge_(judge), runs_max_(runs_max), best_{failing, seen} {}

    Shrunk run() {
        // From here on by name: what is left out stays out.
        best_.smallest.strikes =
            std::set<std::string>{best_.verdict.strikes.begin(), best_.verdict.strikes.end()};
        best_.smallest.conditions =
            std::set<std::string>{best_.verdict.conditions.begin(), best_.verdict.conditions.end()};
        for (bool smaller = true; smaller && best_.runs < runs_max_;) {
            smaller = false;
            smaller |= shorten();
            smaller |= lower(&Case::tenants, 1);
            smaller |= lower(&Case::hosts, 1);
            smaller |= leave_out(&Case::strikes);
            smaller |= leave_out(&Case::conditions);
            smaller |= fewer_actions();
        }
        return best_;
    }

private:
    bool accept(Case smaller) {
        if (best_.runs >= runs_max_) return false;
        ++best_.runs;
        Verdict verdict = judge_(smaller);
        if (verdict.broken != best_.verdict.broken) return false;
        best_.smallest = std::move(smaller);
        best_.verdict = std::move(verdict);
        return true;
    }

    // To when it was found, and by halves.
    bool shorten() {
        bool any = false;
        // Who crashed has not told when.
        const auto at = std::chrono::ceil<seconds>(best_.verdict.found_at);
        for (Duration wanted : {Duration{at}, best_.smallest.storm / 2, best_.smallest.storm * 3 / 4,
                                best_.smallest.storm - seconds{5}, best_.smallest.storm - seconds{1}}) {
            wanted = std::chrono::floor<seconds>(wanted);
            if (wanted >= best_.smallest.storm || wanted < seconds{1}) continue;
            Case smaller = best_.smallest;
            smaller.storm = wanted;
            any |= accept(std::move(smaller));
        }
        return any;
    }

    bool lower(int Case::* count, int least) {
        bool any = false;
        while (best_.smallest.*count > least) {
            Case smaller = best_.smallest;
            --(smaller.*count);
            if (!accept(std::move(smaller))) break;
            any = true;
        }
        return any;
    }

    bool fewer_actions() {
        bool any = false;
        int low = -1;  // So few are not enough.
        for (int high = std::min(best_.smallest.actions_max, 64); high - low > 1;) {
            const int middle = low < 0 && high > 1 ? high / 2 : (low + high) / 2;
            Case smaller = best_.smallest;
            smaller.actions_max = std::max(middle, 0);
            if (smaller.actions_max < best_.smallest.actions_max && accept(std::move(smaller))) {
                high = middle;
                any = true;
            } else {
                low = middle;
            }
        }
        return any;
    }

    // Large parts first, then smaller ones, down to each alone.
    bool leave_out(std::optional<std::set<std::string>> Case::* which) {
        bool any = false;
        for (std::size_t part = (best_.smallest.*which)->size(); part > 0; part /= 2) {
            const std::vector<std::string> all{(best_.smallest.*which)->begin(),
                                               (best_.smallest.*which)->end()};
            for (std::size_t first = 0; first < all.size(); first += part) {
                Case smaller = best_.smallest;
                for (std::size_t i = first; i < std::min(first + part, all.size()); ++i)
                    (smaller.*which)->erase(all[i]);
                any |= accept(std::move(smaller));
            }
        }
        return any;
    }

    const Judge& judge_;
    const int runs_max_;
    Shrunk best_;
};

}  // namespace

std::string text_of(const Case& of) {
    const Case usual;
    std::string text = fmt::format("seed={}", of.seed);
    if (of.weather != usual.weather)
        text += fmt::format(",weather={}", weathers[static_cast<std::size_t>(of.weather)]);
    if (of.masters != usual.masters) text += fmt::format(",masters={}", of.masters);
    if (!of.synchronous) text += ",standby=asynchronous";
    if (of.hosts != usual.hosts) text += fmt::format(",hosts={}", of.hosts);
    if (of.tenants != usual.tenants) text += fmt::format(",tenants={}", of.tenants);
    if (of.jobs) text += ",jobs=1";
    if (of.clusters) text += ",clusters=1";
    if (of.actions_max != usual.actions_max) text += fmt::format(",actions={}", of.actions_max);
    if (of.storm != usual.storm) text += fmt::format(",storm={}", of.storm / seconds{1});
    if (of.strikes) text += fmt::format(",strikes={}", fmt::join(*of.strikes, "+"));
    if (of.conditions) text += fmt::format(",conditions={}", fmt::join(*of.conditions, "+"));
    return text;
}

Result<Case> parse_case(std::string_view text) {
    Case result;
    for (const auto part : split(text, ',')) {
        const auto equals = part.find('=');
        if (equals == std::string_view::npos) return wrong(part);
        const auto key = part.substr(0, equals), value = part.substr(equals + 1);
        bool good = true;
        std::int64_t storm_s = result.storm / seconds{1};
        if (key == "seed") {
            good = read(value, result.seed);
        } else if (key == "weather") {
            const auto found = std::ranges::find(weathers, value);
            good = found != weathers.end();
            if (good) result.weather = static_cast<Weather>(found - weathers.begin());
        } else if (key == "masters") {
            good = read(value, result.masters) && result.masters > 0;
        } else if (key == "standby") {
            good = value == "asynchronous" || value == "synchronous";
            result.synchronous = value == "synchronous";
        } else if (key == "hosts") {
            good = read(value, result.hosts) && result.hosts > 0;
        } else if (key == "tenants") {
            good = read(value, result.tenants) && result.tenants > 0 && result.tenants <= Case::tenants_max;
        } else if (key == "actions") {
            good = read(value, result.actions_max);
        } else if (key == "jobs") {
            good = value == "0" || value == "1";
            result.jobs = value == "1";
        } else if (key == "clusters") {
            good = value == "0" || value == "1";
            result.clusters = value == "1";
            constexpr std::chrono::minutes calm_max{30};  // Hosts that could not be cleaned rest.
            if (result.clusters) result.calm_max = calm_max;
        } else if (key == "storm") {
            good = read(value, storm_s);
            result.storm = seconds{storm_s};
        } else if (key == "strikes") {
            result.strikes = names(value);
        } else if (key == "conditions") {
            result.conditions = names(value);
        } else {
            good = false;
        }
        if (!good) return wrong(part);
    }
    return result;
}

Shrunk shrink(const Case& failing, const Verdict& seen, const Judge& judge, int runs_max) {
    return Shrinker{failing, seen, judge, runs_max}.run();
}

}  // namespace hostler::simulation
