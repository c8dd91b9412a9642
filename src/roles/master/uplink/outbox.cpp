#include "roles/master/uplink/outbox.h"

#include <algorithm>

#include "domain/policy/policy.h"
#include "proto/uplink.pb.h"
#include "roles/master/cluster/access.h"
#include "roles/master/http/caller.h"
#include "roles/master/share/shares.h"
#include "roles/master/uplink/messages.h"
#include "wire/link.h"

namespace hostler::master {

using std::chrono::seconds;

Outbox& Outbox::of(Term& term) {
    return term.part<Outbox>([&] { return std::make_shared<Outbox>(term); });
}

Outbox::Outbox(Term& term) : term_(term) {
    for (const auto& [id, tenant] : term.look().estate.tenants.all())
        if (tenant.disabled_at != 0) disabled_.emplace(Kind<Tenant>::name, id);
    for (const auto& [id, project] : term.look().estate.projects.all())
        if (project.disabled_at != 0) disabled_.emplace(Kind<Project>::name, id);
}

// ── Commands

void Outbox::send(const HostCommand& command) {
    if (command.meta.created == 0 || command.meta.created > term_.durable())
        return;  // Intent is durable before any act.
    const Instant now = term_.ports().timers.now();
    uplink::Frame frame;
    const bool sent = write_command(term_.look(), term_.epoch(), command, *frame.mutable_command()) &&
                      term_.send_to_host(command.host, frame);
    due_.set(command.id, now + (sent ? seconds{30} : seconds{1}));
}

void Outbox::send_commands(const std::string& host) {
    for (const HostCommand* command : term_.look().estate.commands.by().host.of(host)) send(*command);
}

void Outbox::send_again() {
    const auto& commands = term_.look().estate.commands;
    if (!std::exchange(begun_, true))
        for (const auto& [id, command] : commands.all()) send(command);
    for (const std::string& id : due_.due(term_.ports().timers.now())) {
        if (const HostCommand* command = commands.find(id))
            send(*command);
        else
            due_.erase(id);
    }
}

void Outbox::published(std::span<const Touched> touched) {
    for (const Touched& one : touched) {
        if (one.kind != Kind<HostCommand>::name) continue;
        const HostCommand* command = term_.look().estate.commands.find(one.id);
        if (!command)
            due_.erase(one.id);
        else if (!due_.has(one.id))
            send(*command);
    }
    send_routes(touched);
    send_ended(touched);
}

// ── Routes and credentials

void Outbox::send_all_routes(wire::Link& gateway) {
    uplink::Frame frame;
    uplink::Routes& routes = *frame.mutable_routes();
    routes.set_complete(true);
    routes.set_epoch(term_.epoch());
    routes.set_sign_in(term_.settings().public_url + "/sign-in");
    for (const auto& [id, instance] : term_.look().estate.instances.all()) add_routes(instance, routes);
    for (const auto& [id, node] : term_.look().estate.cluster_nodes.all()) {
        uplink::Route route;
        if (!write_cluster_route(term_.look(), node, route)) continue;
        cluster_routed_[id] = route.SerializeAsString();
        *routes.add_routes() = std::move(route);
    }
    if (!gateway.try_send(frame)) gateway.close();
}

void Outbox::add_routes(const Instance& instance, uplink::Routes& routes) {
    write_routes(term_.look(), instance, routes);
    auto& names = routed_[instance.id];
    names.clear();
    for (const InstancePort& port : instance.spec.ports) names.push_back(route_name(instance, port.port));
}

// Nodes change with each probe, and their routes do not.
void Outbox::add_cluster_route(const std::string& id, uplink::Routes& routes) {
    const ClusterNode* node = term_.look().estate.cluster_nodes.find(id);
    uplink::Route now;
    if (node && write_cluster_route(term_.look(), *node, now)) {
        std::string& told = cluster_routed_[id];
        if (const std::string text = now.SerializeAsString(); told != text) {
            told = text;
            *routes.add_routes() = std::move(now);
        }
        return;
    }
    const auto told = cluster_routed_.find(id);
    if (told == cluster_routed_.end()) return;
    uplink::Route before;
    if (before.ParseFromString(told->second)) routes.add_gone(before.name());
    cluster_routed_.erase(told);
}

// A tenant or a project was disabled or enabled.
bool Outbox::closed_or_opened(const Touched& what) {
    const Estate& estate = term_.look().estate;
    const Tenant* tenant = what.kind == Kind<Tenant>::name ? estate.tenants.find(what.id) : nullptr;
    const Project* project = what.kind == Kind<Project>::name ? estate.projects.find(what.id) : nullptr;
    const bool now = (tenant && tenant->disabled_at != 0) || (project && project->disabled_at != 0);
    return now ? disabled_.emplace(what.kind, what.id).second : disabled_.erase({what.kind, what.id}) > 0;
}

// A policy, a tenant or a project has changed, and with it perhaps whether public ports are open to all.
void Outbox::add_public_routes(const Touched& what, uplink::Routes& routes) {
    const Desk& desk = term_.look();
    const auto add = [&](const Instance& instance) {
        if (std::ranges::any_of(instance.spec.ports, &InstancePort::is_public)) add_routes(instance, routes);
    };
    if (what.kind == Kind<Policy>::name && what.id == Policy::cloud_id) {
        for (const auto& [id, instance] : desk.estate.instances.all()) add(instance);
        return;
    }
    std::string tenant = what.id, project;
    if (what.kind == Kind<Policy>::name) tenant = what.id.substr(Policy::tenant_prefix.size());
    if (what.kind == Kind<Project>::name) {
        const Project* row = desk.estate.projects.find(what.id);
        if (!row) return;  // Only one without instances is deleted.
        tenant = row->tenant, project = row->name;
    }
    for (const Instance* instance : desk.estate.instances.by().tenant.of(tenant))
        if (project.empty() || instance->project == project) add(*instance);
}

void Outbox::hosts_moved(const std::set<std::string>& hosts) {
    if (hosts.empty()) return;
    std::set<std::string> there;
    for (const std::string& host : hosts)
        for (const Instance* instance : term_.look().estate.instances.by().host.of(host))
            there.insert(instance->id);
    std::vector<Touched> touched;
    for (const std::string& host : hosts)
        for (const ClusterNode* node : term_.look().estate.cluster_nodes.by().host.of(host))
            touched.push_back({std::string{Kind<ClusterNode>::name}, node->id});
    for (const std::string& id : there) touched.push_back({std::string{Kind<Instance>::name}, id});
    send_routes(touched);
}

void Outbox::send_routes(std::span<const Touched> touched) {
    uplink::Frame frame;
    uplink::Routes& routes = *frame.mutable_routes();
    routes.set_epoch(term_.epoch());
    routes.set_sign_in(term_.settings().public_url + "/sign-in");
    for (const Touched& one : touched) {
        const bool of_place = one.kind == Kind<Tenant>::name || one.kind == Kind<Project>::name;
        if (one.kind == Kind<Policy>::name || (of_place && closed_or_opened(one)))
            add_public_routes(one, routes);
        if (one.kind == Kind<ClusterNode>::name) add_cluster_route(one.id, routes);
        if (one.kind != Kind<Instance>::name) continue;
        if (const Instance* instance = term_.look().estate.instances.find(one.id)) {
            add_routes(*instance, routes);
            continue;
        }
        for (const std::string& name : routed_[one.id]) routes.add_gone(name);
        routed_.erase(one.id);
    }
    if (routes.routes_size() > 0 || routes.gone_size() > 0) to_gateways(frame);
}

// Gateways believe in an outage what they have not heard to be over.
void Outbox::send_ended(std::span<const Touched> touched) {
    uplink::Frame frame;
    for (std::string& mark : ended_marks(term_, touched))
        frame.mutable_credentials_ended()->add_marks(std::move(mark));
    if (!frame.has_credentials_ended()) return;
    to_gateways(frame);
    term_.feed().beat();  // Watches by these credentials end.
}

void Outbox::to_gateways(const uplink::Frame& frame) {
    // A gateway that cannot take it comes back, gets all routes, and asks about all that it believes.
    for (wire::Link* gateway : term_.gateways())
        if (!gateway->try_send(frame)) gateway->close();
}

}  // namespace hostler::master
