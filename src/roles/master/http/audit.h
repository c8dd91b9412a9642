// Who did what to which object, and what that was before: one line for each operation of the API that changes
// something. A new one does not compile until it says here what it is about.
#pragma once

#include <fmt/format.h>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

struct Subject {
    std::string name{};     // Kind and id: "volume/v-…"; empty: it has none yet.
    std::string tenant{};   // Owning tenant; empty: the operator.
    std::string shown{};    // As the API shows it, so without secrets; empty: it is not there.
    std::string project{};  // Empty: it is in none.
    std::string zone{};     // Empty: it is where its host is, or nowhere.
    std::string host{};     // Empty: it is on none.
};

// Of a row of the estate.
template <class Row>
Subject subject_named(const Row& row, std::string shown) {
    Subject subject{fmt::format("{}/{}", Kind<Row>::name, Kind<Row>::id(row)), Kind<Row>::tenant(row),
                    std::move(shown)};
    if constexpr (requires { subject.project = row.project; }) subject.project = row.project;
    if constexpr (requires { subject.zone = row.zone; }) subject.zone = row.zone;
    if constexpr (requires { subject.host = row.host; }) subject.host = row.host;
    return subject;
}

// `Subject subject_of(const Desk&, const api::Call&, const Request&)` says what a request is about, as it is
// now. It stands beside the handler, and is found by its arguments. subject_after() says the same once it is
// done: some things have their name from the response alone.
template <class Request, class Response>
Subject subject_after(const Desk& desk, const api::Call& call, const Request& request, const Response&) {
    return subject_of(desk, call, request);
}

void audit(Desk& desk, const api::Call& call, Subject before, Subject after);

}  // namespace hostler::master
