// For tests of `hostler apply`: an API that keeps what it is told.
#pragma once

#include "api/operations_instance.h"
#include "api/operations_spec.h"
#include "api/operations_stock.h"
#include "api/operations_volume.h"
#include "api/operations_whoami.h"
#include "api/operations_zone.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {

class ApplyTest : public CliTest {
protected:
    ApplyTest() {
        api.handlers.on<api::ops::get_zone>([this](api::Call, api::NameZone asked) -> Task<api::Zone> {
            for (const api::Zone& zone : zones)
                if (zone.name == asked.zone) co_return zone;
            co_return fail(Code::not_found, "there is no zone '" + asked.zone + "'");
        });
        api.handlers.on<api::ops::create_zone>(
            [this](api::Call call, api::CreateZone asked) -> Task<api::Zone> {
                api::Zone zone{.name = asked.name, .location = asked.location};
                if (!call.dry_run) zones.push_back(zone);
                co_return zone;
            });
        api.handlers.on<api::ops::get_volume>([this](api::Call, api::NameVolume asked) -> Task<api::Volume> {
            for (const api::Volume& volume : volumes)
                if (volume.name == asked.volume && volume.tenant_id == asked.tenant_id.value_or("acme"))
                    co_return volume;
            co_return fail(Code::not_found, "there is no volume '" + asked.volume + "'");
        });
        api.handlers.on<api::ops::create_volume>(
            [this](api::Call call, api::CreateVolume asked) -> Task<api::Volume> {
                if (asked.zone && std::none_of(zones.begin(), zones.end(),
                                               [&](const auto& z) { return z.name == *asked.zone; }))
                    co_return fail(Code::not_found, "there is no zone '" + *asked.zone + "'");
                api::Volume volume{.name = asked.name,
                                   .tenant_id = asked.tenant_id.value_or("acme"),
                                   .size = asked.size,
                                   .zone = asked.zone.value_or("")};
                if (!call.dry_run) volumes.push_back(volume);
                co_return volume;
            });
        serve_stock();
        serve_instances();
    }

    void serve_stock() {
        api.handlers.on<api::ops::get_spec>([this](api::Call, api::GetSpec asked) -> Task<api::Spec> {
            if (!stock) co_return fail(Code::not_found, "there is no spec '" + asked.spec + "'");
            co_return spec;
        });
        api.handlers.on<api::ops::get_stock>([this](api::Call, api::GetSpec) -> Task<api::Stock> {
            if (!stock) co_return fail(Code::not_found, "there is no stock");
            co_return api::Stock{
                .spec_name = spec.name,
                .wanted = *stock,
                .zones = {{.zone = "nj", .wanted = 1}, {.zone = "lon", .wanted = *stock - 1}},
                .images = images,
                .reclaim = reclaim,
                .keep = keep};
        });
        api.handlers.on<api::ops::update_stock>(
            [this](api::Call call, api::UpdateStock asked) -> Task<api::Stock> {
                changes.push_back("policy");
                if (call.dry_run) co_return api::Stock{.spec_name = asked.spec};
                reclaim = asked.reclaim.value_or(reclaim);
                keep = asked.keep.value_or(keep);
                co_return api::Stock{.spec_name = asked.spec, .reclaim = reclaim, .keep = keep};
            });
        api.handlers.on<api::ops::prepare_stock>(
            [this](api::Call call, api::PrepareStock asked) -> Task<api::Stock> {
                if (!call.dry_run) images.clear();
                for (const auto& image : asked.images)
                    if (!call.dry_run) images.push_back({.image = image});
                for (const auto& name : asked.templates)
                    if (!call.dry_run) images.push_back({.image = "localhost/" + name, .template_ = name});
                changes.push_back(fmt::format("{} images", asked.images.size() + asked.templates.size()));
                co_return api::Stock{.spec_name = asked.spec, .images = images};
            });
        api.handlers.on<api::ops::create_stocks>(
            [this](api::Call, api::CreateStocks asked) -> Task<api::Empty> {
                if (!stock)
                    spec = {.name = asked.spec_name,
                            .cpu = *asked.cpu,
                            .memory = *asked.memory,
                            .gpu_type = *asked.gpu_type,
                            .gpu_num = *asked.gpu_num};
                stock = stock.value_or(0) + asked.number;
                counted.push_back(asked.if_wanted);
                changes.push_back(fmt::format("+{} {}", asked.number, asked.zone.value_or("anywhere")));
                co_return api::Empty{};
            });
        api.handlers.on<api::ops::delete_stocks>(
            [this](api::Call, api::DeleteStocks asked) -> Task<api::Empty> {
                stock = *stock - asked.number;
                counted.push_back(asked.if_wanted);
                changes.push_back(fmt::format("-{} {}", asked.number, asked.zone.value_or("anywhere")));
                co_return api::Empty{};
            });
    }

    void serve_instances() {
        api.handlers.on<api::ops::whoami>([](api::Call call, api::Empty) -> Task<api::Whoami> {
            co_return api::Whoami{.is_operator = call.caller.tenant.empty(), .tenant_id = call.caller.tenant};
        });
        api.handlers.on<api::ops::get_instance>(
            [this](api::Call, api::GetInstance asked) -> Task<api::Instance> {
                if (!instance || instance->instance_id != asked.instance)
                    co_return fail(Code::not_found, "there is none");
                co_return api::Instance{.instance_id = instance->instance_id,
                                        .tenant_id = instance->tenant_id,
                                        .spec_name = instance->spec_name,
                                        .image = instance->image,
                                        .labels = labels};
            });
        api.handlers.on<api::ops::update_instance>(
            [this](api::Call call, api::UpdateInstance asked) -> Task<api::Instance> {
                if (!call.dry_run) labels = with_changes(labels, asked.labels.value_or(Labels{}));
                co_return api::Instance{.labels = labels};
            });
        api.handlers.on<api::ops::create_instance>(
            [this](api::Call call, api::CreateInstance asked) -> Task<api::CreatedInstance> {
                const auto wanted = std::exchange(asked.labels, std::nullopt);
                if (instance && (*instance != asked || wanted.value_or(labels) != labels))
                    co_return fail(Code::conflict, "nb was started with other values");
                if (!call.dry_run) instance = asked, labels = wanted.value_or(labels);
                co_return api::CreatedInstance{};
            });
    }

    int apply(std::string_view text, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"apply", "-f", file("cloud.yaml", text)});
        const int ended = run(std::move(more));
        for (std::size_t at; (at = err.find(home + "/")) != err.npos;) err.erase(at, home.size() + 1);
        for (std::size_t at; (at = out.find(home + "/")) != out.npos;) out.erase(at, home.size() + 1);
        return ended;
    }

    std::vector<api::Zone> zones;
    std::vector<api::Volume> volumes;
    std::optional<int> stock;
    api::Spec spec;
    std::optional<api::CreateInstance> instance;  // Without its labels.
    Labels labels;
    std::vector<api::StockImage> images;
    api::Reclaim reclaim = api::Reclaim::never;
    int keep = 0;
    std::vector<std::string> changes;
    std::vector<std::optional<int>> counted;  // What changes of stock said was there.
};

}  // namespace hostler::cli
