#include "wire/renewal.h"

#include "proto/uplink.pb.h"

namespace hostler::wire {

namespace {

constexpr Duration answer_time = std::chrono::seconds{20};

}  // namespace

Task<std::string> ask_certificate(Link& link, std::string request, std::string present) {
    uplink::Frame frame;
    frame.mutable_renew_request()->set_csr(std::move(request));
    frame.mutable_renew_request()->set_certificate(std::move(present));
    frame = CO_TRY(co_await link.ask(std::move(frame), answer_time));
    if (!frame.has_join_answer()) co_return fail(Code::unavailable, "the request to renew was not answered");
    co_return std::move(*frame.mutable_join_answer()->mutable_certificate());
}

}  // namespace hostler::wire
