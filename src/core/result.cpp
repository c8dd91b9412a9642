#include "core/result.h"

#include <cstdio>
#include <cstdlib>

namespace hostler {

std::string_view name(Code code) {
    switch (code) {
        case Code::invalid: return "invalid";
        case Code::unauthenticated: return "unauthenticated";
        case Code::forbidden: return "forbidden";
        case Code::not_found: return "not_found";
        case Code::conflict: return "conflict";
        case Code::exhausted: return "exhausted";
        case Code::unavailable: return "unavailable";
        case Code::timeout: return "timeout";
        case Code::cancelled: return "cancelled";
        case Code::internal: return "internal";
    }
    broken("a code outside its enum", __FILE__, __LINE__);
}

int http_status(Code code) {
    switch (code) {
        case Code::invalid: return 400;
        case Code::unauthenticated: return 401;
        case Code::forbidden: return 403;
        case Code::not_found: return 404;
        case Code::conflict: return 409;
        case Code::exhausted: return 429;
        case Code::unavailable: return 503;
        case Code::timeout: return 504;
        case Code::cancelled: return 499;
        case Code::internal: return 500;
    }
    broken("a code outside its enum", __FILE__, __LINE__);
}

bool may_retry(Code code) {
    return code == Code::unavailable || code == Code::timeout || code == Code::exhausted;
}

void broken(const char* what, const char* file, int line) {
    std::fprintf(stderr, "hostler: broken: %s at %s:%d\n", what, file, line);
    std::abort();
}

}  // namespace hostler
