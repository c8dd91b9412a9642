// Every operation of the API, once. The server routes, checks and decodes from this table; openapi.json and
// the command line are made from it.
#pragma once

#include <span>

#include "api/operation.h"
#include "api/types_alert.h"
#include "api/types_authority.h"
#include "api/types_common.h"
#include "api/types_consolidation.h"
#include "api/types_foreign.h"
#include "api/types_host.h"
#include "api/types_instance.h"
#include "api/types_key.h"
#include "api/types_offer.h"
#include "api/types_placement.h"
#include "api/types_price.h"
#include "api/types_report_schedule.h"
#include "api/types_sealing.h"
#include "api/types_series.h"
#include "api/types_share.h"
#include "api/types_stock.h"
#include "api/types_template.h"
#include "api/types_usage.h"
#include "api/types_volume.h"
#include "api/types_zone.h"

namespace hostler::api {

// All of them, in the order below.
std::span<const Operation* const> operations();

// What the operations are about, as the command line and the tags of openapi.json name it.
struct Noun {
    std::string_view name;
    std::string_view help;
};
inline constexpr auto nouns = std::to_array<Noun>({
    {"stock", "Resources of instances, held in advance."},
    {"instance", "GPU instances."},
    {"template", "Kinds of instances, ready to be started."},
    {"zone", "Sites where hosts stand."},
    {"access", "Entry points of zones, for hosts and tunnels."},
    {"host", "Machines with GPUs."},
    {"host token", "One-time tokens with which hosts join."},
    {"gpu", "GPUs of the hosts."},
    {"metrics", "What is measured of GPUs and hosts, over time."},
    {"report", "What became of GPUs: how busy they were, what was wasted, what held work back."},
    {"report schedule", "Reports that are made by themselves."},
    {"spec", "Shapes of instances."},
    {"offer", "What could be had now."},
    {"placement", "Where tasks would go, and why some have no place."},
    {"price", "What a GPU costs for an hour."},
    {"consolidation", "Moves that free whole hosts."},
    {"volume", "Data that outlives an instance."},
    {"network", "Networks that instances are in."},
    {"operation", "What takes longer than a call."},
    {"reconcile", "What runs and is not in the store, after a restore for instance."},
    {"key", "API keys."},
    {"ca", "Who signs certificates."},
    {"seal", "Keys that seal what is secret in the store."},
    {"alert", "What somebody should look at now."},
    {"alert rule", "What makes alerts."},
    {"alert silence", "Alerts that nobody is told of for a while."},
    {"alert receiver", "Who is told of alerts."},
    {"event", "What happened."},
    {"whoami", "Whom a key belongs to."},
});

namespace ops {

// clang-format off

// The five calls of the source, at their paths and with their fields.
inline constexpr Typed<CreateStocks, Empty> create_stocks{{
    .name = "createStocks", .method = Method::post, .path = "/stocks", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Add slots to the stock of a spec, which is created if need be.",
    .noun = "stock", .verb = "create", .argument = "specName",
    .example = "stock create h100-1 --number 4 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' "
               "--gpu-num 1"}};
inline constexpr Typed<DeleteStocks, Empty> delete_stocks{{
    .name = "deleteStocks", .method = Method::delete_, .path = "/stocks", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Take idle slots out of the stock of a spec.",
    .body = Body::or_query, .noun = "stock", .verb = "delete", .argument = "specName",
    .example = "stock delete h100-1 --number 1"}};
inline constexpr Typed<CreateInstance, Empty> create_instance{{
    .name = "createInstance", .method = Method::post, .path = "/gpu-instances", .permission = "instance.write",
    .help = "Create a GPU instance and start it, from stock where there is some.", .noun = "instance",
    .verb = "create",
    .argument = "instanceID",
    .example = "instance create notebook-1 --spec h100-1 --image docker.io/library/nginx:1.27 "
               "--port 80,public,probe --wait"}};
inline constexpr Typed<NameInstance, Empty> delete_instance{{
    .name = "deleteInstance", .method = Method::delete_, .path = "/gpu-instances/{instanceID}",
    .permission = "instance.write", .help = "End an instance for good; its volumes stay.",
    .noun = "instance",
    .verb = "delete", .example = "instance delete notebook-1"}};
inline constexpr Typed<NameInstance, InstanceStateAnswer> get_instance_state{{
    .name = "getInstanceState", .path = "/gpu-instances/{instanceID}", .permission = "instance.read",
    .help = "Tell the state of an instance in one word.", .noun = "instance", .verb = "state",
    .example = "instance state notebook-1"}};

inline constexpr Typed<Empty, List<Zone>> list_zones{{
    .name = "listZones", .path = "/v1/zones", .permission = "zone.read", .help = "List the zones.",
    .list = true,
    .noun = "zone", .verb = "list", .columns = "name location accessPoints hosts gpus gpusFree createdAt"}};
inline constexpr Typed<CreateZone, Zone> create_zone{{
    .name = "createZone", .method = Method::post, .path = "/v1/zones", .permission = "zone.write",
    .scope = Scope::operator_only, .help = "Create a zone.", .status = 201, .noun = "zone", .verb = "create",
    .argument = "name", .example = "zone create nj --location 'New Jersey, US'"}};
inline constexpr Typed<NameZone, Zone> get_zone{{
    .name = "getZone", .path = "/v1/zones/{zone}", .permission = "zone.read", .help = "Show a zone.",
    .noun = "zone", .verb = "get"}};
inline constexpr Typed<UpdateZone, Zone> update_zone{{
    .name = "updateZone", .method = Method::patch, .path = "/v1/zones/{zone}", .permission = "zone.write",
    .scope = Scope::operator_only, .help = "Say where a zone is.", .noun = "zone", .verb = "edit",
    .example = "zone edit nj --coordinates 40.73,-74.17"}};
inline constexpr Typed<NameZone, Empty> delete_zone{{
    .name = "deleteZone", .method = Method::delete_, .path = "/v1/zones/{zone}", .permission = "zone.write",
    .scope = Scope::operator_only, .help = "Delete a zone that has no hosts, stock or access points left.",
    .noun = "zone", .verb = "delete"}};

inline constexpr Typed<ListAccessPoints, List<AccessPoint>> list_access_points{{
    .name = "listAccessPoints", .path = "/v1/access-points", .permission = "access.read",
    .scope = Scope::operator_only, .help = "List the access points.", .list = true, .noun = "access",
    .verb = "list", .columns = "id zone state address hosts standbys loadPercent tunnels version seenAt"}};
inline constexpr Typed<GetAccessPoint, AccessPoint> get_access_point{{
    .name = "getAccessPoint", .path = "/v1/access-points/{accessPoint}", .permission = "access.read",
    .scope = Scope::operator_only, .help = "Show an access point.", .noun = "access", .verb = "get"}};
inline constexpr Typed<DrainAccessPoint, AccessPoint> drain_access_point{{
    .name = "drainAccessPoint", .method = Method::post, .path = "/v1/access-points/{accessPoint}/drain",
    .permission = "access.write", .scope = Scope::operator_only,
    .help = "Move the hosts of an access point to others, and let no new ones come.", .noun = "access",
    .verb = "drain"}};
inline constexpr Typed<GetAccessPoint, AccessPoint> undrain_access_point{{
    .name = "undrainAccessPoint", .method = Method::post, .path = "/v1/access-points/{accessPoint}/undrain",
    .permission = "access.write", .scope = Scope::operator_only, .help = "Let an access point take hosts again.",
    .noun = "access", .verb = "undrain"}};

inline constexpr Typed<CreateHostToken, CreatedHostToken> create_host_token{{
    .name = "createHostToken", .method = Method::post, .path = "/v1/host-tokens", .permission = "host.write",
    .scope = Scope::operator_only, .help = "Create a token with which one host joins.", .status = 201,
    .noun = "host token", .verb = "create", .example = "host token create --zone nj"}};
inline constexpr Typed<Empty, List<HostToken>> list_host_tokens{{
    .name = "listHostTokens", .path = "/v1/host-tokens", .permission = "host.read",
    .scope = Scope::operator_only, .help = "List the tokens with which hosts join.", .list = true,
    .noun = "host token", .verb = "list", .columns = "id zone provider createdAt expiresAt usedAt host"}};
inline constexpr Typed<NameHostToken, Empty> delete_host_token{{
    .name = "deleteHostToken", .method = Method::delete_, .path = "/v1/host-tokens/{hostToken}",
    .permission = "host.write", .scope = Scope::operator_only, .help = "Make a token useless.",
    .noun = "host token", .verb = "delete"}};

inline constexpr Typed<ListHosts, List<Host>> list_hosts{{
    .name = "listHosts", .path = "/v1/hosts", .permission = "host.read", .scope = Scope::operator_only,
    .help = "List the hosts.", .list = true, .noun = "host", .verb = "list",
    .columns = "id name zone state gpus gpusFree gpuModels simulated instances seenAt cpus memoryBytes"}};
inline constexpr Typed<NameHost, Host> get_host{{
    .name = "getHost", .path = "/v1/hosts/{host}", .permission = "host.read", .scope = Scope::operator_only,
    .help = "Show a host.", .noun = "host", .verb = "get"}};
inline constexpr Typed<UpdateHost, Host> update_host{{
    .name = "updateHost", .method = Method::patch, .path = "/v1/hosts/{host}", .permission = "host.write",
    .scope = Scope::operator_only, .help = "Say where a host stands, what it is like, and whether it is trusted.",
    .noun = "host", .verb = "edit", .example = "host edit gpu-07 --rack nj-r12 --label disk=nvme --trust trusted"}};
inline constexpr Typed<NameHost, Host> cordon_host{{
    .name = "cordonHost", .method = Method::post, .path = "/v1/hosts/{host}/cordon",
    .permission = "host.write",
    .scope = Scope::operator_only, .help = "Put nothing new on a host.", .noun = "host", .verb = "cordon"}};
inline constexpr Typed<NameHost, Host> uncordon_host{{
    .name = "uncordonHost", .method = Method::post, .path = "/v1/hosts/{host}/uncordon",
    .permission = "host.write", .scope = Scope::operator_only, .help = "Let a host take work again.",
    .noun = "host", .verb = "uncordon"}};
inline constexpr Typed<NameHost, Host> release_host{{
    .name = "releaseHost", .method = Method::post, .path = "/v1/hosts/{host}/release",
    .permission = "host.write", .scope = Scope::operator_only,
    .help = "Lift a host's quarantine: the next machine that says hello with its key is the host.",
    .noun = "host", .verb = "release"}};
inline constexpr Typed<NameHost, Host> measure_host{{
    .name = "measureHost", .method = Method::post, .path = "/v1/hosts/{host}/measure", .permission = "host.write",
    .scope = Scope::operator_only,
    .help = "Measure a host anew once its GPUs are unused, and forget an operator's word that lets it in.",
    .noun = "host", .verb = "measure"}};
inline constexpr Typed<NameHost, Host> admit_host{{
    .name = "admitHost", .method = Method::post, .path = "/v1/hosts/{host}/admit", .permission = "host.write",
    .scope = Scope::operator_only,
    .help = "Let a host sell with the GPUs that it has, whatever was measured of it.", .noun = "host",
    .verb = "admit"}};
inline constexpr Typed<NameHost, Explanation> explain_host{{
    .name = "explainHost", .path = "/v1/hosts/{host}/explain", .permission = "host.read",
    .scope = Scope::operator_only, .help = "Tell why a host is in its state.", .noun = "host",
    .verb = "explain"}};
inline constexpr Typed<RemoveHost, Empty> remove_host{{
    .name = "removeHost", .method = Method::delete_, .path = "/v1/hosts/{host}", .permission = "host.write",
    .scope = Scope::operator_only, .help = "Remove a host: it is cut off at once, for good.", .noun = "host",
    .verb = "remove", .confirm = "It can join again only with a new token.",
    .example = "host remove h-4f2a9c"}};

inline constexpr Typed<ListGpus, List<Gpu>> list_gpus{{
    .name = "listGpus", .path = "/v1/gpus", .permission = "gpu.read", .scope = Scope::operator_only,
    .help = "List the GPUs.", .list = true, .noun = "gpu", .verb = "list",
    .columns = "id host index state remedy use model simulated heldBy utilizationPercent temperatureCelsius powerWatts "
               "memoryBytes zone"}};
inline constexpr Typed<GetGpu, Gpu> get_gpu{{
    .name = "getGpu", .path = "/v1/gpus/{gpu}", .permission = "gpu.read", .scope = Scope::operator_only,
    .help = "Show a GPU.", .noun = "gpu", .verb = "get"}};
inline constexpr Typed<GetGpu, GpuExplanation> explain_gpu{{
    .name = "explainGpu", .path = "/v1/gpus/{gpu}/explain", .permission = "gpu.read",
    .scope = Scope::operator_only, .help = "Tell how a GPU is, why, and what has to be done.", .noun = "gpu",
    .verb = "explain"}};
inline constexpr Typed<GetGpu, GpuExplanation> return_gpu{{
    .name = "returnGpu", .method = Method::post, .path = "/v1/gpus/{gpu}/return", .permission = "host.write",
    .scope = Scope::operator_only,
    .help = "Have a GPU tested that somebody has seen to: well, it takes work again; one that is gone is forgotten.",
    .noun = "gpu", .verb = "return"}};

inline constexpr Typed<ListGpuUsage, List<GpuUsage>> list_gpu_usage{{
    .name = "listGpuUsage", .path = "/v1/gpu-usage", .permission = "gpu.usage",
    .help = "Tell what GPUs do at this moment: a tenant's key those that its instances hold, an operator's all.",
    .list = true, .noun = "gpu", .verb = "usage",
    .columns = "hostName index model state instanceID utilizationPercent memoryUsedBytes powerWatts "
               "temperatureCelsius tenantID sampledAt id"}};
inline constexpr Typed<ListHostUsage, List<HostUsage>> list_host_usage{{
    .name = "listHostUsage", .path = "/v1/host-usage", .permission = "host.read",
    .scope = Scope::operator_only, .help = "Tell what hosts do at this moment.", .list = true, .noun = "host",
    .verb = "usage",
    .columns = "id name state gpus gpusUsed cpuPercent load memoryUsedBytes memoryTotalBytes sampledAt zone"}};

inline constexpr Typed<Empty, List<SeriesMetric>> list_series_metrics{{
    .name = "listSeriesMetrics", .path = "/v1/series/metrics", .permission = "gpu.usage",
    .help = "List what is measured of GPUs and hosts.", .list = true, .noun = "metrics", .verb = "list",
    .columns = "name unit kind help"}};
inline constexpr Typed<QuerySeries, SeriesAnswer> query_series{{
    .name = "querySeries", .path = "/v1/series", .permission = "gpu.usage",
    .help = "Tell how a metric went: a tenant's key of what its instances held, an operator's of all.",
    .noun = "metrics", .verb = "query", .argument = "metric",
    .example = "metrics query gpu_utilization --where 'zone=lon' --by tenant --since 24h --step 5m"}};

inline constexpr Typed<AskReport, report::Report> report_usage{{
    .name = "reportUsage", .path = "/v1/reports/usage", .permission = "gpu.usage",
    .help = "Report how long GPUs were claimed, and how busy they were: a tenant's key of its own instances, an operator's of all.",
    .noun = "report", .verb = "usage", .example = "report usage --by tenant,class --since 7d"}};
inline constexpr Typed<AskReport, report::Report> report_waste{{
    .name = "reportWaste", .path = "/v1/reports/waste", .permission = "gpu.usage",
    .help = "Report what was claimed and idle.", .noun = "report", .verb = "waste",
    .example = "report waste --by instance --since 7d --top 20"}};
inline constexpr Typed<AskReport, report::Report> report_bottlenecks{{
    .name = "reportBottlenecks", .path = "/v1/reports/bottlenecks", .permission = "gpu.usage",
    .help = "Report what held work back, with the evidence and what to do.", .noun = "report",
    .verb = "bottlenecks", .example = "report bottlenecks --by instance --where tenant=acme"}};
inline constexpr Typed<AskReport, report::Report> report_all{{
    .name = "reportAll", .path = "/v1/reports/all", .permission = "gpu.usage",
    .help = "Report all of this at once.", .noun = "report", .verb = "all",
    .example = "report all --by tenant --since 30d -o html > report.html"}};

inline constexpr Typed<ListKeptReports, List<KeptReport>> list_kept_reports{{
    .name = "listKeptReports", .path = "/v1/kept-reports", .permission = "gpu.usage",
    .help = "List the reports that schedules have made.", .list = true, .noun = "report", .verb = "list",
    .columns = "id schedule from to madeAt sentAt tenantID", .example = "report list --schedule weekly"}};
inline constexpr Typed<NameKeptReport, report::Report> get_kept_report{{
    .name = "getKeptReport", .path = "/v1/kept-reports/{report}", .permission = "gpu.usage",
    .help = "Show a report that a schedule has made.", .noun = "report", .verb = "get"}};
inline constexpr Typed<DownloadReport, ReportDocument> download_report{{
    .name = "downloadReport", .path = "/v1/kept-reports/{report}/document", .permission = "gpu.usage",
    .help = "Write out a report that a schedule has made, as a page or a table.", .noun = "report", .verb = "download",
    .example = "report download rp-7k2m9x4q1z --format csv --section waste > waste.csv"}};
inline constexpr Typed<CreateReportSchedule, ReportSchedule> create_report_schedule{{
    .name = "createReportSchedule", .method = Method::post, .path = "/v1/report-schedules",
    .permission = "report.write", .help = "Have a report made of each day, week or month.", .status = 201,
    .noun = "report schedule", .verb = "create", .argument = "name",
    .example = "report schedule create weekly --by tenant --every week --at 06:00 --to finance"}};
inline constexpr Typed<ListReportSchedules, List<ReportSchedule>> list_report_schedules{{
    .name = "listReportSchedules", .path = "/v1/report-schedules", .permission = "gpu.usage",
    .help = "List the schedules of reports.", .list = true, .noun = "report schedule", .verb = "list",
    .columns = "name every at by where to nextAt kept keep lastError tenantID"}};
inline constexpr Typed<NameReportSchedule, ReportSchedule> get_report_schedule{{
    .name = "getReportSchedule", .path = "/v1/report-schedules/{schedule}", .permission = "gpu.usage",
    .help = "Show a schedule of reports.", .noun = "report schedule", .verb = "get"}};
inline constexpr Typed<NameReportSchedule, Empty> delete_report_schedule{{
    .name = "deleteReportSchedule", .method = Method::delete_, .path = "/v1/report-schedules/{schedule}",
    .permission = "report.write", .help = "Delete a schedule of reports, and those that it has made.",
    .noun = "report schedule", .verb = "delete", .confirm = "Its reports are gone with it."}};

inline constexpr Typed<Empty, List<Spec>> list_specs{{
    .name = "listSpecs", .path = "/v1/specs", .permission = "spec.read", .help = "List the specs.",
    .list = true,
    .noun = "spec", .verb = "list", .columns = "name gpuType gpuNum cpu memory createdAt"}};
inline constexpr Typed<GetSpec, Spec> get_spec{{
    .name = "getSpec", .path = "/v1/specs/{spec}", .permission = "spec.read", .help = "Show a spec.",
    .noun = "spec", .verb = "get"}};

inline constexpr Typed<ListOffers, List<Offer>> list_offers{{
    .name = "listOffers", .path = "/v1/offers", .permission = "offer.read",
    .help = "List what could be had now: which spec, in which zone, on what, how often.", .list = true,
    .noun = "offer", .verb = "list", .argument = "query",
    .columns = "spec zone gpuType gpus gpuMemoryBytes tier cpu memory available ready price currency trust isolation "
               "vendor location",
    .example = "offers 'gpu_memory>=48 zone=lon trust=trusted' --order=-available"}};

inline constexpr Typed<ExplainPlacement, PlacementAnswer> explain_placement{{
    .name = "explainPlacement", .method = Method::post, .path = "/v1/placements", .permission = "offer.read",
    .help = "Tell where tasks would go now, or why they have no place; nothing is reserved.", .noun = "placement",
    .verb = "explain", .example = "placement explain --gpus 4 --model h100 --near lon --within-km 300"}};
inline constexpr Typed<ListPrices, List<Price>> list_prices{{
    .name = "listPrices", .path = "/v1/prices", .permission = "price.read",
    .help = "List what a GPU costs for an hour.", .list = true, .noun = "price", .verb = "list",
    .columns = "gpuType zone trust isolation amount currency since version until id"}};
inline constexpr Typed<SetPrice, Price> set_price{{
    .name = "setPrice", .method = Method::put, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only,
    .help = "Set what GPUs cost from now on; what holds for just these so far ends.", .noun = "price",
    .verb = "set", .argument = "gpuType", .example = "price set H100 --amount 2.49 --currency USD --zone lon"}};
inline constexpr Typed<RemovePrice, Price> remove_price{{
    .name = "removePrice", .method = Method::delete_, .path = "/v1/prices", .permission = "price.write",
    .scope = Scope::operator_only, .help = "Let a price hold no more from now on.", .body = Body::or_query,
    .noun = "price", .verb = "remove", .argument = "gpuType", .example = "price remove H100 --zone lon"}};

inline constexpr Typed<Empty, List<Consolidation>> list_consolidations{{
    .name = "listConsolidations", .path = "/v1/consolidations", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "List consolidations that are under way or over.", .list = true,
    .noun = "consolidation", .verb = "list",
    .columns = "id state gpus movesDone movesTotal restarts zone createdAt endedAt message"}};
inline constexpr Typed<GetConsolidation, Consolidation> get_consolidation{{
    .name = "getConsolidation", .path = "/v1/consolidations/{consolidation}", .permission = "consolidation.read",
    .scope = Scope::operator_only, .help = "Show how far a consolidation is.", .noun = "consolidation",
    .verb = "get"}};
inline constexpr Typed<CreateConsolidation, Consolidation> create_consolidation{{
    .name = "createConsolidation", .method = Method::post, .path = "/v1/consolidations",
    .permission = "consolidation.write", .scope = Scope::operator_only,
    .help = "Move what may be moved so that whole hosts become free; a dry run answers the plan.",
    .status = 201, .noun = "consolidation", .verb = "create",
    .confirm = "Instances that are moved are stopped and begun anew.",
    .example = "consolidation create --zone lon --dry-run"}};
inline constexpr Typed<GetConsolidation, Consolidation> cancel_consolidation{{
    .name = "cancelConsolidation", .method = Method::post,
    .path = "/v1/consolidations/{consolidation}/cancel", .permission = "consolidation.write",
    .scope = Scope::operator_only, .help = "Begin no further moves; what was stopped is begun again first.",
    .noun = "consolidation", .verb = "cancel", .example = "consolidation cancel co-4t1b9rk2mx"}};

inline constexpr Typed<ListStocks, List<Stock>> list_stocks{{
    .name = "listStocks", .path = "/v1/stocks", .permission = "stock.read", .scope = Scope::operator_only,
    .help = "List the stock of every spec.", .list = true, .noun = "stock", .verb = "list",
    .columns = "specName wanted idle inUse preparing missing imagesPresent message"}};
inline constexpr Typed<GetSpec, Stock> get_stock{{
    .name = "getStock", .path = "/v1/stocks/{spec}", .permission = "stock.read",
    .scope = Scope::operator_only,
    .help = "Show the stock of a spec, zone by zone.", .noun = "stock", .verb = "get"}};
inline constexpr Typed<UpdateStock, Stock> update_stock{{
    .name = "updateStock", .method = Method::patch, .path = "/v1/stocks/{spec}", .permission = "stock.write",
    .scope = Scope::operator_only, .help = "Say whether idle slots of a spec give way to instances.",
    .noun = "stock", .verb = "edit", .example = "stock edit h100-1 --reclaim idle --keep 2"}};
inline constexpr Typed<PrepareStock, Stock> prepare_stock{{
    .name = "prepareStock", .method = Method::put, .path = "/v1/stocks/{spec}/images",
    .permission = "stock.write", .scope = Scope::operator_only,
    .help = "Say which images the hosts of a stock are to have in advance.", .noun = "stock",
    .verb = "prepare", .example = "stock prepare h100-1 --image docker.io/library/nginx:1.27 --template jupyter"}};

inline constexpr Typed<ListInstances, List<Instance>> list_instances{{
    .name = "listInstances", .path = "/v1/instances", .permission = "instance.read",
    .help = "List instances, or watch them.", .list = true, .watch = true, .noun = "instance", .verb = "list",
    .columns = "instanceID state reason urls stopsAt specName tenantID createdAt phase zone host",
    .example = "instance list --watch"}};
inline constexpr Typed<GetInstance, Instance> get_instance{{
    .name = "getInstance", .path = "/v1/instances/{instance}", .permission = "instance.read",
    .help = "Show an instance.", .noun = "instance", .verb = "get"}};
inline constexpr Typed<GetInstance, Instance> stop_instance{{
    .name = "stopInstance", .method = Method::post, .path = "/v1/instances/{instance}/stop",
    .permission = "instance.write",
    .help = "Stop an instance for now: what it holds is free, its name, URLs and volumes stay.",
    .noun = "instance", .verb = "stop", .example = "instance stop notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> start_instance{{
    .name = "startInstance", .method = Method::post, .path = "/v1/instances/{instance}/start",
    .permission = "instance.write", .help = "Start an instance again that was stopped.", .noun = "instance",
    .verb = "start", .example = "instance start notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> restart_instance{{
    .name = "restartInstance", .method = Method::post, .path = "/v1/instances/{instance}/restart",
    .permission = "instance.write", .help = "Give an instance a new container in the place that it has.",
    .noun = "instance", .verb = "restart", .example = "instance restart notebook-1 --wait"}};
inline constexpr Typed<KeepAlive, Instance> keep_instance_alive{{
    .name = "keepInstanceAlive", .method = Method::post, .path = "/v1/instances/{instance}/keep-alive",
    .permission = "instance.write", .help = "Let no rule stop an instance for a while.", .noun = "instance",
    .verb = "keep-alive", .example = "instance keep-alive notebook-1 --for 4h"}};
inline constexpr Typed<UpdateInstance, Instance> update_instance{{
    .name = "updateInstance", .method = Method::patch, .path = "/v1/instances/{instance}",
    .permission = "instance.write", .help = "Change when an instance is stopped by itself.",
    .noun = "instance", .verb = "update",
    .example = "instance update notebook-1 --inactivity-timeout 2h --max-run off"}};
inline constexpr Typed<GetLogs, Logs> get_instance_logs{{
    .name = "getInstanceLogs", .path = "/v1/instances/{instance}/logs", .permission = "instance.read",
    .help = "Show the last lines that an instance wrote.", .noun = "instance", .verb = "logs",
    .example = "instance logs notebook-1 --tail 50"}};
inline constexpr Typed<GetInstance, List<Event>> list_instance_events{{
    .name = "listInstanceEvents", .path = "/v1/instances/{instance}/events", .permission = "instance.read",
    .help = "List what happened to an instance.", .list = true, .noun = "instance", .verb = "events",
    .columns = "time actor reason message"}};
inline constexpr Typed<GetInstance, Explanation> explain_instance{{
    .name = "explainInstance", .path = "/v1/instances/{instance}/explain", .permission = "instance.read",
    .help = "Tell why an instance is in its state, and what would help.", .noun = "instance",
    .verb = "explain"}};

inline constexpr Typed<Empty, List<InstanceTemplate>> list_templates{{
    .name = "listTemplates", .path = "/v1/templates", .permission = "template.read",
    .help = "List the templates.", .list = true, .noun = "template", .verb = "list",
    .columns = "name title help image"}};
inline constexpr Typed<GetTemplate, InstanceTemplate> get_template{{
    .name = "getTemplate", .path = "/v1/templates/{template}", .permission = "template.read",
    .help = "Show a template, and what may be said when an instance is started from it.",
    .noun = "template", .verb = "get", .example = "template get jupyter"}};

inline constexpr Typed<CreateShare, CreatedShare> create_share{{
    .name = "createShare", .method = Method::post, .path = "/v1/instances/{instance}/shares",
    .permission = "instance.share", .help = "Make a link that opens one port in a browser, without a key.",
    .status = 201, .noun = "instance", .verb = "share", .argument = "port",
    .example = "instance share notebook-1 8080 --for 8h"}};
inline constexpr Typed<ListShares, List<Share>> list_shares{{
    .name = "listShares", .path = "/v1/instances/{instance}/shares", .permission = "instance.read",
    .help = "List the share links of an instance.", .list = true, .noun = "instance", .verb = "shares",
    .columns = "id port expiresAt opened madeBy createdAt"}};
inline constexpr Typed<NameShare, Empty> delete_share{{
    .name = "deleteShare", .method = Method::delete_, .path = "/v1/shares/{share}",
    .permission = "instance.share", .help = "Revoke a share link, for those too who have opened it.",
    .noun = "instance", .verb = "unshare", .example = "instance unshare sh-4t1b9r"}};

inline constexpr Typed<CreateVolume, Volume> create_volume{{
    .name = "createVolume", .method = Method::post, .path = "/v1/volumes", .permission = "volume.write",
    .help = "Create a volume.", .status = 201, .noun = "volume", .verb = "create", .argument = "name",
    .example = "volume create models --size 10Gi"}};
inline constexpr Typed<ListVolumes, List<Volume>> list_volumes{{
    .name = "listVolumes", .path = "/v1/volumes", .permission = "volume.read", .help = "List volumes.",
    .list = true, .noun = "volume", .verb = "list",
    .columns = "name id tenantID size state createdAt attachedTo zone host"}};
inline constexpr Typed<NameVolume, Volume> get_volume{{
    .name = "getVolume", .path = "/v1/volumes/{volume}", .permission = "volume.read",
    .help = "Show a volume.",
    .noun = "volume", .verb = "get"}};
inline constexpr Typed<ResizeVolume, LongOperation> resize_volume{{
    .name = "resizeVolume", .method = Method::patch, .path = "/v1/volumes/{volume}",
    .permission = "volume.write", .help = "Make a volume larger, also while instances use it.", .status = 202,
    .noun = "volume", .verb = "resize", .example = "volume resize models --size 20Gi --wait"}};
inline constexpr Typed<NameVolume, LongOperation> delete_volume{{
    .name = "deleteVolume", .method = Method::delete_, .path = "/v1/volumes/{volume}",
    .permission = "volume.write", .help = "Delete a volume that no instance uses, with what is in it.",
    .status = 202, .noun = "volume", .verb = "delete", .confirm = "What is in it is gone for good.",
    .example = "volume delete models --wait"}};

inline constexpr Typed<ListNetworks, List<Network>> list_networks{{
    .name = "listNetworks", .path = "/v1/networks", .permission = "network.read", .help = "List networks.",
    .list = true, .noun = "network", .verb = "list", .columns = "id tenantID createdAt subnets"}};
inline constexpr Typed<GetNetwork, Network> get_network{{
    .name = "getNetwork", .path = "/v1/networks/{network}", .permission = "network.read",
    .help = "Show a network.", .noun = "network", .verb = "get"}};

inline constexpr Typed<ListOperations, List<LongOperation>> list_operations{{
    .name = "listOperations", .path = "/v1/operations", .permission = "operation.read",
    .help = "List operations that take or took longer.", .list = true, .noun = "operation", .verb = "list",
    .columns = "id kind subject state createdAt endedAt message"}};
inline constexpr Typed<GetOperation, LongOperation> get_operation{{
    .name = "getOperation", .path = "/v1/operations/{operation}", .permission = "operation.read",
    .help = "Show how far an operation is.", .noun = "operation", .verb = "get"}};

inline constexpr Typed<ListForeignWorkloads, List<ForeignWorkload>> list_foreign_workloads{{
    .name = "listForeignWorkloads", .path = "/v1/foreign-workloads", .permission = "foreign.read",
    .scope = Scope::operator_only, .help = "List what runs on hosts and is not in the store.", .list = true,
    .noun = "reconcile", .verb = "review",
    .columns = "id host tenantID name state decision gpus image seenSince message why",
    .example = "reconcile review --decision open"}};
inline constexpr Typed<Empty, Authorities> get_authorities{{
    .name = "getAuthorities", .path = "/v1/authorities", .permission = "authority.read",
    .scope = Scope::operator_only, .help = "Show who signs certificates, and who still holds one of another.",
    .noun = "ca", .verb = "show", .example = "ca show"}};
inline constexpr Typed<RotateAuthority, Authorities> rotate_authority{{
    .name = "rotateAuthority", .method = Method::post, .path = "/v1/authorities/rotate",
    .permission = "authority.write", .scope = Scope::operator_only,
    .help = "Take one step in having another authority sign certificates.", .noun = "ca", .verb = "rotate",
    .argument = "step", .example = "ca rotate begin"}};
inline constexpr Typed<AdmitKey, Authorities> admit_key{{
    .name = "admitKey", .method = Method::post, .path = "/v1/authorities/admit",
    .permission = "authority.write", .scope = Scope::operator_only,
    .help = "Have a new authority certify this key of an access point or gateway, too.", .noun = "ca",
    .verb = "admit", .argument = "name",
    .example = "ca admit gateway/gw-1 --key-fingerprint "
               "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}};

inline constexpr Typed<Empty, SealingKeys> get_sealing_keys{{
    .name = "getSealingKeys", .path = "/v1/sealing-keys", .permission = "sealing.read",
    .scope = Scope::operator_only, .help = "Show which keys seal what is secret in the store.", .noun = "seal",
    .verb = "keys", .example = "seal keys"}};
inline constexpr Typed<RotateSealingKey, SealingKeys> rotate_sealing_key{{
    .name = "rotateSealingKey", .method = Method::post, .path = "/v1/sealing-keys/rotate",
    .permission = "sealing.write", .scope = Scope::operator_only,
    .help = "Take one step in having another key seal what is secret in the store.", .noun = "seal",
    .verb = "rotate", .argument = "step", .example = "seal rotate begin"}};
inline constexpr Typed<NameSealingKey, SealingKeys> forget_sealing_key{{
    .name = "forgetSealingKey", .method = Method::post, .path = "/v1/sealing-keys/{sealingKey}/forget",
    .permission = "sealing.write", .scope = Scope::operator_only,
    .help = "Take out a key that seals nothing any more; backups that it sealed need it still.",
    .noun = "seal", .verb = "forget", .example = "seal forget 9f86d081884c7d65"}};

inline constexpr Typed<NameForeignWorkload, Instance> adopt_foreign_workload{{
    .name = "adoptForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/adopt",
    .permission = "foreign.write", .scope = Scope::operator_only,
    .help = "Make an instance of its tenant of it, as it runs.", .noun = "reconcile", .verb = "adopt",
    .example = "reconcile adopt i-7k2m9x"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> keep_foreign_workload{{
    .name = "keepForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/keep",
    .permission = "foreign.write", .scope = Scope::operator_only,
    .help = "Let it run as it is: it holds its place until it ends.", .noun = "reconcile", .verb = "keep",
    .example = "reconcile keep i-7k2m9x --why 'the lab looks after it'"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> remove_foreign_workload{{
    .name = "removeForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/remove",
    .permission = "foreign.write", .scope = Scope::operator_only, .help = "Stop it and take it away.",
    .noun = "reconcile", .verb = "remove", .confirm = "It is stopped for good; volumes stay on its host.",
    .example = "reconcile remove i-7k2m9x"}};

inline constexpr Typed<CreateApiKey, CreatedApiKey> create_api_key{{
    .name = "createApiKey", .method = Method::post, .path = "/v1/api-keys", .permission = "key.write",
    .scope = Scope::operator_only, .help = "Create an API key; its secret is shown this once.", .status = 201,
    .noun = "key", .verb = "create", .argument = "name", .example = "key create ci --tenant acme"}};
inline constexpr Typed<ListApiKeys, List<ApiKey>> list_api_keys{{
    .name = "listApiKeys", .path = "/v1/api-keys", .permission = "key.read", .help = "List API keys.",
    .list = true, .noun = "key", .verb = "list",
    .columns = "id name isOperator tenantID createdAt expiresAt usedAt"}};
inline constexpr Typed<NameApiKey, Empty> delete_api_key{{
    .name = "deleteApiKey", .method = Method::delete_, .path = "/v1/api-keys/{apiKey}",
    .permission = "key.write", .help = "Revoke an API key at once.", .noun = "key", .verb = "delete"}};

inline constexpr Typed<ListAlerts, List<Alert>> list_alerts{{
    .name = "listAlerts", .path = "/v1/alerts", .permission = "alert.read",
    .help = "List alerts: a tenant's key those that concern it, an operator's all.",
    .list = true, .noun = "alert", .verb = "list",
    .columns = "severity rule summary state firedAt isSilenced tenantID value id", .example = "alert list --severity warning"}};
inline constexpr Typed<NameAlert, Alert> get_alert{{
    .name = "getAlert", .path = "/v1/alerts/{alert}", .permission = "alert.read",
    .help = "Show an alert, and what to do.", .noun = "alert", .verb = "get"}};
inline constexpr Typed<CreateAlertRule, AlertRule> create_alert_rule{{
    .name = "createAlertRule", .method = Method::post, .path = "/v1/alert-rules", .permission = "alert.write",
    .help = "Create an alert rule.", .status = 201, .noun = "alert rule", .verb = "create", .argument = "name",
    .example = "alert rule create too-hot --metric temperature_celsius --over avg --window 5m --threshold 85 --for 5m"}};
inline constexpr Typed<ReplaceAlertRule, AlertRule> replace_alert_rule{{
    .name = "replaceAlertRule", .method = Method::put, .path = "/v1/alert-rules/{alertRule}",
    .permission = "alert.write", .help = "Set an alert rule, or one that every cloud has, to something else.",
    .noun = "alert rule", .verb = "replace",
    .example = "alert rule replace gpu-idle-held --metric utilisation_percent --threshold 1 --disabled"}};
inline constexpr Typed<ListAlertRules, List<AlertRule>> list_alert_rules{{
    .name = "listAlertRules", .path = "/v1/alert-rules", .permission = "alert.read", .help = "List alert rules.",
    .list = true, .noun = "alert rule", .verb = "list",
    .columns = "name severity metric comparison threshold firing pending disabled isDefault tenantID error"}};
inline constexpr Typed<NameAlertRule, AlertRule> get_alert_rule{{
    .name = "getAlertRule", .path = "/v1/alert-rules/{alertRule}", .permission = "alert.read",
    .help = "Show an alert rule.", .noun = "alert rule", .verb = "get"}};
inline constexpr Typed<NameAlertRule, Empty> delete_alert_rule{{
    .name = "deleteAlertRule", .method = Method::delete_, .path = "/v1/alert-rules/{alertRule}",
    .permission = "alert.write",
    .help = "Delete an alert rule; one that every cloud has is as it was again.", .noun = "alert rule",
    .verb = "delete"}};
inline constexpr Typed<CreateAlertSilence, AlertSilence> create_alert_silence{{
    .name = "createAlertSilence", .method = Method::post, .path = "/v1/silences", .permission = "alert.write",
    .help = "Let nobody be told of some alerts for a while.", .status = 201, .noun = "alert silence",
    .verb = "create",
    .example = "alert silence create --matcher alertname=gpu-hot --for 2h --comment 'cooling is being serviced'"}};
inline constexpr Typed<ListAlertSilences, List<AlertSilence>> list_alert_silences{{
    .name = "listAlertSilences", .path = "/v1/silences", .permission = "alert.read", .help = "List silences.",
    .list = true, .noun = "alert silence", .verb = "list",
    .columns = "id matchers comment expiresAt madeBy tenantID createdAt"}};
inline constexpr Typed<NameAlertSilence, Empty> delete_alert_silence{{
    .name = "deleteAlertSilence", .method = Method::delete_, .path = "/v1/silences/{silence}",
    .permission = "alert.write", .help = "End a silence at once.", .noun = "alert silence", .verb = "delete"}};
inline constexpr Typed<CreateAlertReceiver, AlertReceiver> create_alert_receiver{{
    .name = "createAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers",
    .permission = "alert.write", .help = "Have somebody told of alerts.", .status = 201,
    .noun = "alert receiver", .verb = "create", .argument = "name",
    .example = "alert receiver create on-call --type webhook --url https://hooks.example.com/alerts --severity warning"}};
inline constexpr Typed<ReplaceAlertReceiver, AlertReceiver> replace_alert_receiver{{
    .name = "replaceAlertReceiver", .method = Method::put, .path = "/v1/alert-receivers/{receiver}",
    .permission = "alert.write", .help = "Have a receiver told otherwise.", .noun = "alert receiver",
    .verb = "replace"}};
inline constexpr Typed<ListAlertReceivers, List<AlertReceiver>> list_alert_receivers{{
    .name = "listAlertReceivers", .path = "/v1/alert-receivers", .permission = "alert.read",
    .help = "List who is told of alerts, and how that goes.", .list = true, .noun = "alert receiver",
    .verb = "list", .columns = "name type url severity waiting delivered failed lastError deliveredAt tenantID"}};
inline constexpr Typed<NameAlertReceiver, AlertReceiver> get_alert_receiver{{
    .name = "getAlertReceiver", .path = "/v1/alert-receivers/{receiver}", .permission = "alert.read",
    .help = "Show a receiver; its secret is never shown.", .noun = "alert receiver", .verb = "get"}};
inline constexpr Typed<NameAlertReceiver, Empty> delete_alert_receiver{{
    .name = "deleteAlertReceiver", .method = Method::delete_, .path = "/v1/alert-receivers/{receiver}",
    .permission = "alert.write", .help = "Tell a receiver nothing any more.", .noun = "alert receiver",
    .verb = "delete"}};
inline constexpr Typed<NameAlertReceiver, TestedAlertReceiver> test_alert_receiver{{
    .name = "testAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers/{receiver}/test",
    .permission = "alert.write", .help = "Send a receiver a message that says it is a test.",
    .noun = "alert receiver", .verb = "test", .example = "alert receiver test on-call"}};

inline constexpr Typed<ListEvents, List<Event>> list_events{{
    .name = "listEvents", .path = "/v1/events", .permission = "event.read", .help = "List what happened.",
    .list = true, .noun = "event", .verb = "list", .columns = "time kind id actor reason message",
    .example = "event list --kind host"}};
inline constexpr Typed<Empty, Whoami> whoami{{
    .name = "whoami", .path = "/v1/whoami", .permission = "self.read", .scope = Scope::anyone,
    .help = "Tell whom the key belongs to.", .noun = "whoami", .verb = ""}};

}  // namespace ops
}  // namespace hostler::api
