#include "roles/master/browser/link.h"

#include "roles/master/browser/page.h"
#include "roles/master/browser/sign_in_page.h"
#include "roles/master/browser/steps.h"
#include "roles/master/http/forward.h"

namespace hostler::master {

std::string LinkRequest::field(std::string_view name) const { return form_field(body, name); }

Task<> respond_page(http::Exchange& exchange, int status, std::string html) {
    co_return co_await exchange.respond(page_response(status, std::move(html)));
}

Task<> refuse_link(http::Exchange& exchange, const LinkPage& page, int status, std::string_view complaint) {
    co_return co_await respond_page(exchange, status,
                                    sign_in_notice(page.title, sentence(complaint), NoticeTone::bad));
}

Task<> refuse_link_without_leader(http::Exchange& exchange, const LinkPage& page) {
    co_return co_await refuse_link(exchange, page, http_status(Code::unavailable),
                                   "This master leads no longer. Try again.");
}

Task<> answer_link(http::Exchange& exchange, Api& api_service, std::string api, LinkPage page) {
    const TermPtr term = CO_TRY(api_service.leader());
    const bool post = exchange.request.method == "POST";
    while (api.ends_with('/')) api.pop_back();
    LinkRequest asked{.body = {}, .api = std::move(api), .caller = stranger_of(exchange)};
    asked.body =
        post ? CO_TRY(co_await exchange.read_all(form_bytes_max)) : std::string{exchange.request.query()};
    if (term->ended()) co_return co_await refuse_link_without_leader(exchange, page);
    if (post && is_from_elsewhere(exchange, term->settings().public_url))
        co_return co_await refuse_link(exchange, page, http_status(Code::forbidden),
                                       "A page of another origin asked for this. Open the address again.");
    if (!post) co_return co_await page.show(exchange, term, asked);
    co_return co_await page.take(exchange, api_service, term, asked);
}

}  // namespace hostler::master
