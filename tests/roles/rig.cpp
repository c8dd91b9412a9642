#include "rig.h"

#include "wire/frame_cutter.h"

namespace hostler::rig {

namespace {

// Of an API key, "hk_NAME": what gateways may know it by.
std::string mark_of(const std::string& key) {
    return "mark of " + key.substr(std::min<std::size_t>(3, key.size()));
}

}  // namespace

World::World() {
    auto opened = net::open_authority(folder.path(), *random, timers->wall());
    EXPECT_TRUE(opened) << opened.error().message;
    authority = std::move(*opened);
}

std::shared_ptr<const Credentials> World::issue(const std::string& role, const std::string& id, Duration from,
                                                Duration life, const ServerNames& names) {
    const Identity identity{role, id};
    const auto key = net::make_keys()->make(identity).value();
    const auto certificate =
        authority
            ->sign(key.csr_pem, identity, names,
                   timers->wall() + std::chrono::floor<std::chrono::microseconds>(from), life)
            .value()
            .certificate;
    return std::make_shared<Credentials>(certificate, key.key_pem, authority->certificate());
}

Certified& World::certified(const std::string& role, const std::string& id, Duration from, Duration life,
                            const ServerNames& names) {
    return certifieds.emplace_back(issue(role, id, from, life, names), *keys,
                                   [this](std::string renewed, std::string) -> Task<> {
                                       renewals.push_back(std::move(renewed));
                                       co_return Result<>{};
                                   });
}

std::shared_ptr<const Credentials> World::stranger() {
    return std::make_shared<Credentials>("", "", authority->certificate());
}

bool World::eventually(const std::function<bool()>& so) {
    bool late = false;
    const Deadline deadline{*timers, 10s, [&] { late = true; }};
    loop.restart();
    while (!so() && !late) loop.run_one();
    return so();
}

void World::pass(Duration time) {
    bool over = false;
    const Deadline deadline{*timers, time, [&] { over = true; }};
    loop.restart();
    while (!over) loop.run_one();
}

Master::Master(World& world, std::uint64_t at) : epoch(at), world_(world) { serve(); }
Master::~Master() { vanish(); }

void Master::serve(std::string at) {
    listener_ = world_.go(world_.net->listen(at)).value();
    address = listener_->address();
    tasks_ = std::make_unique<TaskGroup>(world_.loop);
    tasks_->start("master", accept());
}

void Master::vanish() {
    if (!tasks_) return;
    (void)world_.go(tasks_->close());
    tasks_.reset();
    listener_.reset();
    sessions.clear();
}

Task<> Master::accept() {
    while (true) tasks_->start("link", link(CO_TRY(co_await listener_->accept())));
}

Task<> Master::link(StreamPtr raw) {
    auto stream = CO_TRY(co_await world_.net->secure(
        std::move(raw), {.own = world_.issue("master", "m-1"), .grace = 180 * 24h}, Side::server, 5s));
    wire::Link link{world_.loop, *world_.timers, std::move(stream)};
    const auto entry = links_.emplace(links_.end(), &link, link.identity().starts_with("access/"));
    while (true) {
        auto frame = co_await link.receive();
        if (!frame) break;
        obey(link, std::move(*frame));
    }
    links_.erase(entry);
    std::erase_if(places_, [&](const auto& row) { return row.second.link == &link; });
    co_return Result<>{};
}

// As `keys` has it; a ticket is used up.
std::string Master::credential_in(const uplink::EnterRequest& asked) {
    const bool of_page = asked.kind() == "explain" || asked.kind() == "start";
    if (of_page && !asked.detail().empty()) return asked.credential() + "@" + asked.detail();
    if (!asked.ticket()) return asked.credential();
    const auto one = tickets.extract(asked.credential());
    const bool good = one && one.mapped().instance == asked.instance() && one.mapped().kind == asked.kind() &&
                      one.mapped().origin == asked.origin();
    return good ? one.mapped().key : "";
}

std::string Master::key_in(const uplink::AuthenticateRequest& asked) const {
    if (!asked.mark()) return asked.credential() + (asked.route().empty() ? "" : "@") + asked.route();
    const auto known =
        std::ranges::find_if(keys, [&](const auto& key) { return mark_of(key.first) == asked.credential(); });
    return known == keys.end() ? "" : known->first;
}

void Master::obey(wire::Link& link, uplink::Frame frame) {
    if (frame.has_access_hello()) {
        access_hello = frame.access_hello();
        greet(link, true);
    } else if (frame.has_gateway_hello()) {
        greet(link, false);
    } else if (frame.has_session_up()) {
        const auto number = number_of(link, frame.session_up().session());
        sessions[number] = frame.session_up().host();
        if (listens) invite(number);
    } else if (frame.has_session_down()) {
        sessions.erase(number_of(link, frame.session_down().session()));
        ended.push_back(frame.session_down().why());
    } else if (frame.has_relayed()) {
        Heard said{number_of(link, frame.relayed().session()), {}};
        EXPECT_TRUE(said.frame.ParseFromString(frame.relayed().frame()));
        passed += frame.relayed().frame();
        if (listens) return feed(said.session, said.frame.sealed());
        heard.push_back(std::move(said));
    } else if (frame.has_renew_request()) {
        const std::string who{link.identity()};
        const auto slash = who.find('/');
        uplink::Frame answer;
        answer.set_answer_to(frame.call());
        answer.mutable_join_answer()->set_certificate(
            world_.authority
                ->sign(frame.renew_request().csr(), {who.substr(0, slash), who.substr(slash + 1)}, {},
                       world_.timers->wall() - 1h, 30 * 24h)
                .value()
                .certificate);
        EXPECT_TRUE(link.try_send(answer));
    } else if (frame.has_trusted_marks()) {
        uplink::Frame answer;
        answer.set_answer_to(frame.call());
        answer.mutable_credentials_ended();
        for (const std::string& mark : frame.trusted_marks().marks()) {
            const auto known = [&](const auto& key) { return mark == mark_of(key.first); };
            if (mark.starts_with("mark of ") && std::ranges::none_of(keys, known))
                answer.mutable_credentials_ended()->add_marks(mark);
        }
        EXPECT_TRUE(link.try_send(answer));
    } else if (frame.has_sign_out_request()) {
        const auto& asked = frame.sign_out_request();
        keys.erase(asked.session() + "@" + asked.route());
        signed_out.push_back(asked.session() + "@" + asked.route());
        uplink::Frame answer;
        answer.set_answer_to(frame.call());
        answer.mutable_sign_out_answer();
        EXPECT_TRUE(link.try_send(answer));
    } else if (frame.has_enter_request()) {
        const auto& asked = frame.enter_request();
        uplink::Frame answer;
        const bool of_page = asked.kind() == "explain" || asked.kind() == "start";
        const std::string credential = credential_in(asked);
        if (!keys.contains(credential) || (of_page && guests.contains(credential)) ||
            is_elsewhere(credential, asked.address()))
            answer = wire::failure_frame({Code::unauthenticated, "this is not known here",
                                          asked.ticket() ? "ticket_unknown" : "key_unknown"});
        else if (asked.kind() == "start" && !start_refused.empty())
            answer = wire::failure_frame({Code::exhausted, start_refused, "insufficient_capacity"});
        else
            for (auto& [name, route] : routes) {
                if (route.instance() != asked.instance()) continue;
                if (asked.kind() == "start") started.push_back(credential);
                *answer.mutable_enter_answer()->mutable_route() = route;
                answer.mutable_enter_answer()->set_by_address(bound.contains(credential));
                if (asked.ticket()) answer.mutable_enter_answer()->set_mark(mark_of(credential));
                if (of_page && !explanation.empty())
                    answer.mutable_enter_answer()->mutable_route()->set_detail(explanation);
            }
        answer.set_answer_to(frame.call());
        EXPECT_TRUE(link.try_send(answer));
    } else if (frame.has_authenticate_request() || frame.has_redeem_request()) {
        ++questions;
        uplink::Frame answer;
        answer.set_answer_to(frame.call());
        auto& word = *answer.mutable_authenticate_answer();
        if (frame.has_authenticate_request()) {
            const auto& asked = frame.authenticate_request();
            const auto key = keys.find(key_in(asked));
            const std::string credential =
                asked.mark() && key != keys.end() ? key->first : asked.credential();
            word.set_known(key != keys.end() && !is_elsewhere(credential, asked.address()));
            word.set_allowed(word.known() && key->second == asked.tenant());
            word.set_by_address(bound.contains(credential));
            word.set_valid_s(valid_s);
            if (word.known()) word.add_marks(mark_of(credential));
            if (const auto end = ends_s.find(credential); end != ends_s.end()) word.set_ends_s(end->second);
        } else if (const auto code =
                       codes.extract(frame.redeem_request().code() + "@" + frame.redeem_request().route())) {
            word.set_known(true);
            word.set_allowed(true);
            word.set_session(code.mapped());
        }
        if (!link.try_send(answer)) link.close();  // It broke meanwhile: whoever asked dials again.
    }
}

void Master::greet(wire::Link& link, bool access) {
    uplink::Frame frame;
    if (access) {
        frame.mutable_access_welcome()->set_epoch(epoch);
        frame.mutable_access_welcome()->set_zone("nj");
        for (const auto& host : revoked) frame.mutable_access_welcome()->add_revoked(host);
    } else {
        frame.mutable_routes()->set_epoch(epoch);
        frame.mutable_routes()->set_complete(true);
        frame.mutable_routes()->set_sign_in("http://console.example/sign-in");
        for (const auto& [name, route] : routes) *frame.mutable_routes()->add_routes() = route;
    }
    EXPECT_TRUE(link.try_send(frame));
}

void Master::tell_routes() {
    for (const auto& [link, access] : links_)
        if (!access) greet(*link, false);
}

void Master::cut_off(const std::string& host, bool is_revoked) {
    uplink::Frame frame;
    frame.mutable_cut_off()->set_host(host);
    frame.mutable_cut_off()->set_why("removed by its owner");
    frame.mutable_cut_off()->set_revoked(is_revoked);
    for (const auto& [link, access] : links_)
        if (access) EXPECT_TRUE(link->try_send(frame));
}

void Master::end_key(const std::string& key) {
    keys.erase(key);
    uplink::Frame frame;
    frame.mutable_credentials_ended()->add_marks(mark_of(key));
    for (const auto& [link, access] : links_)
        if (!access) EXPECT_TRUE(link->try_send(frame));
}

void Master::drain(bool draining) {
    uplink::Frame frame;
    frame.mutable_drain()->set_draining(draining);
    for (const auto& [link, access] : links_)
        if (access) EXPECT_TRUE(link->try_send(frame));
}

Task<uplink::Frame> Master::measure(std::string host) {
    uplink::Frame frame;
    frame.mutable_speed_request()->set_host(std::move(host));
    frame.mutable_speed_request()->set_busy_kbit_s(8'000);
    for (const auto& [link, access] : links_)
        if (access) co_return co_await link->ask(std::move(frame), 20s);
    co_return fail(Code::unavailable, "no access point is here");
}

std::uint64_t Master::number_of(wire::Link& link, std::uint64_t session) {
    for (const auto& [number, place] : places_)
        if (place.link == &link && place.session == session) return number;
    places_[++numbers_] = {.link = &link, .session = session};
    return numbers_;
}

Result<> Master::relay(std::uint64_t number, const uplink::Frame& said) {
    const auto place = places_.find(number);
    if (place == places_.end()) return fail(Code::unavailable, "its access point has gone");
    uplink::Frame frame;
    frame.mutable_relayed()->set_session(place->second.session);
    frame.mutable_relayed()->set_frame(said.SerializeAsString());
    passed += frame.relayed().frame();
    return place->second.link->try_send(frame);
}

void Master::invite(std::uint64_t number) {
    Place& place = places_.at(number);
    place.channel = ++channels_;
    place.open = nullptr;
    place.sealed = nullptr;
    uplink::Frame invitation;
    invitation.mutable_invite()->set_channel(place.channel);
    invitation.mutable_invite()->set_authority(world_.authority->certificate());
    EXPECT_TRUE(relay(number, invitation));
}

void Master::feed(std::uint64_t number, const uplink::Sealed& said) {
    Place& place = places_.at(number);
    if (said.channel() != place.channel) return;
    if (said.end()) return invite(number);
    if (!place.open) {
        place.open = std::make_unique<wire::Channel>(
            world_.loop, "host", [this, number, channel = place.channel](std::string piece) -> Task<> {
                uplink::Frame inner;
                inner.mutable_sealed()->set_channel(channel);
                inner.mutable_sealed()->set_bytes(std::move(piece));
                co_return relay(number, inner);
            });
        tasks_->start("sealed", converse(number, place.open->stream()));
    }
    (void)place.open->feed(said.bytes());
}

Task<> Master::converse(std::uint64_t number, StreamPtr raw) {
    Secure how{.own = world_.issue("master", "m-1"), .peer_required = false};
    auto stream = CO_TRY(co_await world_.net->secure(std::move(raw), std::move(how), Side::server, 5s));
    const auto link = std::make_shared<wire::Link>(world_.loop, *world_.timers, std::move(stream));
    if (const auto place = places_.find(number); place != places_.end()) place->second.sealed = link;
    while (auto frame = co_await link->receive()) heard.push_back({number, std::move(*frame)});
    co_return Result<>{};
}

void Master::say(std::uint64_t number, const uplink::Frame& said) {
    const auto place = places_.find(number);
    if (place != places_.end() && place->second.sealed)
        (void)place->second.sealed->try_send(said);
    else
        (void)relay(number, said);
}

Agent::Agent(World& world, std::string host, std::string uplink)
    : world_(world),
      host_(std::move(host)),
      credentials_(world.issue("host", host_)),
      tunnel_credentials_(credentials_),
      tasks_(world.loop) {
    tasks_.start("agent", live(std::move(uplink)));
}

Agent::~Agent() {
    if (link_) link_->close();
    (void)world_.go(tasks_.close());
}

Task<> Agent::live(std::string uplink_address) {
    auto raw = CO_TRY(co_await world_.net->dial(uplink_address, 5s));
    auto stream = CO_TRY(co_await world_.net->secure(std::move(raw), world_.secure(credentials_, "access/"),
                                                     Side::client, 5s));
    link_ = std::make_unique<wire::Link>(world_.loop, *world_.timers, std::move(stream));
    uplink::Frame hello;
    hello.mutable_sealed()->set_bytes(host_);
    CO_TRY(co_await link_->send(std::move(hello)));
    while (true) {
        auto frame = co_await link_->receive();
        if (!frame) co_return Result<>{};
        if (!frame->has_tunnel_order()) {
            received.push_back(std::move(*frame));
            continue;
        }
        orders.push_back(frame->tunnel_order().ticket());
        tunnel_address = frame->tunnel_order().tunnel_address();
        if (answers_) tasks_.start("tunnel", tunnel(std::move(*frame->mutable_tunnel_order())));
    }
}

Task<> Agent::tunnel(uplink::TunnelOrder order) {
    auto raw = CO_TRY(co_await world_.net->dial(order.tunnel_address(), 5s));
    CO_TRY(co_await write_all(*raw, "HOSTLER-TUNNEL/1 " + order.ticket() + "\n"));
    std::array<char, 3> ok{};
    CO_TRY(co_await read_exactly(*raw, ok));
    auto secured = co_await world_.net->secure(std::move(raw), world_.secure(tunnel_credentials_, "gateway/"),
                                               Side::server, 5s);
    if (!secured) co_return Result<>{};
    std::array<char, wire::frame_header_size> header{};
    CO_TRY(co_await read_exactly(**secured, header));
    std::string body(static_cast<unsigned char>(header[3]), '\0');
    CO_TRY(co_await read_exactly(**secured, body));
    uplink::Frame opening, answer;
    EXPECT_TRUE(opening.ParseFromString(body) && opening.has_tunnel_open());
    if (refuse_with.empty())
        answer.mutable_tunnel_ready();
    else
        answer = wire::failure_frame({Code::unavailable, "as told", refuse_with});
    std::string bytes;
    const auto begin = wire::append_header(bytes);
    answer.AppendToString(&bytes);
    wire::complete_header(bytes, begin);
    CO_TRY(co_await write_all(**secured, bytes));
    if (!refuse_with.empty()) co_return Result<>{};
    ++tunnels;
    if (origin) co_return co_await origin(std::move(*secured));
    const http::ServerLimits limits{.body_bytes_max = 1 << 30};
    const http::Handler handler = [this, instance = opening.tunnel_open().instance()](
                                      http::Exchange& exchange) { return handle(exchange, instance); };
    co_return co_await http::serve(std::move(*secured), *world_.timers, limits, handler);
}

Task<> Agent::handle(http::Exchange& exchange, std::string instance) {
    const auto path = std::string{exchange.request.path()};
    if (path == "/events") co_return co_await events_to(exchange);
    if (path == "/sink") co_return co_await sink(exchange);
    if (path == "/source") {
        std::uint64_t left = std::stoull(std::string{exchange.request.query()});
        CO_TRY(co_await exchange.start({200, {{"Content-Length", std::to_string(left)}}, {}}));
        const std::string piece(64 * 1024, 's');
        for (; left > 0; left -= std::min<std::uint64_t>(left, piece.size()))
            CO_TRY(co_await exchange.write(std::string_view{piece}.substr(0, left)));
        co_return co_await exchange.end();
    }
    if (exchange.wants_upgrade()) {
        const auto stream = CO_TRY(co_await exchange.upgrade({{"Upgrade", "websocket"}}));
        std::array<char, 512> bytes{};
        while (true) {
            const auto size = CO_TRY(co_await read_some(*stream, bytes));
            if (size == 0) co_return co_await stream->finish();
            CO_TRY(co_await write_all(*stream, std::string_view{bytes.data(), size}));
        }
    }
    http::Response response{.status = 200};
    response.headers = {{"X-Instance", instance},
                        {"Set-Cookie", "sid=1"},
                        {"Set-Cookie", "__hostler_session=evil; Path=/"},
                        {"Set-Cookie", "=__hostler_session=evil"},
                        {"Set-Cookie", "__Host-hostler_session=evil; Path=/; Secure"}};
    response.body = exchange.request.method + " " + exchange.request.target + "\n";
    for (const auto& [name, value] : exchange.request.headers) response.body += name + ": " + value + "\n";
    co_return co_await exchange.respond(std::move(response));
}

Task<> Agent::events_to(http::Exchange& exchange) {
    CO_TRY(co_await exchange.start({200, {{"Content-Type", "text/event-stream"}}, {}}));
    for (int sent = 0;; ++sent) {
        while (sent >= events) CO_TRY(co_await events_changed.wait());
        CO_TRY(co_await exchange.write("data: " + std::to_string(sent) + "\n\n"));
    }
}

Task<> Agent::sink(http::Exchange& exchange) {
    std::vector<char> into(64 * 1024);
    while (true) {
        while (sunk >= sink_max) CO_TRY(co_await sink_changed.wait());
        const auto size = CO_TRY(co_await exchange.read_body(into));
        if (size == 0) break;
        sunk += size;
    }
    co_return co_await exchange.respond(http::text_response(200, std::to_string(sunk)));
}

Cloud::Cloud(std::function<void(access::Settings&, gateway::Settings&)> change, Duration from,
             Duration life) {
    access::Settings of_access;
    of_access.masters = {master.address};
    of_access.uplink_listen = of_access.tunnel_listen = of_access.control_listen = "127.0.0.1:0";
    of_access.zone = "nj";
    gateway::Settings of_gateway;
    of_gateway.masters = {master.address};
    of_gateway.listen = "127.0.0.1:0";
    of_access.redial_ms = of_gateway.redial_ms = 20;
    of_access.redial_max_ms = of_gateway.redial_max_ms = 50;
    change(of_access, of_gateway);
    access = std::make_unique<access::Access>(
        of_access,
        access::Ports{loop, *timers, *net, *random, access_journal, certified("access", "nj-1", from, life)});
    gateway_own = &certified("gateway", "gw-1", from, life);
    gateway_settings = of_gateway;
    access_tasks->start("access", access->run());
    begin_gateway();
    EXPECT_TRUE(eventually([&] { return access->linked() && gateway->linked(); }));
}

void Cloud::begin_gateway() {
    gateway =
        std::make_unique<gateway::Gateway>(gateway_settings, gateway::Ports{.loop = loop,
                                                                            .timers = *timers,
                                                                            .net = *net,
                                                                            .random = *random,
                                                                            .journal = gateway_journal,
                                                                            .digest = digest,
                                                                            .own = *gateway_own,
                                                                            .arrival = gateway_arrival});
    gateway_tasks = std::make_unique<TaskGroup>(loop);
    gateway_tasks->start("gateway", gateway->run());
    EXPECT_TRUE(eventually([&] { return !gateway->address().empty(); }));
    gateway_settings.listen = gateway->address();
}

void Cloud::kill_gateway() {
    gateway_tasks->cancel();
    EXPECT_TRUE(eventually([&] { return gateway_tasks->size() == 0; }));
    gateway.reset();
}

Cloud::~Cloud() {
    (void)go(gateway_tasks->close());
    (void)go(access_tasks->close());
}

uplink::Route& Cloud::add_route(const std::string& name, const std::string& host, bool open_to_all) {
    auto& route = master.routes[name];
    route.set_name(name);
    route.set_tenant("t-a");
    route.set_instance("i-" + name);
    route.set_generation(1);
    route.set_port(8080);
    route.set_open_to_all(open_to_all);
    route.set_state("running");
    route.set_host(host);
    route.add_access(access->addresses().control);
    master.tell_routes();
    EXPECT_TRUE(eventually([&] { return gateway->routes().find(name) != nullptr; }));
    return route;
}

std::string Cloud::port() const { return gateway->address().substr(gateway->address().rfind(':') + 1); }
std::string Cloud::host_header(const std::string& name) const { return name + ".localhost:" + port(); }

http::Request Cloud::request(const std::string& name, std::string target) const {
    return {.target = std::move(target), .headers = {{"Host", host_header(name)}}};
}

http::Response Cloud::fetch(http::Request request) {
    auto response = go(client.fetch({gateway->address()}, std::move(request)));
    EXPECT_TRUE(response) << response.error().message;
    return response.value_or(http::Response{.status = 0});
}

}  // namespace hostler::rig
