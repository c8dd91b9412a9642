// What masters said about credentials, kept for as long as they allow.
#pragma once

#include <compare>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler::gateway {

struct Verdict {
    bool known = false;    // Somebody has this credential,
    bool allowed = false;  // and may use what lies there.
    std::string principal{};
    std::vector<std::string> groups{};  // In a cluster; empty: it is about none.
    bool operator==(const Verdict&) const = default;
};

// What is asked: may whoever has this credential use what lies in this project of the tenant?
struct Question {
    // Of `route` when the credential is no secret but a mark: what a master named for a ticket. No route has
    // such a name, so that a client cannot show a mark in place of a key.
    static constexpr std::string_view of_mark = "/";
    // Of a cluster, the route of its API server follows.
    bool is_mark() const { return route == of_mark || route.starts_with("//"); }

    std::string credential;
    std::string tenant;
    std::string route;      // Of a session: where it is shown. Empty: it is an API key.
    std::string project{};  // Where the instance lies.
    std::string address{};  // Where the client is; empty: the answer is the same for all addresses.
    auto operator<=>(const Question&) const = default;
    Question from_anywhere() const { return {credential, tenant, route, project, ""}; }
};

// Bounded: the one asked for longest ago goes first.
class Verdicts {
public:
    explicit Verdicts(std::size_t size_max) : size_max_(size_max) {}

    std::optional<Verdict> find(const Question& question, Instant now);
    void keep(const Question& question, Verdict verdict, Instant now, Duration valid);
    void forget(const Question& question);
    void forget(const std::string& credential);  // Wherever it is shown.
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        Question question;
        Verdict verdict;
        Instant until{};
    };
    std::size_t size_max_;
    std::list<Entry> entries_;  // The one asked for last in front.
    std::map<Question, std::list<Entry>::iterator> by_question_;
};

}  // namespace hostler::gateway
