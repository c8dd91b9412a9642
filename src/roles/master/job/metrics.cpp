#include <chrono>

#include "roles/master/job/counts.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/round.h"
#include "roles/master/state/jobs_stalled.h"

namespace hostler::master {

void write_job_metrics(MetricsPage& page, const Desk& desk) {
    using enum MetricsPage::Type;
    const JobQueues& queues = job_queues(desk);
    const JobCounts& counts = desk.live.part<JobCounts>();
    const RoundCount& rounds = desk.live.part<RoundCount>();
    page.begin("hostler_master_jobs", "Jobs that are not over, by phase.", gauge);
    for (const JobPhase phase :
         {JobPhase::pending, JobPhase::admitted, JobPhase::starting, JobPhase::running, JobPhase::preempting})
        page.value({{"phase", text_of(phase)}}, queues.jobs_in(phase));
    page.begin("hostler_master_jobs_ended_total", "Jobs that ended, by outcome, in this term.", counter);
    for (const JobPhase phase : {JobPhase::succeeded, JobPhase::failed, JobPhase::cancelled}) {
        const auto at = counts.ended.find(phase);
        page.value({{"outcome", text_of(phase)}}, at == counts.ended.end() ? 0 : at->second);
    }
    page.add("hostler_master_job_elements_waiting",
             "Elements of jobs that wait for their turn, of each job at most as many as are admitted side by "
             "side.",
             gauge, queues.order().waiting_count());
    page.add("hostler_master_job_elements_running", "Elements of jobs that have a place.", gauge,
             queues.order().running_count());
    page.add("hostler_master_job_elements_admitted_total", "Elements of jobs that got a place, in this term.",
             counter, counts.admitted);
    page.add("hostler_master_job_elements_preempted_total",
             "Elements of jobs that were preempted for others, in this term.", counter, counts.preempted);
    page.add("hostler_master_job_rounds_total", "Rounds over all waiting jobs, in this term.", counter,
             rounds.rounds);
    page.add("hostler_master_job_round_pieces_total", "Pieces of work of these rounds.", counter,
             rounds.pieces);
    page.begin("hostler_master_job_work_seconds_total",
               "Time that jobs took of the thread of the estate, in this term.", counter);
    page.value({}, std::chrono::duration<double>(counts.worked).count());
    page.add("hostler_master_jobs_stalled_seconds",
             "How long waiting jobs have had their turn without one being admitted; 0: they are admitted.",
             gauge, desk.live.part<JobsStalled>().seconds(desk.estate.micros()));
}

}  // namespace hostler::master
