// hostler run.
#include "cli/run_job.h"

#include <fstream>
#include <sstream>

#include "api/codec.h"
#include "cli/job_test.h"
#include "cli/script_job.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using RunJobTest = JobTest;

std::string read_whole(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
}

const std::vector<std::string> run_it{"run",    "--gpus", "1",  "--image", "i:1",
                                      "--name", "train",  "--", "python",  "x.py"};

TEST_F(RunJobTest, ItSubmitsWhatTheFlagsSay) {
    EXPECT_EQ(run({"run",        "--gpus",   "1",         "--gpu-type",   "h100",
                   "--memory",   "100Gi",    "--image",   "i:1",          "-e",
                   "A=1",        "--env",    "B=x y",     "-v",           "data:/data:ro",
                   "--tasks",    "2",        "--gang",    "--time-limit", "1h",
                   "--priority", "7",        "--project", "lab",          "--tenant",
                   "acme",       "--detach", "--",        "/bin/Python3", "a b",
                   "it's",       ""}),
              0)
        << err;
    ASSERT_EQ(submitted.size(), 1u);
    api::SubmitJob wanted{.tenant_id = "acme",
                          .project = "lab",
                          .image = "i:1",
                          .cmd = R"(/bin/Python3 'a b' 'it'\''s' '')",
                          .envs = {{"A", "1"}, {"B", "x y"}},
                          .volumes = {{"data", "/data", true}},
                          .spec_name = "h100-1-big",
                          .tasks = 2,
                          .gang = true,
                          .time_limit_seconds = 3600,
                          .priority = 7};
    wanted.name = submitted[0].name;
    EXPECT_EQ(api::encode(submitted[0]), api::encode(wanted));
    EXPECT_THAT(submitted[0].name, StartsWith("python3-"));
    EXPECT_EQ(submitted[0].name.size(), std::string_view{"python3-abcd"}.size());
    EXPECT_EQ(out, submitted[0].name + "\n");
    EXPECT_THAT(err, HasSubstr("hostler job logs " + submitted[0].name + " --follow"));
}

TEST_F(RunJobTest, TheSmallestSpecThatFitsIsChosen) {
    const auto chosen = [&](std::vector<std::string> flags) {
        flags.insert(flags.begin(), {"run", "--detach", "--image", "i"});
        flags.insert(flags.end(), {"--", "x"});
        EXPECT_EQ(run(flags), 0) << err;
        return submitted.empty() ? "" : submitted.back().spec_name;
    };
    EXPECT_EQ(chosen({}), "l4-1");
    EXPECT_EQ(chosen({"--gpu-type", "80GB h100"}), "h100-1");
    EXPECT_EQ(chosen({"--cpu", "9"}), "h100-1-big");
    EXPECT_EQ(chosen({"--gpus", "8"}), "h100-8");
    EXPECT_EQ(chosen({"--spec", "mine"}), "mine") << "the API knows whether there is one";
}

TEST_F(RunJobTest, WithoutASpecThatFitsTheNearestIsNamed) {
    EXPECT_EQ(run({"run", "--gpus", "6", "--gpu-type", "H100", "--image", "i", "--", "x"}), 2);
    EXPECT_THAT(
        err, HasSubstr("no spec has 6 GPUs, model H100; the nearest is h100-8: 8 × H100 SXM5 80GB, 64 CPUs"));
    EXPECT_THAT(err, HasSubstr("would help: --spec h100-8"));
    EXPECT_TRUE(submitted.empty());
}

TEST_F(RunJobTest, EachWrongFlagIsNamed) {
    EXPECT_EQ(run({"run", "--gpus", "some", "--cpu", "x", "--env", "novalue", "--volume", "data", "--tasks",
                   "0", "--time-limit", "long", "--name", "No Name", "--spec", "s"}),
              2);
    for (const char* flag :
         {"--gpus", "--cpu", "--env", "--volume", "--tasks", "--time-limit", "--name", "--image", "COMMAND"})
        EXPECT_THAT(err, HasSubstr(fmt::format("\n  {}: ", flag)));
    EXPECT_THAT(err, HasSubstr("--gpus: a spec has its own: give this or --spec"));
    EXPECT_TRUE(api.requests.empty());
    EXPECT_EQ(run({"run", "--image", "i", "python", "x.py"}), 2);
    EXPECT_THAT(err, HasSubstr("a command stands behind --, as: hostler run --image IMAGE -- python x.py"));
    EXPECT_EQ(run({"run", "--image", "i", "-o", "json", "--", "x"}), 2);
    EXPECT_THAT(err, HasSubstr("-o is for --detach"));
    EXPECT_EQ(run({"run", "--image", "i", "--", std::string(40'000, 'x')}), 2);
    EXPECT_THAT(err, HasSubstr("  COMMAND: "));
}

TEST_F(RunJobTest, ItPrintsTheOutputAndEndsAsTheProgram) {
    start(run_it);
    timers.advance(5s);
    EXPECT_EQ(err, "job/train submitted\nNo host has a free GPU.\n");
    why = {
        .token = "quota_exceeded", .sentence = "The quota is used up.", .would_help = "delete an instance"};
    timers.advance(5s);
    EXPECT_THAT(err, EndsWith("The quota is used up.\n  would help: delete an instance\n"));
    begin().text = "hello\nhalf";
    timers.advance(3s);
    EXPECT_EQ(out, "hello\nhalf");
    end("exit_code", 7);
    finish(api::JobState::failed, "exit_code", 7);
    timers.advance(3s);
    EXPECT_EQ(code, 7);
    EXPECT_THAT(err, EndsWith("job/train failed (exit_code): 1 of 1 elements failed\n"));

    start(run_it);
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(3s);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(err, Not(HasSubstr("succeeded")));
}

TEST_F(RunJobTest, LinesOfSeveralTasksBeginWithTheirRank) {
    start({"run", "--tasks", "2", "--gang", "--image", "i", "--name", "train", "--", "x"});
    begin(0).text = "a\nb";
    begin(1).text = "c\n";
    timers.advance(3s);
    EXPECT_EQ(out, "[0] a\n[1] c\n");
    logs[{0, -1, 1}].text += "c\nend";
    end("preempted", std::nullopt, 0, 1, 2);
    timers.advance(3s);
    EXPECT_EQ(out, "[0] a\n[1] c\n[0] bc\n[0] end\n");
    begin(0, 2).text = "again\n";
    begin(1, 2).text = "again\n";
    timers.advance(3s);
    EXPECT_THAT(out, EndsWith("[0] again\n[1] again\n"));
    EXPECT_THAT(err, EndsWith("job/train: attempt 2 begins; attempt 1 ended: preempted\n"))
        << "once for the gang";
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(3s);
    EXPECT_EQ(code, 0);
}

TEST_F(RunJobTest, ARefusalForQuotaOrCapacityEndsWithSix) {
    refusal = Error{.code = Code::exhausted, .message = "no host could ever take it", .reason = "too_large"};
    EXPECT_EQ(run(run_it), 6);
}

TEST_F(RunJobTest, CtrlCAsksOnATerminal) {
    std::vector<std::string> asked;
    std::optional<std::string> answer = "n";
    world.ask = [&](std::string_view prompt, bool) {
        asked.emplace_back(prompt);
        return answer;
    };
    start(run_it);
    Log& log = begin();
    press(SIGWINCH);
    EXPECT_TRUE(asked.empty());
    press(SIGINT);
    EXPECT_THAT(asked, ElementsAre("\ncancel the job? [y/N] "));
    log.text = "more\n";
    timers.advance(3s);
    EXPECT_EQ(out, "more\n");
    EXPECT_FALSE(code);
    press(SIGINT);
    EXPECT_EQ(code, 130);
    EXPECT_EQ(asked.size(), 1u);
    EXPECT_EQ(cancelled, 0);
    EXPECT_THAT(err, EndsWith("job/train continues; follow it by: hostler job logs train --follow\n"));

    answer = "y";
    start(run_it);
    press(SIGINT);
    timers.advance(3s);
    EXPECT_EQ(code, 130);
    EXPECT_EQ(cancelled, 1);
    EXPECT_THAT(err, HasSubstr("job/train cancelled"));
}

TEST_F(RunJobTest, AnotherCtrlCAtTheQuestionLeavesTheJob) {
    world.ask = [](std::string_view, bool) -> std::optional<std::string> { return std::nullopt; };
    start(run_it);
    press(SIGINT);
    EXPECT_EQ(code, 130);
    EXPECT_EQ(cancelled, 0);
}

TEST_F(RunJobTest, WithoutATerminalCtrlCCancels) {
    start(run_it);
    begin();
    press(SIGINT);
    timers.advance(3s);
    EXPECT_EQ(code, 130);
    EXPECT_EQ(cancelled, 1);

    start(run_it);
    begin();
    job.state = api::JobState::running;
    press(SIGHUP);
    EXPECT_EQ(code, 128 + SIGHUP) << "the session is gone, and the job stays";
    EXPECT_EQ(cancelled, 1);
}

TEST_F(RunJobTest, AJobThatCannotBeCancelledIsLeft) {
    cancel_fails = true;
    start(run_it);
    press(SIGTERM);
    EXPECT_EQ(code, 128 + SIGTERM);
    EXPECT_THAT(err, HasSubstr("it is not cancelled: not yours\n"));
}

TEST_F(RunJobTest, WhereTheApiStaysAwayItSaysHowToFollowAgain) {
    start(run_it);
    timers.advance(1s);
    away = true;
    timers.advance(200s);
    EXPECT_EQ(code, static_cast<int>(Exit::unreachable));
    EXPECT_THAT(err, HasSubstr("would help: the job continues: hostler job logs train --follow"));
}

TEST_F(RunJobTest, AFileIsABatchScript) {
    const std::string script =
        file("Train.sh",
             "#!/bin/bash -e\n#SBATCH --gpus=1 --time=10 --array=0-4:2%2\n"
             "#SBATCH --ntasks=2 --partition=fast\n#SBATCH --dependency=afterany:prepare\n"
             "echo 'it' $1\n");
    EXPECT_EQ(run({"run", "--image", "i:1", "--detach", "-e", "SLURM_NTASKS=9", script, "--flag", "a b"}), 0)
        << err;
    ASSERT_EQ(submitted.size(), 1u);
    const api::SubmitJob& got = submitted[0];
    EXPECT_THAT(got.name, StartsWith("train-sh-"));
    EXPECT_EQ(got.array, "0-4:2%2");
    EXPECT_EQ(got.tasks, 1) << "the script runs once";
    EXPECT_EQ(got.time_limit_seconds, 600);
    EXPECT_THAT(got.after, ElementsAre(api::JobAfter{"prepare", api::JobWhen::ended}));
    EXPECT_THAT(got.cmd, StartsWith("/bin/sh -c 'host="));
    EXPECT_THAT(got.cmd, HasSubstr("export SLURM_JOBID=\"$SLURM_JOB_ID\""));
    EXPECT_THAT(got.cmd, HasSubstr("sh /bin/bash -e -c '#!/bin/bash -e\n"));
    EXPECT_THAT(got.cmd, HasSubstr("echo '\\''it'\\'' $1\n' Train.sh --flag 'a b'"));
    EXPECT_THAT(got.envs, ::testing::Contains(api::Env{"SLURM_NTASKS", "9"})) << "flags win";
    EXPECT_THAT(got.envs, ::testing::Contains(api::Env{"SLURM_CPUS_PER_TASK", "1"}));
    EXPECT_THAT(err, HasSubstr("Train.sh line 3: --partition=fast: "));
}

TEST_F(RunJobTest, AScriptHasNoImageAndItsErrorsHaveLines) {
    const std::string good = file("good.sh", "#!/bin/sh\ntrue\n");
    EXPECT_EQ(run({"run", good}), 2);
    EXPECT_THAT(err, HasSubstr("--image: is required"));
    const std::string bad = file("bad.sh", "#!/bin/sh\n#SBATCH --licenses=x\n#SBATCH --time=never\ntrue\n");
    EXPECT_EQ(run({"run", "--image", "i", bad}), 2);
    EXPECT_THAT(err, HasSubstr("bad.sh line 2: "));
    EXPECT_THAT(err, HasSubstr("bad.sh line 3: "));
    const std::string late = file("late.sh", "#!/bin/sh\n#SBATCH --dependency=after:12\ntrue\n");
    EXPECT_EQ(run({"run", "--image", "i", late}), 2);
    EXPECT_THAT(err, HasSubstr("waits for the end of another one"));
    const std::string awk = file("x.awk", "#!/usr/bin/awk -f\n");
    EXPECT_EQ(run({"run", "--image", "i", awk}), 2);
    EXPECT_THAT(err, HasSubstr("takes no program as a text"));
    const std::string large = file("large.sh", "#!/bin/sh\n# " + std::string(33'000, 'x') + "\n");
    EXPECT_EQ(run({"run", "--image", "i", large}), 2);
    EXPECT_THAT(err, HasSubstr("and 32768 are the most"));
    EXPECT_THAT(err, HasSubstr("Put it onto a volume"));
    EXPECT_TRUE(submitted.empty());
}

TEST(ScriptJobTest, VariablesFolderAndOrder) {
    Loop loop;
    ManualTimers timers{loop};
    FakeApi api{loop, timers};
    CliWorld world{.loop = loop, .net = api, .timers = timers};
    world.env = [](const std::string& name) { return std::optional{"of " + name}; };
    const auto made = job_of_script(
        "#!/usr/bin/env python3\n#SBATCH --chdir='/my data' --export=PATH,TOKEN,A=1 --nice=5000 --hold\n"
        "#SBATCH --cpus-per-task=3 --ntasks=2 --mem=4G --gpus=h100:2 -o x.out\nprint(1)\n",
        "a/x.py", {"arg"}, world);
    ASSERT_TRUE(made) << made.error().message;
    const std::string job = boost::json::serialize(made->job);
    EXPECT_THAT(job, HasSubstr(R"({"name":"TOKEN","value":"of TOKEN"})"));
    EXPECT_THAT(job, Not(HasSubstr(R"("name":"PATH")")));
    EXPECT_THAT(job, HasSubstr(R"("priority":-1000)"));
    EXPECT_THAT(job, HasSubstr(R"("hold":true)"));
    const std::string cmd{made->job.at("cmd").get_string()};
    EXPECT_THAT(cmd, HasSubstr("/usr/bin/env python3 -c "));
    EXPECT_THAT(cmd, EndsWith(" arg"));
    EXPECT_THAT(cmd, HasSubstr("cd -- "));
    EXPECT_EQ(made->shape.gpus, 2);
    EXPECT_EQ(made->shape.gpu_type, "h100");
    EXPECT_EQ(made->shape.cpu, Quantity::of_units(6));
    EXPECT_EQ(made->shape.memory, Quantity::of_units(std::int64_t{4} << 30));
    EXPECT_THAT(made->notes, ElementsAre(HasSubstr("--export: PATH"), HasSubstr("priority")));
    EXPECT_EQ(made->output.output, "x.out");
    EXPECT_EQ(made->output.user, "of USER");
}

TEST(ScriptJobTest, ASignalComesBeforeTheTimeLimit) {
    Loop loop;
    ManualTimers timers{loop};
    FakeApi api{loop, timers};
    CliWorld world{.loop = loop, .net = api, .timers = timers};
    world.env = [](const std::string&) { return std::optional<std::string>{}; };
    const auto made = [&](std::string_view option) {
        return *job_of_script(fmt::format("#!/bin/sh\n#SBATCH --time=10 --signal={}\ntrue\n", option), "x.sh",
                              {}, world);
    };
    const auto shell = made("B:USR1@90");
    EXPECT_THAT(std::string{shell.job.at("cmd").get_string()},
                HasSubstr("(sleep 510; kill -10 $$) </dev/null"));
    EXPECT_TRUE(shell.notes.empty());
    const auto steps = made("USR1@90");
    EXPECT_THAT(std::string{steps.job.at("cmd").get_string()}, Not(HasSubstr("kill")));
    EXPECT_THAT(steps.notes, ElementsAre(HasSubstr("--signal has no effect")));
    EXPECT_THAT(std::string{made("B:TERM@9000").job.at("cmd").get_string()}, HasSubstr("(sleep 0; kill -15"));
}

TEST_F(RunJobTest, OutputOfAScriptGoesToItsFiles) {
    const std::string& folder = home;
    const std::string script = file("s.sh", fmt::format("#!/bin/sh\n#SBATCH -J s --array=1-2\n"
                                                        "#SBATCH -o {0}/%x_%a.out -e {0}/%A_%a.err\ntrue\n",
                                                        folder));
    start({"run", "--image", "i", "--name", "train", script});
    Log& log = begin(0, 1, 1);
    log.text = "one\n", log.errors = "wrong\n";
    begin(0, 1, 2).text = "two\n";
    timers.advance(3s);
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(3s);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, "");
    EXPECT_EQ(read_whole(folder + "/s_1.out"), "one\n");
    EXPECT_EQ(read_whole(folder + "/j-1_1.err"), "wrong\n");
    EXPECT_EQ(read_whole(folder + "/s_2.out"), "two\n");
    EXPECT_EQ(read_whole(folder + "/j-1_2.err"), "") << "as Slurm does, of one that writes nothing, too";
}

// A job shows its latest 64 ends.
TEST_F(RunJobTest, OutputOfAnElementThatIsNoLongerShownIsWrittenInTheEnd) {
    const std::string& folder = home;
    start(
        {"run", "--image", "i", "--name", "train",
         file("s.sh", fmt::format("#!/bin/sh\n#SBATCH --array=1-3\n#SBATCH -o {}/%a.out\ntrue\n", folder))});
    begin(0, 1, 1).text = "one\n";
    timers.advance(3s);
    logs[{0, 2, 1}] = {.text = "two\n", .ended = true};
    finish(api::JobState::failed, "exit_code", 4);
    timers.advance(3s);
    EXPECT_EQ(code, 4);
    EXPECT_EQ(read_whole(folder + "/1.out"), "one\n");
    EXPECT_EQ(read_whole(folder + "/2.out"), "two\n");
    EXPECT_THAT(err, Not(HasSubstr("no such task"))) << "the third never began";
}

TEST_F(RunJobTest, AFileThatCannotBeWrittenIsNamedAndTheJobContinues) {
    start({"run", "--image", "i", "--name", "train",
           file("s.sh", "#!/bin/sh\n#SBATCH -o /no/such/folder/x.out\ntrue\n")});
    begin().text = "hello\n";
    timers.advance(3s);
    EXPECT_EQ(code, 2);
    EXPECT_THAT(err, HasSubstr("cannot write /no/such/folder/x.out: No such file or directory"));
}

TEST_F(RunJobTest, ALargeScriptIsRefusedAtOnce) {
    const std::string path = file("huge.sh", "#!/bin/sh\n" + std::string(std::size_t{100} << 20, '#'));
    EXPECT_EQ(run({"run", "--image", "i", path}), 2);
    EXPECT_THAT(err, HasSubstr("huge.sh"));
    EXPECT_LT(err.size(), 2000u);
    EXPECT_TRUE(submitted.empty());
}

}  // namespace
}  // namespace hostler::cli
