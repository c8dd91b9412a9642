// Every operation of the API × every role × objects of the own project, of another project, of another tenant
// and of the cloud, over HTTP: the gate's answer is what the table of operations says. An operation without a
// row fails.
#include "api/list_query.h"
#include "api/operation_list.h"
#include "api/schema.h"
#include "domain/tenancy/role.h"
#include "roles/master/http/gate.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

namespace json = boost::json;

// Where objects lie. `tag`: a part of all their ids.
struct Place {
    std::string tag, tenant, project, owner;
};
const std::vector<Place> places{{"mine", "acme", "default", "farm"},
                                {"lab", "acme", "lab", "mill"},
                                {"other", "globex", "default", "dale"},
                                {"cloud", "", "", ""}};

// A caller for each role.
struct Who {
    std::string name;
    Principal principal;
    std::string secret;
};

// Bodies that examples of fields do not make.
const std::map<std::string_view, std::string_view> bodies{
    {"createGrant", R"({"subject":"group/g-TAG","role":"viewer"})"},
    {"createInvitation", R"({"role":"viewer"})"},
    {"createRole", R"({"name":"new","permissions":["instance.read"]})"},
    {"updateRole", R"({"permissions":["instance.read"]})"},
    {"createAlertRule",
     R"({"name":"hot","metric":"temperature_celsius","over":"avg","windowSeconds":300,"threshold":85})"},
    {"replaceAlertRule",
     R"({"metric":"temperature_celsius","over":"avg","windowSeconds":300,"threshold":85})"},
    {"createAlertReceiver", R"({"name":"new","type":"webhook","url":"https://hooks.example.com/a"})"},
    {"replaceAlertReceiver", R"({"type":"webhook","url":"https://hooks.example.com/a"})"},
    {"createAlertSilence", R"({"matchers":["zone=nj"],"comment":"quiet","forSeconds":60})"},
    {"createInstance",
     R"({"instanceID":"new-TAG","tenantName":"","image":"demo:1","storageID":"","specName":"small","template":{}})"},
    {"createCluster", R"({"name":"new-TAG","driver":"test"})"},
    {"scaleCluster", R"({"control":1})"},
    {"forgetClusterNode", R"({"force":true,"reason":"it was installed again"})"},
    {"submitJob", R"({"name":"new-TAG","image":"demo:1","specName":"small"})"},
    {"addGroupMember", R"({"user":"u-TAG"})"},
    {"createSecret", R"({"name":"new","values":[{"key":"a","value":"b"}]})"},
    {"updateSecret", R"({"values":[{"key":"a","value":"c"}]})"},
    {"createVolume", R"({"name":"new","size":"1Gi"})"},
    {"createHostToken", R"({"zone":"nj"})"},
    {"createAccountKey", R"({"name":"new","permissions":["instance.read"]})"},
    // A tenant's own is the cloud's to set: here those of projects are tried.
    {"setQuota", R"({"limits":[{"resource":"gpus","limit":"8"}],"project":"default"})"},
    {"deleteQuota", R"({"project":"default"})"},
    {"setQueue", R"({"project":"default"})"},
    {"deleteQueue", R"({"project":"default"})"},
};
// They show what is the caller's, whatever is named.
const std::set<std::string_view> own_alone{"reportUsage", "reportWaste", "reportBottlenecks",
                                           "reportAll",   "querySeries", "getFleet"};
// They show a whole tenant.
const std::set<std::string_view> whole_tenant{"listEvents"};
// They show the whole cloud.
const std::set<std::string_view> whole_cloud{"verifyAudit", "getAuditChain", "listAuditSeals"};
// What they need beyond their object is not here; that they are refused is tried all the same.
const std::set<std::string_view> not_found_for_operators{
    "getKeptReport", "downloadReport",    "retryInstance",   "restartInstance", "startInstance",
    "stopInstance",  "keepInstanceAlive", "getInstanceLogs", "getJobLogs"};

struct MatrixSettings : PeopleTest {
    MatrixSettings() {
        settings.admission.key_rate = {.per_second = 1e6, .burst = 1e6};
        settings.drivers = {{.name = "test", .versions = {"v1"}}};
    }
};

struct Matrix : MatrixSettings {
    Matrix() {
        Estate& estate = desk().estate;
        estate.specs.add({.name = "small"});
        for (const char* tenant : {"acme", "globex"}) estate.tenants.add({.id = tenant});
        for (const Place& at : places) {
            if (!at.tenant.empty()) add_project_objects(estate, at);
            add_tenant_objects(estate, at);
            Host host{.id = "h-" + at.tag, .zone = "nj", .owner = at.owner, .phase = HostPhase::ready};
            host.facts = DeskRig::facts_of(at.tag, 1);
            host.facts.gpus[0].uuid = "GPU-" + at.tag;
            estate.hosts.add(std::move(host));
            estate.host_tokens.add({.id = "t-" + at.tag, .zone = "nj", .owner = at.owner});
        }
        for (const BuiltInRoleRow& row : built_in_roles) add_caller(estate, row.name, row.role);
        // A caller who sees a tenant and changes one project of it.
        callers.push_back(
            {"viewer and member",
             {.kind = PrincipalKind::user,
              .held = {{Scope::of_tenant("acme"), permissions_of(BuiltInRole::viewer)},
                       {Scope::of_project("acme", "default"), permissions_of(BuiltInRole::member)}}},
             "hu_both"});
        add_caller(estate, "both", BuiltInRole::member);
        callers.pop_back();
        estate.grants.add({.id = "gr-both",
                           .subject = "user/u-of-both",
                           .role = "viewer",
                           .at = ScopeKind::tenant,
                           .tenant = "acme"});
        estate.api_keys.add({.id = "k-key", .name = "key", .hash = "#hk_acme", .tenant = "acme"});
        callers.push_back({"tenant key", api::Caller::of_tenant("key/k-key", "acme").principal, "hk_acme"});
        (void)commit();
    }
    static void add_project_objects(Estate& estate, const Place& at) {
        const auto id = [&](std::string_view prefix) { return std::string{prefix} + at.tag; };
        estate.projects.add(
            {.id = Project::id_of(at.tenant, at.project), .tenant = at.tenant, .name = at.project});
        Instance instance{
            .id = id("i-"), .caller_id = id("inst-"), .tenant = at.tenant, .project = at.project};
        instance.spec.ports.push_back({.port = 8080});
        estate.instances.add(std::move(instance));
        estate.volumes.add({.id = id("v-"), .name = id("vol-"), .tenant = at.tenant, .project = at.project});
        estate.jobs.add({.id = id("j-"), .name = id("job-"), .tenant = at.tenant, .project = at.project});
        estate.clusters.add(
            {.id = id("kc-"), .name = id("cluster-"), .tenant = at.tenant, .project = at.project});
        estate.cluster_nodes.add({.id = id("kn-"),
                                  .cluster = id("kc-"),
                                  .tenant = at.tenant,
                                  .project = at.project,
                                  .phase = NodePhase::unclean});
        estate.cluster_saves.add({.id = id("ks-"),
                                  .tenant = at.tenant,
                                  .project = at.project,
                                  .cluster = id("kc-"),
                                  .phase = SavePhase::saved});
        estate.secrets.add(
            {.id = id("sec-"), .name = id("secret-"), .tenant = at.tenant, .project = at.project});
        estate.networks.add({.id = id("n-"), .name = id("net-"), .tenant = at.tenant, .project = at.project});
        estate.operations.add({.id = id("op-"),
                               .kind = "createVolume",
                               .subject = id("volume/v-"),
                               .tenant = at.tenant,
                               .project = at.project});
        estate.shares.add(
            {.id = id("sh-"), .tenant = at.tenant, .project = at.project, .instance = id("i-")});
        estate.grants.add({.id = id("gr-"),
                           .subject = id("user/u-"),
                           .role = "billing-none",
                           .at = ScopeKind::project,
                           .tenant = at.tenant,
                           .project = at.project});
    }
    static void add_tenant_objects(Estate& estate, const Place& at) {
        const auto id = [&](std::string_view prefix) { return std::string{prefix} + at.tag; };
        if (at.tag == "lab") {
            estate.groups.add(
                {.id = id("g-"), .name = id("group-"), .tenant = at.tenant, .members = {id("u-")}});
            estate.users.add({.id = id("u-"), .login = id("person-"), .tenant = at.tenant});
            return;
        }
        estate.policies.add({.id = Policy::id_of(at.tenant), .tenant = at.tenant});
        alert::Alert alert;
        alert.id = id("al-"), alert.tenant = at.tenant;
        estate.alerts.add(std::move(alert));
        alert::Silence silence;
        silence.id = id("si-"), silence.tenant = at.tenant;
        estate.alert_silences.add(std::move(silence));
        alert::Rule rule;
        rule.id = alert::rule_id(at.tenant, id("rule-")), rule.name = id("rule-"), rule.tenant = at.tenant;
        estate.alert_rules.add(std::move(rule));
        alert::Receiver receiver;
        receiver.id = alert::receiver_id(at.tenant, id("rcv-")), receiver.name = id("rcv-");
        receiver.tenant = at.tenant;
        estate.alert_receivers.add(std::move(receiver));
        report::Schedule schedule;
        schedule.id = report::schedule_id(at.tenant, id("sched-")), schedule.name = id("sched-");
        schedule.tenant = at.tenant;
        estate.report_schedules.add(std::move(schedule));
        report::Kept kept;
        kept.id = id("rp-"), kept.tenant = at.tenant, kept.report = "{}";
        estate.reports.add(std::move(kept));
        estate.api_keys.add({.id = id("k-"), .name = id("key-"), .hash = id("#"), .tenant = at.tenant});
        estate.custom_roles.add({.id = CustomRole::id_of(at.tenant, id("ops-")),
                                 .name = id("ops-"),
                                 .tenant = at.tenant,
                                 .permissions = {"instance.read"}});
        estate.groups.add({.id = id("g-"), .name = id("group-"), .tenant = at.tenant, .members = {id("u-")}});
        estate.users.add({.id = id("u-"), .login = id("person-"), .tenant = at.tenant});
        estate.identity_providers.add(
            {.id = id("idp-"), .name = id("sso-"), .tenant = at.tenant, .issuer = "https://id.example"});
        estate.invitations.add({.id = id("inv-"), .tenant = at.tenant, .role = "viewer"});
        if (at.tenant.empty()) return;
        estate.service_accounts.add({.id = id("sa-"), .name = id("account-"), .tenant = at.tenant});
        estate.queues.add({.id = QueueSettings::id_of({at.tenant, "default", ""}),
                           .tenant = at.tenant,
                           .project = "default"});
        for (const std::string project : {"", "default"})
            estate.quotas.add({.id = Quota::id_of(at.tenant, project, ""),
                               .tenant = at.tenant,
                               .project = project,
                               .limits = {{"gpus", 100}}});
    }
    // At its natural scope: the cloud, a provider, the tenant or the project.
    void add_caller(Estate& estate, std::string_view named, BuiltInRole role) {
        const std::string name{named};
        Grant grant{
            .id = "gr-of-" + name, .subject = "user/u-of-" + name, .role = name == "both" ? "member" : name};
        if (role == BuiltInRole::operator_ || role == BuiltInRole::support || role == BuiltInRole::auditor)
            grant.at = ScopeKind::cloud;
        else if (role == BuiltInRole::provider)
            grant.at = ScopeKind::provider, grant.provider = "farm";
        else if (role == BuiltInRole::tenant_admin || role == BuiltInRole::billing)
            grant.at = ScopeKind::tenant, grant.tenant = "acme";
        else
            grant.at = ScopeKind::project, grant.tenant = "acme", grant.project = "default";
        const std::int64_t now = estate.micros();
        estate.users.add({.id = "u-of-" + name, .login = "of-" + name, .tenant = grant.tenant});
        estate.logins.add({.hash = "#hu_" + name,
                           .user = "u-of-" + name,
                           .created_at = now,
                           .used_at = now,
                           .expires_at = now + 3600'000'000});
        callers.push_back({name,
                           {.kind = PrincipalKind::user, .held = {{scope_of(grant), permissions_of(role)}}},
                           "hu_" + name});
        estate.grants.add(std::move(grant));
    }

    // JSON of a value that is allowed.
    static json::value example(const api::Property& property) {
        const api::Schema& schema = *property.schema;
        const std::string_view given = property.field ? property.field->example : "";
        switch (schema.kind) {
            case api::Kind::text: return json::string(given);
            case api::Kind::enumeration: return json::string(given.empty() ? schema.values.front() : given);
            case api::Kind::boolean: return false;
            case api::Kind::integer:
            case api::Kind::number:
                return given.empty()
                           ? json::value(property.field && property.field->min ? *property.field->min : 1)
                           : json::parse(given);
            case api::Kind::time: return json::string("2026-01-02T03:04:05Z");
            case api::Kind::list: return given.empty() ? json::value(json::array{}) : json::parse(given);
            case api::Kind::map: return given.empty() ? json::value(json::object{}) : json::parse(given);
            case api::Kind::object: return json::object{};
        }
        return nullptr;
    }
    // Empty: there is no such object at this place.
    static std::string id_of(std::string_view parameter, const Place& at) {
        const std::string& tag = at.tag;
        const bool in_tenant = !at.tenant.empty(), whole = tag != "lab";
        if (parameter == "instance" || parameter == "instanceID") return in_tenant ? "i-" + tag : "";
        if (parameter == "volume") return in_tenant ? "v-" + tag : "";
        if (parameter == "job") return in_tenant ? "j-" + tag : "";
        if (parameter == "cluster") return in_tenant ? "kc-" + tag : "";
        if (parameter == "save") return in_tenant ? "ks-" + tag : "";
        if (parameter == "node") return in_tenant ? "kn-" + tag : "";
        if (parameter == "secret") return in_tenant ? "sec-" + tag : "";
        if (parameter == "network") return in_tenant ? "n-" + tag : "";
        if (parameter == "share") return in_tenant ? "sh-" + tag : "";
        if (parameter == "operation") return in_tenant ? "op-" + tag : "";
        if (parameter == "grant") return in_tenant ? "gr-" + tag : "";
        if (parameter == "project") return at.project;
        if (parameter == "tenant") return whole ? at.tenant : "";
        if (parameter == "account") return in_tenant && whole ? "sa-" + tag : "";
        if (parameter == "host") return "h-" + tag;
        if (parameter == "gpu") return "GPU-" + tag;
        if (parameter == "hostToken") return "t-" + tag;
        if (parameter == "user") return "u-" + tag;
        if (parameter == "group") return "g-" + tag;
        if (!whole) return "";
        if (parameter == "alert") return "al-" + tag;
        if (parameter == "silence") return "si-" + tag;
        if (parameter == "alertRule") return "rule-" + tag;
        if (parameter == "receiver") return "rcv-" + tag;
        if (parameter == "schedule") return "sched-" + tag;
        if (parameter == "report") return "rp-" + tag;
        if (parameter == "apiKey") return "k-" + tag;
        if (parameter == "role") return "ops-" + tag;
        if (parameter == "policy") return Policy::id_of(at.tenant);
        if (parameter == "invitation") return "inv-" + tag;
        if (parameter == "identityProvider") return "idp-" + tag;
        ADD_FAILURE() << "a path has {" << parameter << "}, and the matrix has no object for it";
        return "";
    }

    // The request at a place; nullopt: there is nothing there that it could name.
    struct Request {
        std::string target, body;
    };
    std::optional<Request> request_at(const api::Operation& operation, const Place& at) {
        const api::Schema& schema = operation.request();
        std::string target;
        std::set<std::string, std::less<>> in_path;
        for (std::string_view rest = operation.path; !rest.empty();) {
            const auto open = rest.find('{');
            target += rest.substr(0, open);
            if (open == rest.npos) break;
            const auto close = rest.find('}');
            const std::string_view parameter = rest.substr(open + 1, close - open - 1);
            const std::string id = id_of(parameter, at);
            if (id.empty()) return std::nullopt;
            in_path.emplace(parameter);
            target += id;
            rest.remove_prefix(close + 1);
        }
        json::object fields;
        const auto body = bodies.find(operation.name);
        if (body != bodies.end()) {
            std::string text{body->second};
            for (auto tag = text.find("TAG"); tag != text.npos; tag = text.find("TAG"))
                text.replace(tag, 3, at.tag);
            fields = json::parse(text).as_object();
        } else {
            for (const api::Property& property : schema.properties)
                if (property.required && !in_path.contains(property.name))
                    fields[property.name] = example(property);
        }
        if (schema.find("tenantID") && !in_path.contains("tenantID") && !at.tenant.empty())
            fields["tenantID"] = at.tenant;
        const bool makes = operation.name.starts_with("create") || operation.name == "submitJob";
        // Without a tenant they make one of the caller's.
        if (at.tenant.empty() && schema.find("tenantID") && !schema.find("cloud") &&
            (makes || operation.name.starts_with("replace") || operation.name.ends_with("Quota") ||
             operation.name.ends_with("Queue")))
            return std::nullopt;
        if (makes && schema.find("project") && !at.project.empty() && !in_path.contains("project"))
            fields["project"] = at.project;
        if (makes && schema.find("provider") &&
            row_of(operation.permission).level == PermissionLevel::provider && !at.owner.empty())
            fields["provider"] = at.owner;
        if (schema.find("cloud") && at.tenant.empty()) fields["cloud"] = true;
        if (schema.find("isOperator") && makes) fields["isOperator"] = at.tenant.empty();
        Request made{.target = target};
        if (operation.writes()) made.target += "?dryRun=true";
        const bool in_query =
            operation.method == api::Method::get || operation.method == api::Method::delete_;
        if (!in_query) {
            made.body = json::serialize(fields);
            return made;
        }
        for (const auto& [name, value] : fields)
            made.target +=
                fmt::format("{}{}={}", made.target.contains('?') ? "&" : "?", std::string_view{name},
                            value.is_string() ? percent_encode(value.as_string()) : json::serialize(value));
        return made;
    }
    static Scope scope_at(const api::Operation& operation, const Place& at) {
        if (whole_tenant.contains(operation.name)) return scope_of_tenant(at.tenant);
        if (whole_cloud.contains(operation.name)) return Scope::cloud();
        switch (row_of(operation.permission).level) {
            case PermissionLevel::project:
                return at.tenant.empty() ? Scope::cloud() : Scope::of_project(at.tenant, at.project);
            case PermissionLevel::tenant: return scope_of_tenant(at.tenant);
            case PermissionLevel::provider: return scope_of_provider(at.owner);
            case PermissionLevel::anyone:
            case PermissionLevel::catalogue:
            case PermissionLevel::cloud: break;
        }
        return Scope::cloud();
    }
    Reply ask(const api::Operation& operation, const Request& request, std::string_view secret) {
        Reply reply = call(std::string{name(operation.method)}, request.target, request.body, secret);
        clients.clear();
        return reply;
    }
    static bool is_refusal(const Reply& reply) {
        return reply.status == 401 ||
               (reply.status == 403 && reply.code() != "role_exceeds" && reply.code() != "key_exceeds");
    }

    std::vector<Who> callers;
};

TEST_F(Matrix, EveryOperationAsksTheGateWhereItsObjectLies) {
    int asked = 0;
    for (const api::Operation* operation : api::operations()) {
        if (operation->open || row_of(operation->permission).level == PermissionLevel::anyone) continue;
        const bool cloud_wide = row_of(operation->permission).level == PermissionLevel::cloud ||
                                row_of(operation->permission).level == PermissionLevel::catalogue;
        const bool own = operation->list || own_alone.contains(operation->name) || cloud_wide;
        if (own) continue;
        for (const Place& at : places) {
            const auto request = request_at(*operation, at);
            if (!request) continue;
            for (const Who& who : callers) {
                bool may = authorize(who.principal, operation->permission, scope_at(*operation, at));
                if (operation->name == "deleteApiKey" && who.name == "tenant key")
                    may = false;  // Itself alone.
                const Reply reply = ask(*operation, *request, who.secret);
                ++asked;
                const std::string what = fmt::format("{} at {} by {}: {} {} {}", operation->name, at.tag,
                                                     who.name, request->target, request->body, reply.text);
                if (may)
                    EXPECT_FALSE(is_refusal(reply)) << what;
                else
                    EXPECT_TRUE(reply.status == 403 || reply.status == 404) << what;
                if (who.name != "operator" || not_found_for_operators.contains(operation->name)) continue;
                EXPECT_NE(reply.status, 404) << "the matrix has no object: " << what;
                EXPECT_NE(reply.status, 400) << "the matrix has no good request: " << what;
            }
            for (const char* secret : {"", "hk_nobody", "hu_nobody"})
                EXPECT_EQ(ask(*operation, *request, secret).status, 401) << operation->name;
        }
    }
    EXPECT_GT(asked, 2000);
}

TEST_F(Matrix, WhatConcernsTheCloudIsRefusedBeforeItIsRead) {
    for (const api::Operation* operation : api::operations()) {
        const PermissionLevel level = row_of(operation->permission).level;
        if (operation->open || level != PermissionLevel::cloud) continue;
        std::string target{operation->path};
        for (char& c : target)
            if (c == '{' || c == '}') c = 'x';
        if (operation->writes()) target += "?dryRun=true";
        for (const Who& who : callers) {
            if (authorize(who.principal, operation->permission, Scope::cloud())) continue;
            const Reply reply = ask(*operation, {target, ""}, who.secret);
            EXPECT_EQ(reply.code(), "permission_missing") << operation->name << " by " << who.name;
        }
        for (const char* secret : {"", "hk_nobody"})
            EXPECT_EQ(ask(*operation, {target, ""}, secret).status, 401) << operation->name;
    }
}

TEST_F(Matrix, ListsHaveWhatTheCallerMaySee) {
    for (const api::Operation* operation : api::operations()) {
        const PermissionLevel level = row_of(operation->permission).level;
        const bool is_list = operation->list && !operation->path.contains('{');
        if (!is_list || level == PermissionLevel::anyone || level == PermissionLevel::catalogue) continue;
        for (const Who& who : callers) {
            const Reply reply = ask(*operation, {std::string{operation->path}, ""}, who.secret);
            if (!authorize_anywhere(who.principal, operation->permission)) {
                EXPECT_EQ(reply.status, 403) << operation->name << " by " << who.name;
                continue;
            }
            for (const Place& at : places) {
                if (authorize(who.principal, operation->permission, scope_at(*operation, at))) continue;
                for (const char* kind : {"i-", "v-", "sec-", "n-", "op-", "gr-", "al-", "si-", "k-", "g-",
                                         "u-", "inv-", "sa-", "h-", "t-"})
                    EXPECT_FALSE(reply.text.contains(fmt::format("\"{}{}\"", kind, at.tag)))
                        << operation->name << " by " << who.name << " shows " << kind << at.tag;
            }
        }
    }
}

// These two take no object, and look at those of all kinds.
TEST_F(Matrix, TheOverviewHasWhatTheCallerMaySee) {
    for (const Who& who : callers) {
        const Reply reply = get("/v1/overview", who.secret);
        clients.clear();
        ASSERT_EQ(reply.status, 200) << who.name << reply.text;
        for (const Place& at : places) {
            if (at.tenant.empty()) continue;
            EXPECT_EQ(
                reply.text.contains(fmt::format("\"i-{}\"", at.tag)),
                authorize(who.principal, Permission::instance_read, Scope::of_project(at.tenant, at.project)))
                << who.name << " at " << at.tag << reply.text;
        }
        EXPECT_EQ(reply.body.as_object().contains("hosts"),
                  authorize_anywhere(who.principal, Permission::host_read))
            << who.name;
        EXPECT_EQ(reply.body.as_object().contains("gpus"),
                  authorize_anywhere(who.principal, Permission::gpu_read))
            << who.name;
    }
    EXPECT_EQ(get("/v1/overview", "").status, 401);
    EXPECT_EQ(get("/v1/overview", "hk_nobody").status, 401);
}

TEST_F(Matrix, SearchesFindWhatTheCallerMaySee) {
    const auto scope_of_kind = [](Permission permission, const Place& at) {
        if (permission == Permission::host_read) return scope_of_provider(at.owner);
        if (permission == Permission::user_read || permission == Permission::group_read)
            return scope_of_tenant(at.tenant);
        return Scope::of_project(at.tenant, at.project);
    };
    for (const Who& who : callers)
        for (const Place& at : places) {
            const Reply reply = get("/v1/search?limit=50&q=" + at.tag, who.secret);
            clients.clear();
            ASSERT_EQ(reply.status, 200) << who.name << reply.text;
            for (const auto& [prefix, permission] :
                 {std::pair{"i-", Permission::instance_read}, std::pair{"v-", Permission::volume_read},
                  std::pair{"j-", Permission::job_read}, std::pair{"h-", Permission::host_read},
                  std::pair{"u-", Permission::user_read}, std::pair{"g-", Permission::group_read}}) {
                const bool in_project = permission == Permission::instance_read ||
                                        permission == Permission::volume_read ||
                                        permission == Permission::job_read;
                if (in_project && at.tenant.empty()) continue;
                EXPECT_EQ(reply.text.contains(fmt::format("\"{}{}\"", prefix, at.tag)),
                          authorize(who.principal, permission, scope_of_kind(permission, at)))
                    << who.name << " at " << at.tag << ": " << prefix << reply.text;
            }
        }
    EXPECT_EQ(get("/v1/search?q=mine", "").status, 401);
}

TEST_F(Matrix, ListsComeInBothOrdersAndCounted) {
    for (const api::Operation* operation : api::operations()) {
        if (!operation->list || operation->pages == api::Pages::own || operation->path.contains('{'))
            continue;
        const auto items = [&](const std::string& query) {
            const Reply reply = ask(*operation, {std::string{operation->path} + query, ""}, "hu_operator");
            EXPECT_EQ(reply.status, 200) << operation->name << reply.text;
            return reply.body.as_object();
        };
        const bool counts = operation->pages == api::Pages::of_memory;
        const std::string total = counts ? "&total=true" : "";
        json::array oldest = items("?limit=1000&order=created").at("items").as_array();
        const json::object answer = items("?limit=1000&order=-created" + total);
        const json::array newest = answer.at("items").as_array();
        std::ranges::reverse(oldest);
        EXPECT_EQ(newest, oldest) << operation->name;
        if (!counts) continue;
        EXPECT_EQ(answer.at("total").as_int64(), std::ssize(newest)) << operation->name;
        if (newest.size() < 3 || operation->name == "listRoles") continue;
        const json::object first = items("?limit=2&order=-created&total=true");
        EXPECT_EQ(first.at("total"), answer.at("total")) << operation->name << " counts beyond its page";
        const std::string cursor = percent_encode(first.at("nextCursor").as_string());
        EXPECT_EQ(items("?limit=1&order=-created&cursor=" + cursor).at("items").at(0), newest.at(2))
            << operation->name;
        EXPECT_EQ(
            ask(*operation, {fmt::format("{}?limit=1&cursor={}", operation->path, cursor), ""}, "hu_operator")
                .status,
            400)
            << operation->name << ": the cursor is of the other order";
    }
}

// "state='running'" of the first field with a text that one of these items has.
std::optional<std::pair<std::string, json::value>> term_of(const api::ListFields& known,
                                                           const json::array& items) {
    for (const json::value& item : items)
        for (const api::QueryField& field : known.fields) {
            const json::value* value = item.as_object().if_contains(field.name);
            if (field.kind == api::QueryKind::text && value && value->is_string() &&
                !value->as_string().empty())
                return std::pair{std::string{field.name}, *value};
        }
    return std::nullopt;
}

TEST_F(Matrix, ListsTakeAQuery) {
    int filtered = 0;
    for (const api::Operation* operation : api::operations()) {
        if (!operation->takes_query() || operation->path.contains('{')) continue;
        const auto asked = [&](const std::string& query) {
            return ask(*operation, {std::string{operation->path} + query, ""}, "hu_operator");
        };
        const api::ListFields known = api::list_fields(api::item_of(*operation));
        const Reply refused = asked("?query=xyzzy%3D1");
        EXPECT_EQ(refused.status, 400) << operation->name;
        const json::value& error = refused.body.at("errors").at(0);
        EXPECT_EQ(error.at("field"), "query") << operation->name;
        for (const api::QueryField& field : known.fields)
            EXPECT_NE(error.at("message").as_string().find(field.name), json::string::npos)
                << operation->name << field.name;

        const std::string total = operation->pages == api::Pages::of_memory ? "&total=true" : "";
        const json::array all = asked("?limit=1000").body.at("items").as_array();
        const auto term = term_of(known, all);
        if (!term) continue;
        ++filtered;
        json::array fitting;
        for (const json::value& item : all)
            if (const json::value* value = item.as_object().if_contains(term->first);
                value && *value == term->second)
                fitting.push_back(item);
        const std::string query = fmt::format("{}=\"{}\"", term->first, term->second.as_string());
        const Reply answer = asked("?limit=1000" + total + "&query=" + percent_encode(query));
        ASSERT_EQ(answer.status, 200) << operation->name << answer.text;
        EXPECT_EQ(answer.body.at("items"), json::value(fitting)) << operation->name << " " << query;
        if (!total.empty())
            EXPECT_EQ(answer.body.at("total").as_int64(), std::ssize(fitting)) << operation->name;
    }
    EXPECT_GT(filtered, 20);
}

}  // namespace
}  // namespace hostler::master::testing
