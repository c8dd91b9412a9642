// `hostler apply` of what can be replaced.
#include "api/operations_alert.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;

class ApplyReplaceTest : public CliTest {
protected:
    ApplyReplaceTest() {
        api.handlers.on<api::ops::get_alert_rule>(
            [this](api::Call, api::NameAlertRule asked) -> Task<api::AlertRule> {
                if (!rule || rule->name != asked.alert_rule) co_return fail(Code::not_found, "there is none");
                co_return *rule;
            });
        api.handlers.on<api::ops::create_alert_rule>(
            [this](api::Call call, api::CreateAlertRule asked) -> Task<api::AlertRule> {
                co_return keep(call, asked.name, asked);
            });
        api.handlers.on<api::ops::replace_alert_rule>(
            [this](api::Call call, api::ReplaceAlertRule asked) -> Task<api::AlertRule> {
                ++replaced;
                co_return keep(call, asked.alert_rule, asked);
            });
    }
    api::AlertRule keep(const api::Call& call, const std::string& name, const api::AlertRuleSpec& spec) {
        api::AlertRule made;
        static_cast<api::AlertRuleSpec&>(made) = spec;
        made.name = name;
        if (!call.dry_run) rule = made;
        return made;
    }
    int apply(int threshold, std::vector<std::string> more = {}) {
        const std::string text = fmt::format(
            "kind: alert rule\nname: hot\nmetric: temperature_celsius\nthreshold: {}\n", threshold);
        std::vector<std::string> args{"apply", "-f", file("rule.yaml", text)};
        args.insert(args.end(), more.begin(), more.end());
        return run(args);
    }
    std::optional<api::AlertRule> rule;
    int replaced = 0;
};

TEST_F(ApplyReplaceTest, WhatDiffersIsReplacedAndWhatDoesNotIsLeft) {
    EXPECT_EQ(apply(80), 0) << err;
    EXPECT_EQ(out, "alert rule/hot created\n");
    EXPECT_EQ(apply(80), 0) << err;
    EXPECT_EQ(out, "alert rule/hot unchanged\n");
    EXPECT_EQ(replaced, 0);
    EXPECT_EQ(apply(85, {"--dry-run"}), 0) << err;
    EXPECT_EQ(rule->threshold, 80);
    EXPECT_EQ(apply(85), 0) << err;
    EXPECT_THAT(out, HasSubstr("alert rule/hot updated"));
    EXPECT_EQ(rule->threshold, 85);
}

}  // namespace
}  // namespace hostler::cli
