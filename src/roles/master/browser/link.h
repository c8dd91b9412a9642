// Pages that a link with a secret opens in a browser: a form, and what its answer does. The secret is in the
// address and then in the form, so these pages are in no cache, and no other site learns where they are.
#pragma once

#include <string>

#include "http/server.h"
#include "roles/master/http/api.h"

namespace hostler::master {

// Parts that a request of such a page has.
struct LinkRequest {
    std::string body;    // Or the query.
    std::string api;     // How people reach it.
    api::Caller caller;  // A stranger.
    std::string field(std::string_view name) const;
};

struct LinkPage {
    std::string_view title;  // Of refusals: "Invitation".
    Task<> (*show)(http::Exchange&, TermPtr, const LinkRequest&);
    Task<> (*take)(http::Exchange&, Api&, TermPtr, const LinkRequest&);  // The form, of our own origin.
};

Task<> answer_link(http::Exchange& exchange, Api& api_service, std::string api, LinkPage page);

Task<> respond_page(http::Exchange& exchange, int status, std::string html);
Task<> refuse_link(http::Exchange& exchange, const LinkPage& page, int status, std::string_view complaint);
Task<> refuse_link_without_leader(http::Exchange& exchange, const LinkPage& page);

}  // namespace hostler::master
