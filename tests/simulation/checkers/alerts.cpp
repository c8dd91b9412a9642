#include "checkers/alerts.h"

#include <boost/json.hpp>

namespace hostler::simulation {

namespace json = boost::json;

Result<HttpAnswer> AlertInbox::take(const HttpCall& call) {
    if (away) return HttpAnswer{.status = 503};
    const json::object body = json::parse(call.body).as_object();
    for (const json::value& one : body.at("alerts").as_array()) {
        const json::object& alert = one.as_object();
        const json::object& labels = alert.at("labels").as_object();
        const json::value* host = labels.if_contains("host_name");
        words.push_back(
            {std::string{body.at("id").as_string()}, std::string{alert.at("fingerprint").as_string()},
             std::string{alert.at("status").as_string()}, std::string{alert.at("startsAt").as_string()},
             host ? std::string{host->as_string()} : ""});
    }
    return HttpAnswer{.status = deaf ? 500 : 200};
}

}  // namespace hostler::simulation
