// Alerts: what is watched, what fires, who is to be told.
#pragma once

#include "roles/master/alert/samples.h"

namespace hostler::master {

inline constexpr std::size_t alerts_max = 20'000;  // That fire at once.

// ── What is watched

// Those of the store, and those that every cloud has and nobody has replaced.
std::vector<alert::Rule> alert_rules(const Desk& desk);
// Null: there is none of this name.
std::optional<alert::Rule> find_alert_rule(const Desk& desk, const std::string& id);
// What fires under it has ended: it will ask something else. Errors: exhausted.
Result<> put_alert_rule(Desk& desk, alert::Rule rule);
// One that every cloud has is as it was again.
void delete_alert_rule(Desk& desk, const std::string& id);

// ── What fires

// What the series said to rules over them, at one moment.
struct AlertAnswer {
    std::uint64_t generation = 0;  // Of the rule that was asked.
    Result<std::vector<alert::Sample>> samples;
};
using AlertAnswers = std::map<std::string, AlertAnswer>;  // By rule.

// One look at everything: alerts begin and end.
void look_at_alerts(Desk& desk, const AlertFacts& facts, const AlertAnswers& answers, Instant now);

// ── Who is told

// Errors: exhausted.
Result<> put_alert_receiver(Desk& desk, alert::Receiver receiver);
void delete_alert_receiver(Desk& desk, const std::string& id);
// Errors: exhausted.
Result<const alert::Silence*> add_silence(Desk& desk, alert::Silence silence);

// Writes down what is to be told now. It is sent once that is durable.
void plan_alert_notices(Desk& desk);
// What to send now: the oldest of each receiver that is not waiting after a failure. They are under way from
// here on, until one of these three is called.
std::vector<alert::Delivery> begin_deliveries(Desk& desk, Instant now);
void note_delivered(Desk& desk, const std::string& delivery);
void note_not_delivered(Desk& desk, const std::string& delivery, const std::string& why, Instant now);
void drop_delivery(Desk& desk, const std::string& delivery);
// What is silenced by now is left out, and counts as not told. Without lines there is nothing to send.
alert::Delivery audible(Desk& desk, alert::Delivery delivery);

}  // namespace hostler::master
