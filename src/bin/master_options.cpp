#include "bin/master_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/describe/enum_from_string.hpp>
#include <fstream>

#include "bin/templates.h"
#include "ports/outgoing.h"

namespace hostler::bin {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

milliseconds exact(double s) { return milliseconds{static_cast<int>(s * 1000)}; }
seconds whole(double s) { return seconds{static_cast<int>(s)}; }

}  // namespace

void MasterOptions::add_to(CLI::App& app) {
    add_places(app);
    add_leadership(app);
    add_times(app);
    add_admission(app);
    add_people(app);
    add_mail(app);
    series_.add_to(app);
    app.add_option(
        "--alert-reach", alert_reach_,
        "Addresses allowed for tenants' alert receivers in addition to public ones, as 10.1.0.0/16");
    remote_write.add_to(app);
}

void MasterOptions::add_places(CLI::App& app) {
    app.add_option("--data", data, "Folder of the store, the authority and the operator's key")->required();
    app.add_option(
           "--store", store,
           "postgresql://USER@HOST/DATABASE, where the store is kept; else it is the file store.db in --data")
        ->envname("HOSTLER_STORE");
    app.add_flag(
        "--new-store", new_store,
        "Begin a new, empty cloud in an empty store although the authority has already served another; "
        "leave it out afterwards");
    app.add_option("--api", settings.api_address, "Where the API listens")->capture_default_str();
    app.add_option("--wire", settings.wire_address, "Where access points and gateways connect")
        ->capture_default_str();
    app.add_option("--authority", authority,
                   "Folder of the certificate authority, the same for all masters; else authority in --data");
    app.add_option("--public-url", settings.public_url, "How people reach the API");
    tls.add_to(app);
    proxies_.add_to(app);
    hsts_s_ = static_cast<double>(settings.hsts.count());
    app.add_option("--hsts", hsts_s_,
                   "With TLS: seconds for which browsers keep to https (HSTS); 0: HSTS is off")
        ->check(CLI::Range(0.0, 63'072'000.0))
        ->capture_default_str();
    app.add_option("--zone", zones_, "NAME:PLACE of a zone to make at the first start");
    app.add_option("--network-pool", settings.network_pool,
                   "Addresses of instances: ranges of /8 to /24, with commas")
        ->capture_default_str();
    app.add_option(
        "--drivers", drivers,
        "Folder with more drivers of clusters, as NAME/driver.toml; its agents need the same ones");
    app.add_option("--templates", templates, "Folder of instance templates")
        ->default_val(template_folder().string());
    app.add_option("--metrics", metrics, "Where metrics are read, HOST:PORT; empty: nowhere");
    app.add_option("--ready-file", ready_file, "Is written once it answers");
}

void MasterOptions::add_leadership(CLI::App& app) {
    lease_s_ = std::chrono::duration<double>(settings.lease).count();
    app.add_option("--name", settings.name, "Its name among the masters that share a store")
        ->capture_default_str();
    app.add_option("--advertise", settings.advertise,
                   "--wire as the other masters, access points and gateways reach it");
    app.add_option("--lease", lease_s_,
                   "Seconds of the leader's lease, and so the longest time without a leader after a crash; a "
                   "leader that stalls for half of it steps down")
        ->check(CLI::Range(0.2, 3600.0))
        ->capture_default_str();
}

void MasterOptions::add_times(CLI::App& app) {
    run_.add_to(app);
    app.add_option("--layers-ahead", settings.layers_ahead_host_max,
                   "Empty file systems of --instance-disk that a host makes ahead, one for each idle slot, "
                   "so that a start does not wait for it; 64 MiB of disk each; 0: none")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    app.add_option("--drain", drain_s_, "Seconds that requests under way have to end, on SIGTERM")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
}

void MasterOptions::add_admission(CLI::App& app) {
    app.add_option(
           "--host-admission", admission_,
           "Whether hosts must pass a test before they sell: off; standard, where trusted hosts of which "
           "nothing can be measured are let in; required")
        ->check(CLI::IsMember({"off", "standard", "required"}))
        ->capture_default_str();
    app.add_option("--challenge-every", challenge_h_,
                   "Hours, about, after which a host's unused GPUs are to prove their memory again; 0: never")
        ->check(CLI::Range(0.0, 8760.0))
        ->capture_default_str();
    app.add_option(
           "--network-every", network_h_,
           "Hours, about, after which the way between a host and an access point is measured again; 0: never")
        ->check(CLI::Range(0.0, 8760.0))
        ->capture_default_str();
}

void MasterOptions::add_people(CLI::App& app) {
    session_life_h_ = std::chrono::duration<double, std::ratio<3600>>(settings.session_life).count();
    session_idle_h_ = std::chrono::duration<double, std::ratio<3600>>(settings.session_idle).count();
    app.add_option("--session-life", session_life_h_,
                   "Hours after which a person has to sign in again, however much the session is used")
        ->check(CLI::Range(0.1, 8760.0))
        ->capture_default_str();
    app.add_option("--session-idle", session_idle_h_, "Hours without use after which a session ends")
        ->check(CLI::Range(0.1, 8760.0))
        ->capture_default_str();
    app.add_flag("--require-totp", settings.require_totp,
                 "Everybody who signs in needs a second factor; without one, only its enrolment works");
}

void MasterOptions::add_mail(CLI::App& app) {
    app.add_option("--mail", settings.mail.server,
                   "Mail server for invitations and password links: smtp://HOST:587 (STARTTLS) or "
                   "smtps://HOST:465; without it no letter is sent");
    app.add_option("--mail-from", settings.mail.from, "With --mail: address of the sender");
    app.add_option("--mail-user", settings.mail.user,
                   "With --mail: user at the mail server; else none signs in");
    app.add_option("--mail-password-file", mail_password_, "With --mail-user: file that holds the password");
    app.add_flag("--mail-plain", settings.mail.plain,
                 "Speak to the mail server without TLS, and without a password");
}

Result<> MasterOptions::read_mail() {
    master::MailServer& mail = settings.mail;
    if (mail.server.empty()) {
        if (mail.from.empty() && mail.user.empty() && mail_password_.empty() && !mail.plain) return {};
        return fail(Code::invalid,
                    "--mail-from, --mail-user, --mail-password-file and --mail-plain need --mail");
    }
    if (mail.from.empty()) return fail(Code::invalid, "--mail needs --mail-from");
    if (mail.user.empty() != mail_password_.empty())
        return fail(Code::invalid, "--mail-user and --mail-password-file need each other");
    if (!mail_password_.empty()) {
        std::ifstream file{mail_password_};
        if (!std::getline(file, mail.password) || mail.password.empty())
            return fail(Code::invalid, fmt::format("--mail-password-file {}: it cannot be read, or is empty",
                                                   mail_password_));
    }
    const auto wrong = check(Mail{.server = mail.server,
                                  .safety = mail.plain ? MailSafety::plain : MailSafety::encrypted,
                                  .user = mail.user,
                                  .password = mail.password,
                                  .from = mail.from,
                                  .to = {mail.from},
                                  .subject = "x",
                                  .text = "x",
                                  .id = "x"});
    if (!wrong) return fail(Code::invalid, fmt::format("--mail: {}", wrong.error().message));
    return {};
}

Result<> MasterOptions::finish() {
    TRY(tls.check("--public-url", settings.public_url));
    proxies = TRY(proxies_.read());
    TRY(run_.put_into(settings));
    TRY(series_.put_into(settings));
    TRY(read_reach());
    TRY(read_mail());
    read_zones();
    read_times();
    boost::describe::enum_from_string(admission_.c_str(), settings.host_admission);
    return {};
}

Result<> MasterOptions::read_reach() {
    for (const std::string& text : alert_reach_) {
        const auto range = parse_ip_range(text);
        if (!range)
            return fail(Code::invalid, fmt::format("--alert-reach {}: {}", text, range.error().message));
        reach.allowed.push_back(*range);
    }
    return {};
}

void MasterOptions::read_zones() {
    for (const std::string& zone : zones_) {
        const auto colon = zone.find(':');
        settings.zones.push_back(
            {zone.substr(0, colon), colon == std::string::npos ? "" : zone.substr(colon + 1)});
    }
}

void MasterOptions::read_times() {
    settings.lease = exact(lease_s_);
    settings.hsts = whole(hsts_s_);
    settings.challenge.every = std::chrono::minutes{static_cast<int>(challenge_h_ * 60)};
    settings.network_every = std::chrono::minutes{static_cast<int>(network_h_ * 60)};
    settings.session_life = whole(session_life_h_ * 3600);
    settings.session_idle = whole(session_idle_h_ * 3600);
    drain = exact(drain_s_);
}

}  // namespace hostler::bin
