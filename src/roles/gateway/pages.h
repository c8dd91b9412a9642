// What the gateway itself answers in an instance's place: a page for people, problem details (RFC 9457) for
// programs.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace hostler::gateway {

// Each has a status, a stable code for programs, and words for people.
enum class Notice {
    no_such_instance,     // 404: nobody has this name, or no longer.
    not_ours,             // 421: a host name that is not below this gateway's domain.
    starting,             // 503, looks again by itself.
    stopping,             // 503
    resting,              // 503: stopped for now.
    not_started,          // 409: it cannot be started now.
    stopped,              // 410
    failed,               // 503
    lost,                 // 503
    sign_in,              // 401
    not_yours,            // 403
    other_origin,         // 403
    code_refused,         // 403: a sign-in link that was used or is too old.
    signed_out,           // 200
    sign_in_unavailable,  // 503: no master answers, and nothing is known of this credential.
    upstream_failed,      // 502
    upstream_late,        // 504
    too_busy,             // 503
    too_many,             // 429
    bad_path,             // 404: below /.hostler/
    bad_host,             // 400
    bad_request,          // 400
    not_ready,            // 503: no master has told us the routes yet.
};

struct Page {
    Notice notice = Notice::no_such_instance;
    std::string about{};      // The instance, by the name its people know; "" when it may not be told.
    std::string detail{};     // A sentence about this case; "" for none.
    std::string link{};       // Where to go on, and
    std::string link_text{};  // what it says there.
    std::string button_to{};  // A path of the same origin to which a button posts, and
    std::string button{};     // what the button says.
};

enum class Reader { person, program };

int status_of(Notice notice);
// `nonce`: fresh for each page; the page's own style is allowed by it, and nothing else is.
http::Response answer(const Page& page, Reader reader, std::string_view nonce);

// Who reads the answer: a browser that shows a page, or a program.
Reader reader_of(std::string_view method, std::string_view accept);
Reader reader_of(std::string_view accept);

// At the gateway's own address. `api`: where the API is; empty: not known yet.
http::Response front_door_answer(std::string api, Reader reader, std::string_view nonce);

std::string json_text(std::string_view text);  // Quoted and escaped; what is not UTF-8 is replaced.

}  // namespace hostler::gateway
