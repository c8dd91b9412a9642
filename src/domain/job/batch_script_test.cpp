#include "domain/job/batch_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A script with these lines, the first of which is line 2.
std::string with(std::string_view lines) { return fmt::format("#!/bin/bash\n{}\necho hi\n", lines); }

BatchScript read(std::string_view lines) {
    auto script = read_batch_script(with(lines));
    EXPECT_TRUE(script) << lines << ": " << (script ? "" : script.error().message);
    return script.value_or(BatchScript{});
}

// The wrong lines and the message of each.
std::vector<FieldError> wrong(std::string_view lines) {
    const auto script = read_batch_script(with(lines));
    EXPECT_FALSE(script) << lines;
    if (script) return {};
    EXPECT_EQ(script.error().code, Code::invalid);
    EXPECT_EQ(script.error().reason, "script_wrong");
    return script.error().fields;
}

std::string refusal(std::string_view line) {
    const auto fields = wrong(fmt::format("#SBATCH {}", line));
    EXPECT_EQ(fields.size(), 1u) << line;
    return fields.empty() ? "" : fmt::format("{}: {}", fields[0].path, fields[0].message);
}

BatchScript option(std::string_view line) { return read(fmt::format("#SBATCH {}", line)); }

TEST(BatchScript, ReadsATrainingScript) {
    const auto script = read_batch_script(
        "#!/bin/bash -e\n"
        "#SBATCH --job-name=\"train it\"   # a comment\n"
        "#SBATCH -o logs/%x-%j.out -e logs/%x-%j.err\n"
        "\n"
        "# A comment.\n"
        "##SBATCH --unknown\n"
        "# SBATCH --unknown\n"
        "#SBATCH --time 1-02:30 --nodes=1 --ntasks-per-node=4 -c8\n"
        "#SBATCH --gres=gpu:a100:4 --mem=64G\n"
        "#SBATCH --signal=B:USR1@120 --requeue\n"
        "#SBATCH -D/data/run --export=NONE,SEED=7\n"
        "srun python train.py\n");
    ASSERT_TRUE(script) << script.error().message;
    EXPECT_EQ(script->interpreter, "/bin/bash -e");
    EXPECT_EQ(script->name, "train it");
    EXPECT_EQ(script->output, "logs/%x-%j.out");
    EXPECT_EQ(script->error, "logs/%x-%j.err");
    EXPECT_EQ(script->time_limit_s, (26 * 60 + 30) * 60);
    EXPECT_EQ(script->tasks, 4);
    EXPECT_EQ(script->cpus_per_task, 8);
    EXPECT_EQ(script->memory_bytes, 64LL << 30);
    EXPECT_EQ(script->gpus, 4);
    EXPECT_EQ(script->gpu_type, "a100");
    EXPECT_EQ(script->signal, (BatchSignal{"USR1", 10, 120, true}));
    EXPECT_EQ(script->requeue, true);
    EXPECT_EQ(script->workdir, "/data/run");
    EXPECT_FALSE(script->environment.all);
    EXPECT_THAT(script->environment.set, ElementsAre(BatchVariable{"SEED", "7"}));
    EXPECT_THAT(script->notes, IsEmpty());
}

TEST(BatchScript, DefaultsAreSlurms) {
    const BatchScript script = read("");
    EXPECT_EQ(script.name, "");
    EXPECT_EQ(script.output, "");
    EXPECT_FALSE(script.append);
    EXPECT_EQ(script.error, "");
    EXPECT_EQ(script.tasks, 1);
    EXPECT_EQ(script.time_limit_s, 0);
    EXPECT_TRUE(script.environment.all);
    EXPECT_TRUE(option("--open-mode=append").append);
}

TEST(BatchScript, WordsAreDividedAsBySbatch) {
    EXPECT_EQ(option("-J a#b").name, "a");
    EXPECT_EQ(option("-J \"a#b\"").name, "a#b");
    EXPECT_EQ(option("-J 'a \"b'").name, "a \"b");
    EXPECT_EQ(option("-J a\\ b").name, "a b");
    EXPECT_EQ(option("-Jab").name, "ab");
    EXPECT_EQ(option("\t-J\tab").name, "ab");
    EXPECT_EQ(read("#SBATCH--time=1").time_limit_s, 60);
    EXPECT_EQ(option("-Hn4").tasks, 4);
    EXPECT_TRUE(option("-Hn4").hold);
    EXPECT_EQ(option("--job-name=").name, "");
    EXPECT_EQ(option("-n4 -c2 -N1").cpus_per_task, 2);
    EXPECT_EQ(option("-n 2 -n 3").tasks, 3) << "The last one counts.";
    EXPECT_THAT(refusal("-J \"a"), HasSubstr("has no end"));
    EXPECT_THAT(refusal("foo"), HasSubstr("'foo' is no option"));
    EXPECT_THAT(refusal(": -n2").substr(0, 30), HasSubstr("heterogeneous"));
}

TEST(BatchScript, LinesAfterTheFirstCommandAreNoted) {
    const auto script = read_batch_script("#!/bin/sh\n#SBATCH -n2\ntrue\n#SBATCH --bad\n#SBATCH --bad\n");
    ASSERT_TRUE(script) << script.error().message;
    EXPECT_EQ(script->tasks, 2);
    ASSERT_EQ(script->notes.size(), 1u);
    EXPECT_EQ(script->notes[0].line, 4);
}

TEST(BatchScript, AnIndentedLineIsACommentAndNoted) {
    const BatchScript script = read("  #SBATCH -n2");
    EXPECT_EQ(script.tasks, 1);
    ASSERT_EQ(script.notes.size(), 1u);
    EXPECT_EQ(script.notes[0].line, 2);
}

TEST(BatchScript, OptionsWithoutEffectAreNoted) {
    const BatchScript script =
        read("#SBATCH -p gpu --account=lab\n#SBATCH --qos=high --mail-type=END --mail-user=a@b.c -v");
    std::vector<std::string> noted;
    for (const BatchNote& note : script.notes)
        noted.push_back(fmt::format("{} {}={}", note.line, note.option, note.value));
    EXPECT_THAT(noted, ElementsAre("2 --account=lab", "2 --partition=gpu", "3 --mail-type=END",
                                   "3 --mail-user=a@b.c", "3 --qos=high", "3 --verbose="));
}

TEST(BatchScript, EveryWrongLineIsNamed) {
    const auto fields = wrong(
        "#SBATCH --foo=1 -n 0\n#SBATCH -n 2\n#SBATCH --wrap=true\n#SBATCH --mem=1.5G --time=soon\n"
        "#SBATCH --constraint=x");
    std::vector<std::string> lines;
    for (const FieldError& field : fields) lines.push_back(field.path);
    EXPECT_THAT(lines, ElementsAre("line 2", "line 2", "line 4", "line 5", "line 5", "line 6"));
    EXPECT_EQ(fields[3].message,
              "--mem: '1.5G' is no amount of memory; write a whole number with K, M, G or T, as 500M or 16G");
}

TEST(BatchScript, UnknownOptionsHaveAHint) {
    EXPECT_THAT(refusal("--job=x"), HasSubstr("line 2: --job is unknown; did you mean --job-name?"));
    EXPECT_THAT(refusal("--tasks 4"), HasSubstr("--tasks is unknown"));
    EXPECT_THAT(refusal("-Z"), HasSubstr("-Z is unknown"));
    EXPECT_THAT(refusal("-n=4"), HasSubstr("write -n 4 or --ntasks=4"));
    EXPECT_THAT(refusal("--hold=1"), HasSubstr("--hold takes no value"));
    EXPECT_THAT(refusal("--time"), HasSubstr("--time needs a value"));
    EXPECT_THAT(refusal("-o"), HasSubstr("--output needs a value"));
}

TEST(BatchScript, Times) {
    constexpr std::int64_t hour = 3600, day = 24 * hour;
    const std::pair<std::string_view, std::int64_t> times[] = {{"1", 60},
                                                               {"1:30", 120},
                                                               {"1:61", 180},
                                                               {"2:00:00", 2 * hour},
                                                               {"2-0", 2 * day},
                                                               {"2-1:30", 2 * day + hour + 1800},
                                                               {"2-1:30:05", 2 * day + hour + 1860},
                                                               {"0", 0},
                                                               {"UNLIMITED", 0},
                                                               {"infinite", 0},
                                                               {"0:01", 60}};
    for (const auto& [text, seconds] : times)
        EXPECT_EQ(option(fmt::format("-t {}", text)).time_limit_s, seconds) << text;
    for (const auto text : {"-5", "5m", "1:2:3:4", "1-2-3", "1:", "-", "1-", "367-0", "99999999999999999999"})
        EXPECT_THAT(refusal(fmt::format("--time={}", text)), HasSubstr("is no time up to 366 days")) << text;
}

TEST(BatchScript, Memory) {
    const std::pair<std::string_view, std::int64_t> sizes[] = {{"100", 100LL << 20},
                                                               {"100K", 100LL << 10},
                                                               {"1g", 1LL << 30},
                                                               {"1GB", 1LL << 30},
                                                               {"2T", 2LL << 40}};
    for (const auto& [text, bytes] : sizes)
        EXPECT_EQ(option(fmt::format("--mem={}", text)).memory_bytes, bytes) << text;
    for (const auto text : {"1.5G", "1Gi", "-1", "0", "G", "", "B", "9999999999999999999T", "9000000000G"})
        EXPECT_THAT(refusal(fmt::format("--mem={}", text)), HasSubstr("write a whole number")) << text;
    EXPECT_EQ(option("--mem-per-cpu=1G -n 2 -c 3").memory_bytes, 6LL << 30);
    EXPECT_THAT(refusal("--mem-per-cpu=1G --mem=2G"), HasSubstr("exclude each other"));
    EXPECT_THAT(refusal("--mem-per-cpu=20000T -n 65536 -c 65536"), HasSubstr("more than a job can have"));
}

TEST(BatchScript, HostsAndTasks) {
    EXPECT_EQ(option("-N 1-1 -n 3").tasks, 3);
    EXPECT_EQ(option("-N 1-2").nodes, 1);
    EXPECT_THAT(refusal("-N 2"), HasSubstr("a gang stays on one host until networks span hosts"));
    EXPECT_THAT(refusal("--nodes=0"), HasSubstr("write 1"));
    EXPECT_EQ(option("--ntasks-per-node=2").tasks, 2);
    EXPECT_EQ(option("-n 2 --ntasks-per-node=4").tasks, 2);
    EXPECT_THAT(refusal("-n 4 --ntasks-per-node=2"), HasSubstr("more than one host"));
    for (const auto text : {"0", "-1", "1k", "2,3", "65537", ""})
        EXPECT_THAT(refusal(fmt::format("--ntasks={}", text)), HasSubstr("is not a whole number from 1"));
}

TEST(BatchScript, Gpus) {
    const std::tuple<std::string_view, int, std::string_view> asks[] = {
        {"-G2", 2, ""},
        {"--gpus a100:2", 2, "a100"},
        {"--gpus=0", 0, ""},
        {"--gres=gpu", 1, ""},
        {"--gres=gpu:2", 2, ""},
        {"--gres=gpu:a100", 1, "a100"},
        {"--gres=gpu:a100:2", 2, "a100"},
        {"--gres=none", 0, ""},
        {"--gpus-per-node=h100:8", 8, "h100"},
        {"--gpus-per-task=2 -n 3", 6, ""},
        {"--gpus=2 --gpus-per-node=a100:2", 2, "a100"},
        {"--gpus=2 --gpus-per-task=1 -n2", 2, ""}};
    for (const auto& [text, count, type] : asks) {
        EXPECT_EQ(option(text).gpus, count) << text;
        EXPECT_EQ(option(text).gpu_type, type) << text;
    }
    EXPECT_EQ(option("--gpus=4 --gpus-per-task=2").tasks, 2);
    for (const auto text : {"a100:1,h100:1", "x", "-1", ":2", "a100:", "1:2:3"})
        EXPECT_THAT(refusal(fmt::format("--gpus={}", text)), HasSubstr("is no number of GPUs")) << text;
    for (const auto text : {"gpu=2", "gpu:2,nic:1", "nic:1", "gpu:", "gpu:a:b:1"})
        EXPECT_THAT(refusal(fmt::format("--gres={}", text)), HasSubstr("write gpu:2")) << text;
    EXPECT_THAT(refusal("--gpus-per-task=1"), HasSubstr("write --ntasks, too"));
}

TEST(BatchScript, GpusThatDisagreeAreNamedByBothLines) {
    const auto fields = wrong("#SBATCH --gpus=2\n#SBATCH -n 4\n#SBATCH --gpus-per-task=1");
    ASSERT_EQ(fields.size(), 1u);
    EXPECT_EQ(fields[0].path, "line 4");
    EXPECT_THAT(fields[0].message, HasSubstr("those of line 2 differ: 2 and 4"));
    EXPECT_THAT(refusal("--gpus=a100:2 --gres=gpu:h100:2"), HasSubstr("a100 and h100"));
    EXPECT_THAT(refusal("--gpus=3 --gpus-per-task=2"), HasSubstr("differ"));
}

TEST(BatchScript, Arrays) {
    const auto array = [](std::string_view text) { return option(fmt::format("--array={}", text)).array; };
    EXPECT_EQ(array("0-15"), (JobArray{{{0, 15, 1}}, 0}));
    EXPECT_EQ(array("1,3,5-7"), (JobArray{{{1, 1, 1}, {3, 3, 1}, {5, 7, 1}}, 0}));
    EXPECT_EQ(array("0-15:4"), (JobArray{{{0, 12, 4}}, 0}));
    EXPECT_EQ(array("0-15%4"), (JobArray{{{0, 15, 1}}, 4}));
    EXPECT_EQ(array("[0-3]"), (JobArray{{{0, 3, 1}}, 0}));
    EXPECT_EQ(array("1-3,2"), (JobArray{{{1, 3, 1}}, 0}));
    EXPECT_EQ(array("01-03"), (JobArray{{{1, 3, 1}}, 0}));
    EXPECT_EQ(array("1-5:2,9%2").size(), 4);
    EXPECT_EQ(array("0-9999").size(), 10'000);
    for (const auto text : {"5-1", "1-5:0", "1-", "a", "1,,2", "", "%4", "1-5%0", "1-5%-1", "1%2,3", "-1",
                            "4000001", "99999999999999999999"})
        EXPECT_THAT(refusal(fmt::format("--array={}", text)), HasSubstr("is no list of indexes")) << text;
}

TEST(BatchScript, LargeArraysAreRefusedWithoutAList) {
    EXPECT_THAT(refusal("-a 0-10000"), HasSubstr("line 2: --array: '0-10000' has more than 10000 elements"));
    EXPECT_THAT(refusal("-a 0-4000000"), HasSubstr("more than 10000 elements"));
    EXPECT_THAT(refusal("-a 0-10000000"), HasSubstr("indexes from 0 to 4000000"));
    std::string many = "0-9999";
    for (int i = 0; i < 1000; ++i) many += ",0-9999";
    EXPECT_THAT(refusal("-a " + many), HasSubstr("more than 10000 elements"));
}

TEST(BatchScript, Dependencies) {
    EXPECT_THAT(option("-d afterok:1:2,afterany:job-3").dependencies,
                ElementsAre(BatchDependency{After::ok, "1"}, BatchDependency{After::ok, "2"},
                            BatchDependency{After::any, "job-3"}));
    EXPECT_THAT(option("-d AFTERNOTOK:1,after:12_3").dependencies,
                ElementsAre(BatchDependency{After::not_ok, "1"}, BatchDependency{After::start, "12_3"}));
    for (const auto text : {"singleton", "aftercorr:1", "afterok", "afterok:", "1:2", "5", "", "afterok:a/b",
                            "afterok:1?afterok:2", "after:1+5", "afterok:1,"})
        EXPECT_THAT(refusal(fmt::format("--dependency={}", text)), HasSubstr("--dependency: ")) << text;
}

TEST(BatchScript, Environment) {
    EXPECT_TRUE(option("--export=ALL").environment.all);
    EXPECT_EQ(option("--export=NONE").environment, (BatchEnvironment{false, {}, {}}));
    EXPECT_EQ(option("--export=EDITOR,A=1").environment, (BatchEnvironment{false, {"EDITOR"}, {{"A", "1"}}}));
    EXPECT_EQ(option("--export=ALL,A=1,B=").environment,
              (BatchEnvironment{true, {}, {{"A", "1"}, {"B", ""}}}));
    EXPECT_EQ(option("--export=\"A='x,y',B=2\"").environment.set.at(0).value, "'x,y'");
    for (const auto text : {"", "1A=2", "A-B=1", "A,,B", "A='x", "=1"})
        EXPECT_THAT(wrong(fmt::format("#SBATCH --export=\"{}\"", text)).size(), 1u) << text;
}

TEST(BatchScript, Signals) {
    EXPECT_EQ(option("-t1 --signal=USR1").signal, (BatchSignal{"USR1", 10, 60, false}));
    EXPECT_EQ(option("-t1 --signal=B:sigterm@30").signal, (BatchSignal{"TERM", 15, 30, true}));
    EXPECT_EQ(option("-t1 --signal=10@0").signal, (BatchSignal{"USR1", 10, 0, false}));
    EXPECT_EQ(option("--signal=USR1").notes.size(), 1u) << "Without a time limit.";
    for (const auto text :
         {"FOO", "0", "B:0", "B:@3", "WINCH", "99", "R:TERM@5", "B:USR1@70000", "B:USR1@", ""})
        EXPECT_THAT(refusal(fmt::format("--signal={}", text)), HasSubstr("--signal: ")) << text;
}

TEST(BatchScript, OrderAndHold) {
    EXPECT_EQ(option("--nice").nice, 100);
    EXPECT_EQ(option("--nice=-5").nice, -5);
    EXPECT_EQ(option("--priority=5").priority, 5);
    EXPECT_TRUE(option("--priority=0").hold);
    EXPECT_EQ(option("--no-requeue").requeue, false);
    EXPECT_EQ(option("").requeue, std::nullopt);
    EXPECT_THAT(refusal("--nice 5"), HasSubstr("'5' is no option"));
    EXPECT_THAT(refusal("--nice=--5"), HasSubstr("--nice: "));
    EXPECT_THAT(refusal("--priority=TOP"), HasSubstr("--priority: "));
    EXPECT_THAT(refusal("--exclusive=user"), HasSubstr("--exclusive is not possible here"));
}

TEST(BatchScript, PathsStayInTheWorkingDirectory) {
    EXPECT_EQ(option("-D /data -o /data/logs/%j").output, "/data/logs/%j");
    EXPECT_EQ(option("-o /dev/null").output, "/dev/null");
    EXPECT_THAT(refusal("-o ../x"), HasSubstr("'..'"));
    EXPECT_THAT(refusal("-D a/../b"), HasSubstr("'..'"));
    EXPECT_EQ(option("-D /data -e /scratch/x").error, "/scratch/x") << "files are the submitter's";
    EXPECT_THAT(refusal("-o ../x"), HasSubstr("--output: '../x' has '..' in it"));
    EXPECT_THAT(refusal("--open-mode=w"), HasSubstr("'w' is neither append nor truncate"));
    EXPECT_THAT(refusal("-o %q"), HasSubstr("a sign that is not read"));
}

TEST(BatchScript, ScriptsThatSbatchRefusesToo) {
    const auto error = [](std::string_view text) {
        const auto script = read_batch_script(text);
        return script ? "" : script.error().message;
    };
    EXPECT_THAT(error(""), HasSubstr("the script is empty"));
    EXPECT_THAT(error("\n  \n"), HasSubstr("the script is empty"));
    EXPECT_THAT(error("true\n"), HasSubstr("must begin with #!"));
    EXPECT_THAT(error(" #!/bin/sh\n"), HasSubstr("must begin with #!"));
    EXPECT_THAT(error("#!/bin/sh\ntrue\r\n"), HasSubstr("line 2 of the batch script: it ends with a DOS"));
    EXPECT_THAT(error(std::string_view("#!/bin/sh\n\na\0b", 14)), HasSubstr("line 3 of the batch script"));
    EXPECT_THAT(error("#!/bin/sh\n# \xff\n"), HasSubstr("is not UTF-8"));
    EXPECT_EQ(error("#!/bin/sh"), "");
}

TEST(BatchScript, ControlCharactersAreRefused) {
    EXPECT_THAT(refusal("-J \"a\x1b[2J\""), HasSubstr("--job-name: its value has a control character"));
}

TEST(BatchScript, SizeAndOptionsAreBounded) {
    std::string text = "#!/bin/sh\n#";
    text.resize(batch_script_bytes_max, 'x');
    EXPECT_TRUE(read_batch_script(text));
    text += 'x';
    ASSERT_FALSE(read_batch_script(text));
    EXPECT_EQ(read_batch_script(text).error().reason, "script_too_large");

    std::string lines;
    for (std::size_t i = 0; i < batch_options_max; ++i) lines += "#SBATCH -n1\n";
    EXPECT_EQ(read(lines).tasks, 1);
    const auto fields = wrong(lines + "#SBATCH -n1\n#SBATCH -n1\n");
    ASSERT_EQ(fields.size(), 1u);
    EXPECT_THAT(fields[0].message, HasSubstr("at most 256"));
}

}  // namespace
}  // namespace hostler
