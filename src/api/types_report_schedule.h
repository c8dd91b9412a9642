// Reports that are made by themselves, and kept.
#pragma once

#include "api/types_report.h"
#include "domain/report/schedule.h"

namespace hostler::api {

// clang-format off

struct CreateReportSchedule {
    std::string name;
    std::string by;
    std::string where;
    report::Every every = report::Every::week;
    std::string at = "00:00";
    int keep = 12;
    std::optional<std::string> to{};
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateReportSchedule, (), (name, by, where, every, at, keep, to, tenant_id))
template <>
inline constexpr auto fields<CreateReportSchedule> = std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "weekly", .form = &forms::label},
    {.member = "by", .help = "What makes the groups, as of `report usage`.", .example = "tenant,class", .max = 128,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "where", .help = "Only GPUs with these labels, as of `report usage`.", .example = "zone=lon",
     .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "every", .help = "How long its periods are: weeks begin on Monday, months on their first day.",
     .example = "week", .absent = Absent::fills},
    {.member = "at", .help = "Time of day, HH:MM in UTC, at which a period ends and the next begins.",
     .example = "06:00", .max = 5, .absent = Absent::fills},
    {.member = "keep", .help = "So many of its reports are kept; the oldest make room.", .example = "12", .min = 1,
     .max = report::keep_max, .absent = Absent::fills},
    {.member = "to", .help = "An alert receiver of type email that gets each report as a letter; without it they are just kept.",
     .example = "finance", .form = &forms::label},
    {.member = "tenant_id", .help = "Whose it is, and of whose instances alone it tells; without it: the key's tenant, or the operator.",
     .example = "acme", .form = &forms::id},
});
template <>
struct Rules<CreateReportSchedule> {
    static void check(const CreateReportSchedule& request, Wrong& wrong);
};

struct ReportSchedule {
    std::string name;
    std::string tenant_id;
    std::string by;
    std::string where;
    report::Every every = report::Every::week;
    std::string at;
    int keep = 12;
    std::string to;
    int kept = 0;
    WallTime next_at;
    std::optional<std::string> last_error{};
};
BOOST_DESCRIBE_STRUCT(ReportSchedule, (), (name, tenant_id, by, where, every, at, keep, to, kept, next_at, last_error))
template <>
inline constexpr auto fields<ReportSchedule> = std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "weekly"},
    {.member = "tenant_id", .help = "Whose it is; empty: the operator's.", .example = "acme"},
    {.member = "by", .help = "What makes the groups; empty: the usual.", .example = "tenant"},
    {.member = "where", .help = "Which GPUs it is about; empty: all."},
    {.member = "every", .help = "How long its periods are."},
    {.member = "at", .help = "Time of day in UTC at which they end.", .example = "06:00"},
    {.member = "keep", .help = "So many of its reports are kept.", .example = "12"},
    {.member = "to", .help = "Who gets them by e-mail; empty: nobody.", .example = "finance"},
    {.member = "kept", .help = "Reports that there are.", .example = "3"},
    {.member = "next_at", .help = "When the period ends whose report is made next."},
    {.member = "last_error", .help = "Why it could not be made so far; it is tried again."},
});

struct NameReportSchedule {
    std::string schedule;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameReportSchedule, (), (schedule, tenant_id))
template <>
inline constexpr auto fields<NameReportSchedule> = std::to_array<Field>({
    {.member = "schedule", .help = "The schedule's name.", .example = "weekly", .form = &forms::label},
    {.member = "tenant_id", .help = "Whose it is; without it: the key's tenant, or the operator.", .example = "acme",
     .form = &forms::id},
});

struct ListReportSchedules {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListReportSchedules, (), (tenant_id))
template <>
inline constexpr auto fields<ListReportSchedules> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
});

struct KeptReport {
    std::string id;
    std::string schedule;
    std::string tenant_id;
    WallTime from;
    WallTime to;
    WallTime made_at;
    std::optional<WallTime> sent_at{};
};
BOOST_DESCRIBE_STRUCT(KeptReport, (), (id, schedule, tenant_id, from, to, made_at, sent_at))
template <>
inline constexpr auto fields<KeptReport> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "rp-7k2m9x4q1z"},
    {.member = "schedule", .help = "The schedule that made it.", .example = "weekly"},
    {.member = "tenant_id", .help = "Whose it is; empty: the operator's.", .example = "acme"},
    {.member = "from", .help = "Where its period begins."},
    {.member = "to", .help = "Where it ends."},
    {.member = "made_at", .help = "When it was made."},
    {.member = "sent_at", .help = "When it was sent by e-mail; absent: it was not."},
});

struct ListKeptReports {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> schedule{};
};
BOOST_DESCRIBE_STRUCT(ListKeptReports, (), (tenant_id, schedule))
template <>
inline constexpr auto fields<ListKeptReports> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
    {.member = "schedule", .help = "Only those of this schedule.", .example = "weekly", .form = &forms::label},
});

struct NameKeptReport {
    std::string report;
};
BOOST_DESCRIBE_STRUCT(NameKeptReport, (), (report))
template <>
inline constexpr auto fields<NameKeptReport> = std::to_array<Field>({
    {.member = "report", .help = "The report's id.", .example = "rp-7k2m9x4q1z", .form = &forms::id},
});

struct DownloadReport {
    std::string report;
    ReportFormat format = ReportFormat::html;
    hostler::report::Section section = hostler::report::Section::usage;
};
BOOST_DESCRIBE_STRUCT(DownloadReport, (), (report, format, section))
template <>
inline constexpr auto fields<DownloadReport> = std::to_array<Field>({
    {.member = "report", .help = "The report's id.", .example = "rp-7k2m9x4q1z", .form = &forms::id},
    {.member = "format", .help = "html: a page that prints well; csv: one section; json: as `report all` answers.",
     .absent = Absent::fills},
    {.member = "section", .help = "Which one, as csv.", .absent = Absent::fills},
});

struct ReportDocument {
    std::string name;
    std::string content_type;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(ReportDocument, (), (name, content_type, text))
template <>
inline constexpr auto fields<ReportDocument> = std::to_array<Field>({
    {.member = "name", .help = "A name for a file.", .example = "weekly-2026-11-16.html"},
    {.member = "content_type", .help = "What it is.", .example = "text/html; charset=utf-8"},
    {.member = "text", .help = "What is in it.", .max = 4 << 20},
});

}  // namespace hostler::api
