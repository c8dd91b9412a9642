#include "wire/renewal.h"

#include "proto/uplink.pb.h"

namespace hostler::wire {

namespace {

constexpr Duration answer_time = std::chrono::seconds{20};

}  // namespace

Task<Renewed> ask_certificate(Link& link, std::string request, std::string present) {
    uplink::Frame frame;
    frame.mutable_renew_request()->set_csr(std::move(request));
    frame.mutable_renew_request()->set_certificate(std::move(present));
    frame = CO_TRY(co_await link.ask(std::move(frame), answer_time));
    if (!frame.has_join_answer()) co_return fail(Code::unavailable, "the request to renew was not answered");
    auto& answer = *frame.mutable_join_answer();
    co_return Renewed{std::move(*answer.mutable_certificate()), std::move(*answer.mutable_authority())};
}

Task<> tell_holding(Link& link, std::string certificate, std::string authority) {
    uplink::Frame frame;
    frame.mutable_holding()->set_certificate(std::move(certificate));
    frame.mutable_holding()->set_authority(std::move(authority));
    co_return co_await link.send(std::move(frame));
}

}  // namespace hostler::wire
