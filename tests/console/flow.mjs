// Runs a flow of people in a real Chromium against a real cloud: node flow.mjs NAME [keyboard], with what a cloud test
// tells in the environment. It fails on an error in the browser's console, too, and on a request to another origin.
import { createRequire } from "node:module";
import { join } from "node:path";
import { Cloud } from "./cloud.mjs";
import { Stage } from "./stage.mjs";

const root = new URL("../..", import.meta.url).pathname;
const { chromium } = createRequire(join(root, "console/package.json"))("playwright-core");

async function run(name, hands) {
    const { default: flow } = await import(`./flows/${name}.mjs`);
    const browser = await chromium.launch({
        executablePath: "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    const stage = new Stage(browser, new Cloud(), hands);
    try {
        await flow(stage);
    } catch (error) {
        stage.wrong.unshift(error.stack);
        await keepPictures(browser, `${name}-${hands}`);
    } finally {
        await browser.close();
    }
    for (const text of stage.wrong) console.log(text);
    process.exit(stage.wrong.length === 0 ? 0 : 1);
}

// Of what each page showed when the flow broke off.
async function keepPictures(browser, name) {
    for (const [index, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
        const path = `${process.env.HOSTLER_FOLDER}/${name}-${index}.png`;
        await page.screenshot({ path }).catch(() => undefined);
        const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(() => "");
        console.log(`${page.url()} shows (${path}):\n${text.slice(0, 3_000)}`);
    }
}

if (process.argv[2]) await run(process.argv[2], process.argv[3] ?? "mouse");
