#include "roles/agent/master_link.h"

#include "proto/uplink.pb.h"

namespace hostler::agent {

void MasterLink::invite(const uplink::Invite& invitation) {
    drop("the master invites again");
    invited_ = invitation.channel();
    authority_ = invitation.authority();
    changed_.notify_all();
}

Task<> MasterLink::feed(uplink::Sealed sealed) {
    if (!channel_ || sealed.channel() != number_) co_return Result<>{};  // Of one that is over.
    if (sealed.end()) {
        drop("the master has ended the channel");
        co_return Result<>{};
    }
    if (!channel_->feed(std::move(*sealed.mutable_bytes()))) hang_up();
    if (channel_) co_return co_await channel_->calm();
    co_return Result<>{};
}

Task<std::string> MasterLink::invitation(std::shared_ptr<MasterLink> self, Duration deadline) {
    bool late = false;
    const Deadline limit{self->ports_.timers, deadline, [&] {
                             late = true;
                             self->changed_.notify_all();
                         }};
    while (!self->invited_ && !self->ended_ && !late) CO_TRY(co_await self->changed_.wait());
    if (self->ended_) co_return fail(Code::unavailable, "the connection ended");
    if (!self->invited_)
        co_return fail(Code::timeout, fmt::format("no master has invited us at {}", self->access_.address()));
    co_return self->authority_;
}

Task<std::shared_ptr<wire::Link>> MasterLink::open(std::shared_ptr<MasterLink> self,
                                                   std::shared_ptr<const Credentials> who,
                                                   Duration deadline) {
    if (self->ended_ || !self->invited_) co_return fail(Code::unavailable, "no master has invited us");
    const std::uint64_t number = self->number_ = *std::exchange(self->invited_, std::nullopt);
    const auto carry = [access = &self->access_, number](std::string piece) {
        uplink::Frame frame;
        frame.mutable_sealed()->set_channel(number);
        frame.mutable_sealed()->set_bytes(std::move(piece));
        return access->send(std::move(frame));
    };
    self->channel_ = std::make_unique<wire::Channel>(self->ports_.loop, "the master", carry);
    Secure how{.own = std::move(who), .peer_required = true, .expect = "master/"};
    auto stream =
        co_await self->ports_.net.secure(self->channel_->stream(), std::move(how), Side::client, deadline);
    if (self->number_ != number || !self->channel_)
        co_return fail(Code::unavailable, "the channel to the master ended");
    if (!stream) {
        self->hang_up();
        co_return std::unexpected(std::move(stream).error());
    }
    self->link_ = std::make_shared<wire::Link>(self->ports_.loop, self->ports_.timers, std::move(*stream));
    co_return self->link_;
}

void MasterLink::hang_up() {
    if (!channel_) return;
    const std::uint64_t number = number_;
    drop("it was ended here");
    uplink::Frame frame;
    frame.mutable_sealed()->set_channel(number);
    frame.mutable_sealed()->set_end(true);
    (void)access_.try_send(frame);  // A connection that is overrun ends by itself.
}

void MasterLink::end() {
    ended_ = true;
    invited_.reset();
    drop("the connection ended");
    changed_.notify_all();
}

void MasterLink::drop(const std::string& why) {
    if (channel_) channel_->end({Code::unavailable, why});
    channel_ = nullptr;
    if (link_) link_->close();
    link_ = nullptr;
}

}  // namespace hostler::agent
