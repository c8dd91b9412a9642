#include "roles/master/user/letters.h"

#include <fmt/format.h>

namespace hostler::master {

namespace {

struct Letters {
    Rates tenants{letters_tenant, 10'000};
    std::size_t under_way = 0;
};

Letters& letters_of(Term& term) {
    return term.part<Letters>([] { return std::make_shared<Letters>(); });
}

// "the role member in tenant acme, project web"
std::string role_and_place(const api::CreatedInvitation& made) {
    if (!made.provider.empty())
        return fmt::format("the role {} for the hosts of {}", made.role, made.provider);
    if (made.tenant_id.empty()) return fmt::format("the role {} in the cloud", made.role);
    const std::string project = made.project.empty() ? "" : fmt::format(", project {}", made.project);
    return fmt::format("the role {} in tenant {}{}", made.role, made.tenant_id, project);
}

std::string until(WallTime end) {
    constexpr std::size_t minutes = 16;
    std::string text = rfc3339(end).substr(0, minutes);
    text[10] = ' ';
    return text + " UTC";
}

constexpr std::string_view unexpected_letter =
    "If you did not expect this letter, delete it: nothing happens without you.\n";

// `Made` has login, secret, expires_at and link.
template <class Made>
std::string password_text(const Desk& desk, const Made& made) {
    const std::string end = until(made.expires_at);
    const std::string ways =
        made.link ? fmt::format(
                        "Set the password of {} in a browser, until {}:\n\n    {}\n\nOr at a command "
                        "line:",
                        made.login, end, *made.link)
                  : fmt::format("Set the password of {} at a command line, until {}:", made.login, end);
    return fmt::format(
        "{}\n\n    hostler password reset --api {}\n\nType this secret when it is asked for. It is good "
        "once.\n\n    {}\n\n{}",
        ways, desk.settings.public_url, made.secret, unexpected_letter);
}

// How long to wait before each attempt.
constexpr std::chrono::seconds pauses[] = {std::chrono::seconds{0}, std::chrono::seconds{10},
                                           std::chrono::seconds{60}, std::chrono::seconds{300}};

Task<> mail_it(Term& term, Mail mail) {
    Result<> sent;
    for (const auto pause : pauses) {
        if (pause.count() > 0) CO_TRY(co_await sleep(term.ports().timers, pause));
        sent = co_await term.ports().outgoing.mail(mail);
        if (sent || !may_retry(sent.error().code)) break;
    }
    co_return sent;
}

// Belongs to the term's tasks, and so ends before it.
Task<> deliver(Term& term, Letter letter, Mail mail) {
    const auto sent = co_await mail_it(term, std::move(mail));
    --letters_of(term).under_way;
    if (!sent && sent.error().code == Code::cancelled) co_return std::unexpected(sent.error());
    if (term.ended() || term.read_only()) co_return Result<>{};
    term.desk("master").estate.event(
        letter.kind, letter.id, letter.tenant, sent ? "mail_sent" : "mail_failed",
        sent ? fmt::format("A letter was sent to {}.", letter.to)
             : fmt::format("The letter to {} was not sent: {}. Give the secret to the person in another way.",
                           letter.to, sent.error().message));
    term.commit_then([] {});
    co_return Result<>{};
}

}  // namespace

Letter letter_of(const Desk& desk, const api::CreateInvitation& request, const api::CreatedInvitation& made) {
    const std::string login =
        request.login ? fmt::format(" --login {}", *request.login) : std::string{" --login LOGIN"};
    const std::string end = until(made.expires_at);
    const std::string ways =
        made.link ? fmt::format("Accept it in a browser, until {}:\n\n    {}\n\nOr at a command line:", end,
                                *made.link)
                  : fmt::format("Accept it at a command line, until {}:", end);
    return {.to = request.email.value_or(""),
            .subject = "You are invited to a GPU cloud",
            .text = fmt::format(
                "You are invited to {} at {}.\n\n{}\n\n    hostler invitation accept --api {}{} "
                "--password\n\nType this secret when it is asked for. It is good once.\n\n    {}\n\n{}",
                role_and_place(made), desk.settings.public_url, ways, desk.settings.public_url, login,
                made.secret, unexpected_letter),
            .kind = "invitation",
            .id = made.id,
            .tenant = made.tenant_id};
}

Letter letter_of(const Desk& desk, const api::CreateUser& request, const api::CreatedUser& made) {
    return {.to = request.email,
            .subject = "Your account at a GPU cloud",
            .text = password_text(desk, made),
            .kind = "user",
            .id = made.id,
            .tenant = made.tenant_id};
}

Letter letter_of(const Desk& desk, const api::NameUser&, const api::CreatedPasswordLink& made) {
    const User* user = desk.estate.users.find(made.user_id);
    return {.to = user ? user->email : "",
            .subject = "Set your password at a GPU cloud",
            .text = password_text(desk, made),
            .kind = "user",
            .id = made.user_id,
            .tenant = user ? user->tenant : ""};
}

api::MailState send_letter(Term& term, Letter letter, Sends sends) {
    const MailServer& server = term.settings().mail;
    if (letter.to.empty()) return api::MailState::none;
    if (server.server.empty()) return api::MailState::off;
    if (sends == Sends::nothing) return api::MailState::queued;
    const Ports& ports = term.ports();
    Letters& letters = letters_of(term);
    if (letters.under_way >= letters_under_way_max ||
        !letters.tenants.take(letter.tenant, ports.timers.now()))
        return api::MailState::limited;
    ++letters.under_way;
    Mail mail{.server = server.server,
              .safety = server.plain ? MailSafety::plain : MailSafety::encrypted,
              .user = server.user,
              .password = server.password,
              .from = server.from,
              .to = {letter.to},
              .subject = letter.subject,
              .text = std::move(letter.text),
              .id = new_id(ports.random, letter.id),
              .date = ports.timers.wall(),
              .reach = Reach::anywhere};
    term.tasks().start("letter", deliver(term, std::move(letter), std::move(mail)));
    return api::MailState::queued;
}

}  // namespace hostler::master
