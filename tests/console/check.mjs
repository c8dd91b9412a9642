// Checks console/: the generated client and the committed bundle are fresh, the types hold, and its unit tests
// pass. Prints as GoogleTest does, which is what ./dev counts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const folder = join(root, "console");
const scratch = mkdtempSync(join(tmpdir(), "console-"));
let passed = 0;
const failed = [];

function report(name, problem, milliseconds = 0) {
    if (!problem) {
        passed += 1;
        return;
    }
    failed.push(name);
    console.log(`[ RUN      ] ${name}\n${problem}\n[  FAILED  ] ${name} (${milliseconds} ms)`);
}

// What it printed, if it failed; "" when it did not.
function run(program, words) {
    const done = spawnSync(join(folder, "node_modules/.bin", program), words, { cwd: folder, encoding: "utf8" });
    return done.status === 0 ? "" : `${done.stdout}${done.stderr}${done.error ?? ""}` || `it ended with ${done.status}`;
}

function filesBelow(top, below = top) {
    return readdirSync(below, { withFileTypes: true })
        .flatMap((one) => (one.isDirectory() ? filesBelow(top, join(below, one.name)) : [relative(top, join(below, one.name))]))
        .sort();
}

// Why two folders are not the same; "": they are.
function difference(committed, built) {
    const [theirs, ours] = [filesBelow(committed), filesBelow(built)];
    const odd = [...theirs.filter((one) => !ours.includes(one)), ...ours.filter((one) => !theirs.includes(one))];
    const other = ours.filter(
        (one) => theirs.includes(one) && !readFileSync(join(committed, one)).equals(readFileSync(join(built, one))),
    );
    const names = [...odd, ...other];
    return names.length === 0 ? "" : `console/dist is not what its sources make; run ./dev console: ${names.join(", ")}`;
}

function checkClient() {
    const made = join(scratch, "schema.d.ts");
    const problem = run("openapi-typescript", ["../openapi.json", "-o", made]);
    if (problem) return problem;
    const fresh = readFileSync(made).equals(readFileSync(join(folder, "src/api/schema.d.ts")));
    return fresh ? "" : "console/src/api/schema.d.ts is not what openapi.json makes; run ./dev console";
}

function checkBundle() {
    const built = join(scratch, "dist");
    return run("vite", ["build", "--outDir", built, "--logLevel", "error"]) || difference(join(folder, "dist"), built);
}

// The first file that is loaded: one that imports another, which imports it in turn, does not start.
function checkVendor() {
    const name = filesBelow(join(folder, "dist")).find((one) => /vendor-.*\.js$/.test(one));
    const found = name && readFileSync(join(folder, "dist", name), "utf8").match(/(?:from|import)"\.\/[^"]+"/);
    return found ? `console/dist/${name} imports a file (${found[0]}): see the parts in console/vite.config.ts` : "";
}

function runUnitTests() {
    const file = join(scratch, "tests.json");
    const problem = run("vitest", ["run", "--reporter=json", `--outputFile=${file}`]);
    let suites;
    try {
        suites = JSON.parse(readFileSync(file, "utf8")).testResults;
    } catch {
        report("Console.UnitTests", problem || "vitest wrote no results");
        return;
    }
    for (const suite of suites) {
        if (suite.assertionResults.length === 0) report(relative(folder, suite.name), suite.message || "it has no tests");
        for (const test of suite.assertionResults)
            report(`Console.${test.fullName}`, test.status === "failed" ? test.failureMessages.join("\n") : "", Math.round(test.duration ?? 0));
    }
}

try {
    report("Console.TheClientIsFresh", checkClient());
    report("Console.TheTypesHold", run("tsc", ["-p", "."]));
    report("Console.TheBundleIsFresh", checkBundle());
    report("Console.VendorStandsAlone", checkVendor());
    runUnitTests();
} finally {
    rmSync(scratch, { recursive: true, force: true });
}
console.log(`[  PASSED  ] ${passed} tests.`);
if (failed.length > 0) {
    console.log(`\n ${failed.length} FAILED TEST${failed.length === 1 ? "" : "S"}`);
    process.exit(1);
}
