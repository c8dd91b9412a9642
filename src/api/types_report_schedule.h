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
    {.member = "by", .help = "Grouping, as in `report usage`.", .example = "tenant,class", .max = 128,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "where", .help = "Only GPUs with these labels, as in `report usage`.", .example = "zone=lon",
     .max = query_length_max, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "every", .help = "Length of its periods. Weeks begin on Monday, months on their first day.",
     .example = "week", .absent = Absent::fills},
    {.member = "at", .help = "Time of day, HH:MM in UTC, at which a period ends and the next begins.",
     .example = "06:00", .max = 5, .absent = Absent::fills},
    {.member = "keep", .help = "Number of reports to keep; the oldest are deleted first.", .example = "12", .min = 1,
     .max = report::keep_max, .absent = Absent::fills},
    {.member = "to", .help = "An alert receiver of type email that gets each report. Default: reports are only kept.",
     .example = "finance", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; its reports cover only that tenant's instances. Default: the "
                                    "key's tenant, or the operator.",
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
    {.member = "tenant_id", .help = "Owning tenant; empty: the operator.", .example = "acme"},
    {.member = "by", .help = "Grouping; empty: the default.", .example = "tenant"},
    {.member = "where", .help = "Labels of the covered GPUs; empty: all GPUs."},
    {.member = "every", .help = "Length of its periods."},
    {.member = "at", .help = "Time of day in UTC at which its periods end.", .example = "06:00"},
    {.member = "keep", .help = "Number of reports to keep.", .example = "12"},
    {.member = "to", .help = "Alert receiver that gets them by e-mail; empty: none.", .example = "finance"},
    {.member = "kept", .help = "Number of kept reports.", .example = "3"},
    {.member = "next_at", .help = "End of the period of the next report."},
    {.member = "last_error", .help = "Error of the last attempt; it is retried."},
});

struct NameReportSchedule {
    std::string schedule;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameReportSchedule, (), (schedule, tenant_id))
template <>
inline constexpr auto fields<NameReportSchedule> = std::to_array<Field>({
    {.member = "schedule", .help = "The schedule's name.", .example = "weekly", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant. Default: the key's tenant, or the operator.", .example = "acme",
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
    {.member = "tenant_id", .help = "Owning tenant; empty: the operator.", .example = "acme"},
    {.member = "from", .help = "Beginning of its period."},
    {.member = "to", .help = "End of its period."},
    {.member = "made_at", .help = "When it was made."},
    {.member = "sent_at", .help = "When it was sent by e-mail; absent: it was not sent."},
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
    {.member = "section", .help = "Section, for csv.", .absent = Absent::fills},
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
    {.member = "content_type", .help = "Media type.", .example = "text/html; charset=utf-8"},
    {.member = "text", .help = "Content.", .max = 4 << 20},
});

}  // namespace hostler::api
