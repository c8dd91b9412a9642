// GPU instances: the source's calls, and all that can be seen of an instance.
#pragma once

#include "api/types_container.h"
#include "api/types_log.h"
#include "api/types_placement.h"

namespace hostler::api {

namespace forms {
extern const Form owner_filter;  // "job" or "job/j-1".
}  // namespace forms

// clang-format off

enum class LossPolicy { stay, move };
BOOST_DESCRIBE_ENUM(LossPolicy, stay, move)

inline constexpr std::int64_t stop_grace_max_s = 600;  // Operators may set a lower limit.

// POST /gpu-instances.
struct CreateInstance {
    std::string instance_id;
    std::string tenant_id;
    std::string tenant_name;
    std::string image;
    std::string storage_id;
    std::string spec_name;
    Template template_;
    std::string template_name;
    std::vector<Env> parameters;
    std::optional<std::string> zone{};
    std::optional<std::int64_t> inactivity_timeout_seconds{};
    std::optional<std::int64_t> max_run_seconds{};
    std::optional<std::string> stop_at{};
    std::optional<LossPolicy> loss_policy{};
    std::optional<Placement> placement{};
    std::optional<std::vector<SecretEnv>> secret_envs{};
    std::optional<std::vector<SecretFile>> secret_files{};
    std::optional<Labels> labels{};
    std::optional<std::string> entrypoint{};
    std::optional<std::string> shm_size{};
    std::optional<std::int64_t> stop_grace_seconds{};
    std::optional<bool> no_init{};
    std::optional<std::string> project{};
    bool operator==(const CreateInstance&) const = default;
};
BOOST_DESCRIBE_STRUCT(CreateInstance, (),
                      (instance_id, tenant_id, tenant_name, image, storage_id, spec_name, template_,
                       template_name, parameters, zone, inactivity_timeout_seconds, max_run_seconds, stop_at,
                       loss_policy, placement, secret_envs, secret_files, labels, entrypoint, shm_size,
                       stop_grace_seconds, no_init, project))
template <>
inline constexpr auto fields<CreateInstance> = std::to_array<Field>({
    {.member = "instance_id", .help = "The caller's name for it; free again once the instance has ended and was deleted.",
     .example = "notebook-1", .form = &forms::id},
    {.member = "tenant_id", .help = "Owning tenant: the key's own tenant; with an operator's key any.",
     .example = "acme", .form = &forms::id},
    {.member = "tenant_name", .help = "The tenant's name for people.", .example = "Acme Ltd", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "image", .help = "Container image to run. Default: the template's image.",
     .example = "docker.io/library/nginx:1.27", .max = 512, .form = &forms::image, .absent = Absent::fills},
    {.member = "storage_id", .help = "Volume that template.volumes mean when they name none.",
     .example = "models", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "spec_name", .help = "Shape of the instance.", .example = "h100-1", .form = &forms::id},
    {.member = "template_", .help = "How the container is run.", .absent = Absent::fills},
    {.member = "template_name",
     .help = "A template, as `hostler template list` shows them. Fields of the request override the template's.",
     .example = "jupyter", .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "parameters", .help = "Values of the template's parameters.", .max = 64,
     .absent = Absent::fills},
    {.member = "zone", .help = "Only in this zone.", .example = "nj", .form = &forms::label, .in = In::query},
    {.member = "inactivity_timeout_seconds",
     .help = "Stop it after this time without use; 0: never. Default: as in its template.",
     .example = "7200", .min = 0, .max = 366 * 24 * 3600, .unit = Unit::seconds},
    {.member = "max_run_seconds", .help = "Stop it after this running time; 0: never.", .example = "28800",
     .min = 0, .max = 366 * 24 * 3600, .unit = Unit::seconds},
    {.member = "stop_at", .help = "Stop it at this time, or off.", .example = "2030-11-22T18:00:00Z",
     .form = &forms::time_or_off},
    {.member = "loss_policy",
     .help = "Policy for a lost host. stay: it stays on that host only; move: after ten minutes of silence it starts "
             "again on another host, without volumes. Default: as in its template, else stay.",
     .example = "stay"},
    {.member = "placement", .help = "Placement constraints: hosts, GPUs, and position relative to other instances. "
                                    "Default: the template's."},
    {.member = "secret_envs", .help = "Variables that have values of secrets.", .max = 256},
    {.member = "secret_files", .help = "Files in memory that have values of secrets.", .max = 64},
    {.member = "labels", .help = "Labels of the instance. Lists can filter by them.", .example = "{\"team\":\"ml\"}",
     .max = labels_max},
    {.member = "entrypoint",
     .help = "Command line in place of the image's ENTRYPOINT, split as a shell would; empty: none. The image's CMD "
             "is then ignored, too.",
     .example = "tini -- python", .max = 32768},
    {.member = "shm_size", .help = "Size of /dev/shm, at most its memory. Without it, half of its memory.",
     .example = "8Gi", .form = &forms::quantity},
    {.member = "stop_grace_seconds",
     .help = "Time between SIGTERM and SIGKILL. Default: 30 s, unless the operator has set another time.",
     .example = "120", .min = 1, .max = stop_grace_max_s, .unit = Unit::seconds},
    {.member = "no_init",
     .help = "Run its program as process 1 and not below an init that reaps orphans. For images with their own init.",
     .example = "true"},
    {.member = "project", .help = "Project of the tenant. Default: `default`.", .example = "lab", .form = &forms::label},
});

// No port, variable or mount path twice; a volume has a name or storageID stands for it; no label is empty.
template <>
struct Rules<CreateInstance> {
    static void check(const CreateInstance& request, Wrong& wrong);
};

// GET and DELETE /gpu-instances/{instanceID}.
struct NameInstance {
    std::string instance_id;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameInstance, (), (instance_id, tenant_id))
template <>
inline constexpr auto fields<NameInstance> = std::to_array<Field>({
    {.member = "instance_id", .help = "The instanceID it was started with.", .example = "notebook-1",
     .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
});

enum class InstanceState {
    init,      // A stock slot: resources are locked.
    ready,     // Started; the probe does not answer yet.
    running,   // The probe answers.
    stopping,
    stopped,
    failed,
    lost,      // Its host is silent for too long; it may still run there.
};
BOOST_DESCRIBE_ENUM(InstanceState, init, ready, running, stopping, stopped, failed, lost)

struct InstanceStateAnswer {
    InstanceState state = InstanceState::init;
};
BOOST_DESCRIBE_STRUCT(InstanceStateAnswer, (), (state))
template <>
inline constexpr auto fields<InstanceStateAnswer> = std::to_array<Field>({
    {.member = "state", .help = "init, ready and running as the source has them, and how it may end.",
     .example = "running"},
});

struct InstanceRun {
    std::uint64_t generation = 0;
    std::optional<WallTime> started_at{};
    std::optional<WallTime> ready_at{};
    std::optional<WallTime> ended_at{};
    std::string host;
    std::string reason;
    std::optional<int> exit_code{};
    std::optional<std::int64_t> killed_after_seconds{};
};
BOOST_DESCRIBE_STRUCT(InstanceRun, (),
                      (generation, started_at, ready_at, ended_at, host, reason, exit_code, killed_after_seconds))
template <>
inline constexpr auto fields<InstanceRun> = std::to_array<Field>({
    {.member = "generation", .help = "Of its container.", .example = "1"},
    {.member = "started_at", .help = "When its container started; absent: it never did."},
    {.member = "ready_at", .help = "When it was running."},
    {.member = "ended_at", .help = "When it was over; absent: it is not."},
    {.member = "host", .help = "The host it was on.", .example = "h-4f2a9c"},
    {.member = "reason", .help = "Why it was over, as a token.", .example = "restarted"},
    {.member = "exit_code", .help = "Exit code of its container.", .example = "0"},
    {.member = "killed_after_seconds",
     .help = "Its program did not end within this time after SIGTERM and got SIGKILL; absent: it ended in time.",
     .example = "30", .unit = Unit::seconds},
});

struct InstanceUrl {
    int port = 0;
    std::string url;
    bool public_ = false;
};
BOOST_DESCRIBE_STRUCT(InstanceUrl, (), (port, url, public_))
template <>
inline constexpr auto fields<InstanceUrl> = std::to_array<Field>({
    {.member = "port", .help = "The container's port.", .example = "8080"},
    {.member = "url", .help = "URL of the port.", .example = "http://8080-i-7k2m9x.localhost:8443/"},
    {.member = "public_", .help = "Open to everyone.", .example = "true"},
});

// `instance` in a path: its id, or its instanceID.
struct InstanceLayer {
    std::string host;
    bool kept = false;
    std::optional<std::int64_t> bytes{};
    std::optional<std::int64_t> used_bytes{};
    std::optional<std::int64_t> total_bytes{};
    std::optional<std::int64_t> used_inodes{};
    std::optional<std::int64_t> total_inodes{};
};
BOOST_DESCRIBE_STRUCT(InstanceLayer, (),
                      (host, kept, bytes, used_bytes, total_bytes, used_inodes, total_inodes))
template <>
inline constexpr auto fields<InstanceLayer> = std::to_array<Field>({
    {.member = "host", .help = "The host that has it.", .example = "h-4f2a9c"},
    {.member = "kept", .help = "It waits there for the next start; false: the instance writes to it now."},
    {.member = "bytes", .help = "Its size on the host's disk while it is kept; absent: not reported yet.",
     .example = "73400320"},
    {.member = "used_bytes", .help = "Bytes in use while the instance writes to it; absent: not known now.",
     .example = "3221225472", .unit = Unit::bytes},
    {.member = "total_bytes", .help = "Capacity in bytes.", .example = "10630463488",
     .unit = Unit::bytes},
    {.member = "used_inodes", .help = "Files and folders in it.", .example = "1200"},
    {.member = "total_inodes", .help = "Maximum number of files and folders.", .example = "5242880"},
});

struct InstanceOwner {
    std::string kind;
    std::string id;
};
BOOST_DESCRIBE_STRUCT(InstanceOwner, (), (kind, id))
template <>
inline constexpr auto fields<InstanceOwner> = std::to_array<Field>({
    {.member = "kind", .help = "Kind of the owner.", .example = "job"},
    {.member = "id", .help = "Id of the owner.", .example = "j-7k2m9x"},
});

struct InstanceGpu {
    std::string model;
    int count = 0;
    std::optional<std::string> price_per_hour{};
    std::optional<std::string> currency{};
};
BOOST_DESCRIBE_STRUCT(InstanceGpu, (), (model, count, price_per_hour, currency))
template <>
inline constexpr auto fields<InstanceGpu> = std::to_array<Field>({
    {.member = "model", .help = "GPU model; while it holds none, as its spec names it. Empty: any.",
     .example = "H100 SXM5 80GB"},
    {.member = "count", .help = "GPUs that it holds; while it holds none, as its spec asks for.", .example = "1"},
    {.member = "price_per_hour",
     .help = "Present price of an hour of the GPUs that it holds; absent: it holds none, or no price is set.",
     .example = "2.49"},
    {.member = "currency", .help = "Currency of the price.", .example = "USD"},
});

// Where a new instance goes, or would go.
struct InstancePlan {
    std::string zone;
    std::optional<std::string> host{};
    bool from_stock = false;
    std::optional<InstanceGpu> gpu{};
    std::int64_t inactivity_timeout_seconds = 0;
    std::int64_t max_run_seconds = 0;
    std::optional<WallTime> stop_at{};
};
BOOST_DESCRIBE_STRUCT(InstancePlan, (),
                      (zone, host, from_stock, gpu, inactivity_timeout_seconds, max_run_seconds, stop_at))
template <>
inline constexpr auto fields<InstancePlan> = std::to_array<Field>({
    {.member = "zone", .help = "The zone.", .example = "lon"},
    {.member = "host", .help = "The host; for callers who may see hosts.", .example = "h-4f2a9c"},
    {.member = "from_stock", .help = "It takes a ready slot of the stock; false: its container is placed on a free host.",
     .example = "true"},
    {.member = "gpu", .help = "Its GPUs, and the present price of an hour; absent: it has none."},
    {.member = "inactivity_timeout_seconds", .help = "Time without use after which it is stopped; 0: never.",
     .example = "1800", .unit = Unit::seconds},
    {.member = "max_run_seconds", .help = "Running time after which it is stopped; 0: never.", .example = "28800",
     .unit = Unit::seconds},
    {.member = "stop_at", .help = "It is stopped at this time."},
});

struct CreatedInstance {
    std::optional<InstancePlan> plan{};
};
BOOST_DESCRIBE_STRUCT(CreatedInstance, (), (plan))
template <>
inline constexpr auto fields<CreatedInstance> = std::to_array<Field>({
    {.member = "plan", .help = "With dryRun=true: where it would go and what it costs; absent: it exists already."},
});

struct Instance {
    std::string id;
    std::string instance_id;
    std::string tenant_id;
    std::string tenant_name;
    std::string project;
    std::string spec_name;
    std::string image;
    std::string template_name;
    InstanceState state = InstanceState::init;
    std::string phase;
    bool resumable = false;
    std::string reason;
    std::string message;
    std::vector<InstanceUrl> urls;
    std::string gateway;
    std::string host;
    std::string zone;
    std::vector<std::string> gpus;
    bool simulated = false;
    std::string address;
    std::string network;
    std::vector<VolumeMount> volumes;
    std::uint64_t generation = 0;
    WallTime created_at;
    std::string created_by;
    std::optional<WallTime> started_at{};
    std::optional<WallTime> ready_at{};
    std::optional<WallTime> ended_at{};
    std::optional<int> exit_code{};
    bool holds_place = false;
    int probes = 0;
    std::vector<InstanceRun> runs;
    std::int64_t inactivity_timeout_seconds = 0;
    std::int64_t max_run_seconds = 0;
    std::optional<WallTime> stop_at{};
    std::optional<WallTime> kept_until{};
    std::optional<bool> in_use{};
    std::optional<WallTime> used_at{};
    std::string used_by;
    std::optional<WallTime> stops_at{};
    std::string stops_because;
    LossPolicy loss_policy = LossPolicy::stay;
    std::optional<Placement> placement{};
    std::optional<InstanceLayer> layer{};
    std::vector<SecretEnv> secret_envs;
    std::vector<SecretFile> secret_files;
    Labels labels;
    std::string shm_size;
    std::int64_t stop_grace_seconds = 0;
    std::optional<InstanceOwner> owner{};
    std::optional<InstanceGpu> gpu{};
};
BOOST_DESCRIBE_STRUCT(Instance, (),
                      (id, instance_id, tenant_id, tenant_name, project, spec_name, image, template_name, state, phase, resumable,
                       reason, message, urls, gateway, host, zone, gpus, simulated, address, network, volumes, generation,
                       created_at, created_by, started_at, ready_at, ended_at, exit_code, holds_place, probes, runs, inactivity_timeout_seconds,
                       max_run_seconds, stop_at, kept_until, in_use, used_at, used_by, stops_at,
                       stops_because, loss_policy, placement, layer, secret_envs, secret_files, labels, shm_size,
                       stop_grace_seconds, owner, gpu))
template <>
inline constexpr auto fields<Instance> = std::to_array<Field>({
    {.member = "id", .help = "Its id, unique in this cloud.", .example = "i-7k2m9x"},
    {.member = "instance_id", .help = "The caller's name for it.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Owning tenant.", .example = "acme"},
    {.member = "tenant_name", .help = "The tenant's name for people.", .example = "Acme Ltd"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "spec_name", .help = "Its shape.", .example = "h100-1"},
    {.member = "image", .help = "The container image.", .example = "docker.io/library/nginx:1.27"},
    {.member = "template_name", .help = "The template it was started from; empty: none.",
     .example = "jupyter"},
    {.member = "state", .help = "Its state.", .example = "running"},
    {.member = "phase", .help = "The state in finer steps: placing, pulling, starting, probing and so on.",
     .example = "running"},
    {.member = "resumable", .help = "It is stopped and can be started again."},
    {.member = "reason", .help = "Reason of the state, as a token.", .example = "image_unavailable"},
    {.member = "message", .help = "Reason of the state, in words.", .example = "the image cannot be pulled"},
    {.member = "urls", .help = "URLs of its ports."},
    {.member = "gateway", .help = "Gateway for terminals, commands and forwarded ports.",
     .example = "http://localhost:8443"},
    {.member = "host", .help = "The host it is on; empty: none yet.", .example = "h-4f2a9c"},
    {.member = "zone", .help = "The zone it is in; empty: none yet.", .example = "nj"},
    {.member = "gpus", .help = "Ids of its GPUs."},
    {.member = "simulated", .help = "Its GPUs are simulated: this is a demonstration."},
    {.member = "address", .help = "Its address in the tenant's network.", .example = "10.64.0.10"},
    {.member = "network", .help = "Name of that network; empty: it is in none now.", .example = "default"},
    {.member = "volumes", .help = "Mounted volumes."},
    {.member = "generation", .help = "Increases with each change of the wanted state.", .example = "1"},
    {.member = "created_at", .help = "Creation time."},
    {.member = "created_by", .help = "Creator: a user, a service account or an API key; empty: not known.",
     .example = "user/u-3hq8wz"},
    {.member = "started_at", .help = "When its container started, of this run."},
    {.member = "ready_at", .help = "When this run was running: its probes had answered."},
    {.member = "ended_at", .help = "When it ended, or was stopped."},
    {.member = "exit_code", .help = "Exit code of its container.", .example = "0"},
    {.member = "holds_place",
     .help = "It holds its GPUs and volumes, also after its end, until its host confirms that nothing of it is left."},
    {.member = "probes", .help = "Number of ports that must answer before it is running; 0: none.",
     .example = "1"},
    {.member = "runs", .help = "Its last 16 runs, newest last: start, end and reason."},
    {.member = "inactivity_timeout_seconds", .help = "Time without use after which it is stopped; 0: never.",
     .example = "7200", .unit = Unit::seconds},
    {.member = "max_run_seconds", .help = "Running time after which it is stopped; 0: never.", .example = "28800",
     .unit = Unit::seconds},
    {.member = "stop_at", .help = "It is stopped at this time."},
    {.member = "kept_until", .help = "No rule stops it before this time."},
    {.member = "in_use", .help = "It was in use at its host's last report; absent: unknown."},
    {.member = "used_at", .help = "When it was last used."},
    {.member = "used_by", .help = "Last kind of use: connection, terminal, command, files, port, jupyter, or start.",
     .example = "terminal"},
    {.member = "stops_at", .help = "Expected time of an automatic stop."},
    {.member = "stops_because", .help = "Rule of that stop: inactivity, max_run or stop_at.",
     .example = "inactivity"},
    {.member = "loss_policy",
     .help = "Policy for a lost host. stay: it stays on that host; move: it starts again on another host.",
     .example = "stay"},
    {.member = "placement", .help = "Placement constraints."},
    {.member = "layer",
     .help = "Storage of the files outside its volumes, if they outlive a stop; absent: there is none."},
    {.member = "secret_envs", .help = "Variables that have values of secrets."},
    {.member = "secret_files", .help = "Files in memory that have values of secrets."},
    {.member = "labels", .help = "Labels of the instance.", .example = "{\"team\":\"ml\"}"},
    {.member = "shm_size", .help = "Size of its /dev/shm; empty: not known before it has a place.", .example = "8Gi"},
    {.member = "stop_grace_seconds", .help = "Time between SIGTERM and SIGKILL when it is stopped.", .example = "30",
     .unit = Unit::seconds},
    {.member = "owner",
     .help = "The job or service that it is a part of, which alone changes and deletes it; absent: there is none."},
    {.member = "gpu", .help = "Model, number and price of its GPUs; absent: it asks for none."},
});

// POST /v1/instances/{instance}/keep-alive.
struct KeepAlive {
    std::string instance;
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> for_seconds{};
};
BOOST_DESCRIBE_STRUCT(KeepAlive, (), (instance, tenant_id, for_seconds))
template <>
inline constexpr auto fields<KeepAlive> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
    {.member = "for_seconds", .help = "Time from now. Default: its inactivity timeout, else an hour.",
     .example = "14400", .min = 1, .max = 366 * 24 * 3600, .unit = Unit::seconds},
});

// PATCH /v1/instances/{instance}. What is not given stays.
struct UpdateInstance {
    std::string instance;
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> inactivity_timeout_seconds{};
    std::optional<std::int64_t> max_run_seconds{};
    std::optional<std::string> stop_at{};
    std::optional<std::string> image{};
    std::optional<std::string> cmd{};
    std::optional<std::vector<Env>> envs{};
    std::optional<std::vector<Port>> ports{};
    std::optional<Labels> labels{};
    std::optional<std::string> entrypoint{};
    std::optional<std::string> shm_size{};
    std::optional<std::int64_t> stop_grace_seconds{};
    std::optional<bool> no_init{};
};
BOOST_DESCRIBE_STRUCT(UpdateInstance, (),
                      (instance, tenant_id, inactivity_timeout_seconds, max_run_seconds, stop_at, image, cmd,
                       envs, ports, labels, entrypoint, shm_size, stop_grace_seconds, no_init))
template <>
inline constexpr auto fields<UpdateInstance> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
    {.member = "inactivity_timeout_seconds",
     .help = "Stop it after this time without use; 0: never.", .example = "7200", .min = 0,
     .max = 366 * 24 * 3600, .unit = Unit::seconds},
    {.member = "max_run_seconds", .help = "Stop it after this running time; 0: never.", .example = "28800",
     .min = 0, .max = 366 * 24 * 3600, .unit = Unit::seconds},
    {.member = "stop_at", .help = "Stop it at this time, or off.", .example = "2030-11-22T18:00:00Z",
     .form = &forms::time_or_off},
    {.member = "image", .help = "Run this image from its next start on; for a stopped or failed instance.",
     .example = "docker.io/library/nginx:1.27", .min = 1, .max = 512, .form = &forms::image},
    {.member = "cmd", .help = "Run this command line; empty: the image's own.",
     .example = "jupyter lab --port 8080", .max = 32768},
    {.member = "envs", .help = "Variables to set; its others stay.", .max = 256},
    {.member = "ports", .help = "Ports, in place of all present ones.", .max = 32},
    {.member = "labels", .help = "Labels to set; an empty value removes a label, the others stay.",
     .example = "{\"team\":\"ml\"}", .max = label_changes_max},
    {.member = "entrypoint",
     .help = "Run this command line in place of the image's ENTRYPOINT; empty: none.", .example = "tini -- python",
     .max = 32768},
    {.member = "shm_size", .help = "Give /dev/shm this size, at most its memory.", .example = "8Gi",
     .form = &forms::quantity},
    {.member = "stop_grace_seconds",
     .help = "Time between SIGTERM and SIGKILL, also of a running instance.", .example = "120", .min = 1,
     .max = stop_grace_max_s, .unit = Unit::seconds},
    {.member = "no_init", .help = "Run its program as process 1 and not below an init.", .example = "true"},
});

// No port or variable twice.
template <>
struct Rules<UpdateInstance> {
    static void check(const UpdateInstance& request, Wrong& wrong);
};

struct GetInstance {
    std::string instance;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(GetInstance, (), (instance, tenant_id))
template <>
inline constexpr auto fields<GetInstance> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
});

struct StopInstance {
    std::string instance;
    std::optional<std::string> tenant_id{};
    std::optional<bool> discard{};
};
BOOST_DESCRIBE_STRUCT(StopInstance, (), (instance, tenant_id, discard))
template <>
inline constexpr auto fields<StopInstance> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
    {.member = "discard",
     .help = "Discard its files outside its volumes. Default: they are kept for its next start."},
});

struct ListInstances {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> instance{};
    std::optional<InstanceState> state{};
    std::optional<std::string> zone{};
    std::optional<std::string> host{};
    std::optional<std::string> spec_name{};
    std::optional<std::string> label{};
    std::optional<std::string> owner{};
    bool all = false;
};
BOOST_DESCRIBE_STRUCT(ListInstances, (), (tenant_id, project, instance, state, zone, host, spec_name, label, owner, all))
template <>
inline constexpr auto fields<ListInstances> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "instance", .help = "Only the one with this id or instanceID.", .example = "notebook-1",
     .max = 128},
    {.member = "state", .help = "Only those in this state."},
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "host", .help = "Only those on this host.", .example = "h-4f2a9c", .max = 128},
    {.member = "spec_name", .help = "Only those of this spec.", .example = "h100-1", .form = &forms::id},
    {.member = "label", .help = "Only those with these labels, with commas: NAME=VALUE, or NAME with any value.",
     .example = "team=ml", .form = &forms::label_filter},
    {.member = "owner", .help = "Only those of this owner: KIND/ID, or KIND for all owners of a kind.",
     .example = "job/j-7k2m9x", .form = &forms::owner_filter},
    {.member = "all", .help = "Also those that have ended.", .absent = Absent::fills},
});

}  // namespace hostler::api
