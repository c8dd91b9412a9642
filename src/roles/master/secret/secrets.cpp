#include "roles/master/secret/secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types_instance.h"
#include "api/types_secret.h"
#include "domain/image/image.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

std::unexpected<Error> wrong_field(std::string field, std::string what) {
    Error error{Code::invalid, "one field of the request is wrong", "invalid"};
    error.fields.push_back({std::move(field), std::move(what)});
    return std::unexpected(std::move(error));
}

// As names of images begin; Docker Hub has several.
std::string plain_server(std::string server) {
    for (char& c : server)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (server == "index.docker.io" || server == "registry-1.docker.io") return "docker.io";
    return server;
}

Result<> put_values(std::vector<SecretValue>& into, const std::vector<api::SecretValue>& values) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const api::SecretValue& one = values[i];
        if (!seen.insert(one.key).second)
            return wrong_field(fmt::format("values[{}].key", i), "appears twice");
        if (one.value.contains('\0'))
            return wrong_field(fmt::format("values[{}].value", i),
                               "has a byte 0, which no variable can have: keep it as base64");
        const auto there = std::ranges::find(into, one.key, &SecretValue::key);
        if (there == into.end())
            into.push_back({one.key, one.value});
        else
            there->value = one.value;
    }
    std::ranges::sort(into, {}, &SecretValue::key);
    return {};
}

Result<> check_shape(const Secret& secret) {
    if (secret.values.empty()) return wrong_field("values", "a secret has one key at least");
    if (secret.values.size() > secret_keys_max)
        return wrong_field("values",
                           fmt::format("a secret has {} keys at most (secret_keys_max)", secret_keys_max));
    switch (secret.kind) {
        case SecretKind::opaque:
            if (!secret.server.empty()) return wrong_field("server", "is for the kind registry");
            if (!secret.username.empty()) return wrong_field("username", "is for the kind registry");
            return {};
        case SecretKind::registry: break;
    }
    if (secret.server.empty()) return wrong_field("server", "is required for the kind registry");
    if (secret.username.empty()) return wrong_field("username", "is required for the kind registry");
    if (secret.values.size() != 1 || secret.values.front().key != Secret::password)
        return wrong_field("values", "the kind registry has the one key password");
    return {};
}

// With `wanted` in place of the one of its id, if there is one.
Result<> check_room(const Desk& desk, const Secret& wanted) {
    std::size_t count = 1, bytes = bytes_of(wanted);
    for (const Secret* row : desk.estate.secrets.by().tenant.of(wanted.tenant)) {
        if (row->id == wanted.id) continue;
        ++count;
        bytes += bytes_of(*row);
    }
    if (count > secrets_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("tenant {} has {} secrets, which is as many as one may have "
                                "(secrets_tenant_max); delete those that nothing uses",
                                wanted.tenant, count - 1),
                    "quota_exceeded");
    if (bytes > secret_bytes_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("the secrets of tenant {} would have {} bytes, and {} is what one may have "
                                "(secret_bytes_tenant_max)",
                                wanted.tenant, bytes, secret_bytes_tenant_max),
                    "quota_exceeded");
    return {};
}

std::string missing(const InstanceSecret& one, const Secret* secret) {
    if (!secret) return fmt::format("there is no secret {}", one.secret);
    return fmt::format("secret {} has no key {}", one.secret, one.key);
}

bool is_there(const InstanceSecret& one, const Secret* secret) {
    return secret && (one.key.empty() || find_value(*secret, one.key));
}

std::string no_such_secret(const Desk& desk, const std::string& tenant, std::string_view name) {
    std::vector<std::string_view> known;
    for (const Secret* row : desk.estate.secrets.by().tenant.of(tenant, near_names_max))
        known.push_back(row->name);
    return no_such("secret", name, known);
}

}  // namespace

const Secret* find_secret(const Desk& desk, const std::string& tenant, std::string_view name) {
    for (const Secret* row : desk.estate.secrets.by().tenant.of(tenant))
        if (row->name == name) return row;
    return nullptr;
}

const Secret* login_for(const Desk& desk, const Instance& instance) {
    const std::string full = full_image_name(instance.spec.image);
    const std::string server = plain_server(full.substr(0, full.find('/')));
    for (const Secret* row : desk.estate.secrets.by().tenant.of(instance.tenant))
        if (row->project == instance.project && row->kind == SecretKind::registry && row->server == server)
            return row;
    return nullptr;
}

SecretUsers users_of_secrets(const Desk& desk, std::string_view tenant) {
    SecretUsers users;
    const auto add = [&](const Instance& instance) {
        if (is_final(instance.phase)) return;
        for (const InstanceSecret& one : instance.spec.secrets) {
            auto& ids = users[{instance.tenant, one.secret}];
            if (ids.empty() || ids.back() != instance.id) ids.push_back(instance.id);
        }
    };
    if (tenant.empty())
        for (const auto& [id, instance] : desk.estate.instances.all()) add(instance);
    else
        for (const Instance* instance : desk.estate.instances.by().tenant.of(std::string{tenant}))
            add(*instance);
    return users;
}

std::vector<std::string> users_of(const Desk& desk, const Secret& secret) {
    auto users = users_of_secrets(desk, secret.tenant);
    return std::move(users[{secret.tenant, secret.name}]);
}

Result<const Secret*> create_secret(Desk& desk, const api::CreateSecret& request, const std::string& tenant) {
    const std::string project = project_meant(request);
    TRY(check_project(desk, tenant, project));
    if (find_secret(desk, tenant, request.name))
        return refuse(fmt::format("secret {} exists", request.name), "secret_exists",
                      fmt::format("Change it: `hostler secret edit {}`.", request.name));
    Secret made{.name = request.name,
                .tenant = tenant,
                .project = project,
                .kind = request.kind == api::SecretKind::registry ? SecretKind::registry : SecretKind::opaque,
                .server = plain_server(request.server.value_or("")),
                .username = request.username.value_or("")};
    TRY(put_values(made.values, request.values));
    TRY(check_shape(made));
    for (const Secret* row : desk.estate.secrets.by().tenant.of(tenant))
        if (made.kind == SecretKind::registry && row->kind == made.kind && row->server == made.server &&
            row->project == project)
            return refuse(fmt::format("secret {} is for registry {} already", row->name, row->server),
                          "registry_secret_exists",
                          fmt::format("Change it: `hostler secret edit {}`.", row->name));
    TRY(check_room(desk, made));
    ensure_project(desk, tenant, project);
    made.id = new_id(desk.random, "sec");
    made.created_at = made.updated_at = desk.estate.micros();
    desk.estate.event("secret", made.id, tenant, "created", fmt::format("Secret {} was created.", made.name));
    return &desk.estate.secrets.add(std::move(made));
}

Result<> update_secret(Desk& desk, const std::string& id, const api::UpdateSecret& request) {
    Secret wanted = desk.estate.secrets.at(id);
    if (request.username) wanted.username = *request.username;
    if (request.values) TRY(put_values(wanted.values, *request.values));
    for (const std::string& key : request.remove_keys.value_or(std::vector<std::string>{})) {
        if (!find_value(wanted, key))
            return wrong_field("removeKeys", fmt::format("secret {} has no key {}", wanted.name, key));
        for (const std::string& user : users_of(desk, wanted)) {
            const Instance& instance = desk.estate.instances.at(user);
            for (const InstanceSecret& one : instance.spec.secrets)
                if (one.secret == wanted.name && one.key == key)
                    return refuse(fmt::format("instance {} is given key {} of secret {}", instance.caller_id,
                                              key, wanted.name),
                                  "secret_in_use", "Delete the instance first.");
        }
        std::erase_if(wanted.values, [&](const SecretValue& one) { return one.key == key; });
    }
    TRY(check_shape(wanted));
    TRY(check_room(desk, wanted));
    const Secret& now = desk.estate.secrets.at(id);
    if (wanted.values == now.values && wanted.username == now.username) return {};
    ++wanted.version;
    wanted.updated_at = desk.estate.micros();
    desk.estate.event("secret", id, wanted.tenant, "changed",
                      fmt::format("Secret {} has version {} from now on.", wanted.name, wanted.version));
    desk.estate.secrets.edit(id) = std::move(wanted);
    return {};
}

Result<> delete_secret(Desk& desk, const std::string& id) {
    const Secret& row = desk.estate.secrets.at(id);
    if (const auto users = users_of(desk, row); !users.empty()) {
        std::string all;
        constexpr std::size_t named_max = 5;
        for (std::size_t i = 0; i < std::min(users.size(), named_max); ++i)
            all += (i > 0 ? ", " : "") + desk.estate.instances.at(users[i]).caller_id;
        if (users.size() > named_max) all += fmt::format(" and {} more", users.size() - named_max);
        return refuse(fmt::format("secret {} is used by {}", row.name, all), "secret_in_use",
                      "Delete what uses it first.");
    }
    desk.estate.event("secret", id, row.tenant, "deleted", fmt::format("Secret {} was deleted.", row.name));
    desk.estate.secrets.erase(std::string{id});
    return {};
}

std::vector<InstanceSecret> secrets_of(const Desk& desk, const api::CreateInstance& request,
                                       std::vector<FieldError>& wrong) {
    std::vector<InstanceSecret> all;
    const auto take = [&](InstanceSecret one, const std::string& field) {
        const Secret* secret = find_secret(desk, request.tenant_id, one.secret);
        if (!secret)
            wrong.push_back({field + ".secret", no_such_secret(desk, request.tenant_id, one.secret)});
        else if (const std::string elsewhere = not_in_project(*secret, project_meant(request));
                 !elsewhere.empty())
            wrong.push_back({field + ".secret", elsewhere});
        else if (!is_there(one, secret))
            wrong.push_back({field + ".key", missing(one, secret)});
        all.push_back(std::move(one));
    };
    const auto envs = request.secret_envs.value_or(std::vector<api::SecretEnv>{});
    for (std::size_t i = 0; i < envs.size(); ++i) {
        const api::SecretEnv& env = envs[i];
        const std::string field = fmt::format("secretEnvs[{}]", i);
        if (std::ranges::count(request.template_.envs, env.name, &api::Env::name) > 0)
            wrong.push_back({field + ".name", "is a variable of template.envs, too"});
        take({.secret = env.secret, .key = env.key, .variable = env.name}, field);
    }
    const auto files = request.secret_files.value_or(std::vector<api::SecretFile>{});
    for (std::size_t i = 0; i < files.size(); ++i) {
        const api::SecretFile& file = files[i];
        take({.secret = file.secret, .key = file.key, .path = file.path}, fmt::format("secretFiles[{}]", i));
    }
    return all;
}

std::optional<std::vector<GivenSecret>> given_secrets(const Desk& desk, const Instance& instance) {
    std::vector<GivenSecret> given;
    for (const InstanceSecret& one : instance.spec.secrets) {
        const Secret* secret = find_secret(desk, instance.tenant, one.secret);
        if (!is_there(one, secret)) return std::nullopt;
        if (!one.key.empty()) {
            given.push_back({one.variable, one.path, find_value(*secret, one.key)});
            continue;
        }
        for (const SecretValue& value : secret->values)
            given.push_back({one.variable, one.path + "/" + value.key, &value});
    }
    return given;
}

Result<> check_secrets(const Desk& desk, const Instance& instance) {
    for (const InstanceSecret& one : instance.spec.secrets)
        if (const Secret* secret = find_secret(desk, instance.tenant, one.secret); !is_there(one, secret))
            return refuse(
                fmt::format("instance {} cannot start: {}", instance.caller_id, missing(one, secret)),
                "secret_missing",
                secret ? fmt::format("Give it the key: `hostler secret edit {} --value {}=@FILE`.",
                                     one.secret, one.key)
                       : fmt::format("Create it: `hostler secret create {}`.", one.secret));
    std::size_t bytes = 0;
    for (const GivenSecret& one : given_secrets(desk, instance).value_or(std::vector<GivenSecret>{}))
        bytes += one.value->value.size();
    if (bytes > instance_secret_bytes_max)
        return fail(
            Code::invalid,
            fmt::format("instance {} is to be given {} bytes of secrets, and {} is what one may be given "
                        "(instance_secret_bytes_max)",
                        instance.caller_id, bytes, instance_secret_bytes_max),
            "instance_secret_bytes_max");
    return {};
}

bool needs_secrets(const Desk& desk, const Instance& instance) {
    return !instance.spec.secrets.empty() || login_for(desk, instance);
}

api::Secret view(const Secret& secret, std::vector<std::string> used_by) {
    const auto wall = [](std::int64_t micros) { return WallTime{std::chrono::microseconds{micros}}; };
    api::Secret shown{
        .id = secret.id,
        .name = secret.name,
        .tenant_id = secret.tenant,
        .project = secret.project,
        .kind = secret.kind == SecretKind::registry ? api::SecretKind::registry : api::SecretKind::opaque,
        .server = secret.server,
        .username = secret.username,
        .version = secret.version,
        .used_by = std::move(used_by),
        .created_at = wall(secret.created_at),
        .updated_at = wall(secret.updated_at)};
    for (const SecretValue& one : secret.values)
        shown.keys.push_back({one.key, static_cast<std::int64_t>(one.value.size())});
    return shown;
}

void write_secret_metrics(MetricsPage& page, const Desk& desk) {
    struct Had {
        std::size_t count = 0, bytes = 0;
    };
    std::map<std::string_view, Had> tenants;
    std::map<SecretKind, std::size_t> kinds{{SecretKind::opaque, 0}, {SecretKind::registry, 0}};
    for (const auto& [id, row] : desk.estate.secrets.all()) {
        ++kinds[row.kind];
        ++tenants[row.tenant].count;
        tenants[row.tenant].bytes += bytes_of(row);
    }
    Had most;
    for (const auto& [tenant, had] : tenants)
        most = {std::max(most.count, had.count), std::max(most.bytes, had.bytes)};
    page.begin("hostler_master_tenant_secrets", "Secrets of tenants, by kind.", MetricsPage::Type::gauge);
    for (const auto& [kind, count] : kinds) page.value({{"kind", text_of(kind)}}, count);
    page.add_bounded("hostler_master_secrets_tenant", "Secrets of the tenant that has most.", most.count,
                     secrets_tenant_max);
    page.add_bounded("hostler_master_secret_bytes_tenant",
                     "Bytes of values of secrets of the tenant that has most.", most.bytes,
                     secret_bytes_tenant_max);
}

void show_secrets(const Instance& instance, api::Instance& shown) {
    for (const InstanceSecret& one : instance.spec.secrets)
        if (one.path.empty())
            shown.secret_envs.push_back({one.variable, one.secret, one.key});
        else
            shown.secret_files.push_back({one.path, one.secret, one.key});
}

}  // namespace hostler::master
