// A start is refused with a sentence and a remedy, and goes once what was wrong is mended. Then it is one press from
// home to its page, its logs, and, when it does not run, to why.
import { check, equal } from "../stage.mjs";

// A link of the instance's row.
async function fromHome(person, name) {
    await person.click(person.link("Home", person.page.locator("nav")));
    await person.heading("Home");
    const main = person.page.getByRole("main");
    return person.link(name, main.locator("div.need", { has: person.link("seen") })).last();
}

async function lookAtIt(stage, tenantID) {
    const { cloud } = stage;
    const template = { ports: [{ port: 8080, protocol: "TCP", isPublic: true, isProbe: true, baseUrl: "" }], envs: [], cmd: "", volumes: [] };
    await cloud.api("PUT", "/v1/quotas", { tenantID, limits: [{ resource: "gpus", limit: "2" }] });
    await cloud.api("POST", "/gpu-instances", { instanceID: "seen", tenantID, image: "localhost/hostler-demo:latest", specName: "demo", template });
    await cloud.running("seen", tenantID);
    await cloud.user(`pat@${tenantID}`, "a horse that is right", [{ role: "member", tenantID }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: `pat@${tenantID}`, password: "a horse that is right" });
    const pat = await stage.person();
    const { page } = pat;
    await pat.signIn(secret);
    stage.expectRefusal(404, "/favicon.ico");
    const open = await fromHome(pat, "Open");
    const opens = pat.context.waitForEvent("page");
    const [shown, presses] = await Promise.all([opens, pat.clicksOf(() => pat.click(open))]);
    equal(presses, 1, "presses from home to its page");
    await shown.getByText("seen").first().waitFor();
    await shown.close();
    const logs = await fromHome(pat, "Logs");
    equal(await pat.clicksOf(() => pat.click(logs)), 1, "presses from home to its logs");
    await page.getByLabel("Log", { exact: true }).getByText("demo: listening on port").waitFor();
    await cloud.api("POST", "/v1/instances/seen/stop", { tenantID });
    const why = await fromHome(pat, "Why");
    equal(await pat.clicksOf(() => pat.click(why)), 1, "presses from home to why it does not run");
    await page.getByRole("heading", { name: "Why", exact: true }).waitFor();
    await page.getByText(/stopped/).first().waitFor();
}

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    await cloud.ask("POST", "/v1/specs", { name: "pair", cpu: 1, memory: "64Mi", gpuType: "H100 SXM5 80GB", gpuNum: 2 });
    await cloud.api("PUT", "/v1/quotas", { tenantID: tenant, limits: [{ resource: "gpus", limit: "1" }] });
    const operator = await stage.person();
    const { page } = operator;
    await operator.signIn();
    stage.expectRefusal(409, "/gpu-instances");
    stage.expectRefusal(400, "/gpu-instances");

    await operator.go("/start?image=");
    await operator.heading("Start an instance");
    await operator.click(page.getByRole("radio", { name: /pair in/ }).first());
    await operator.fill(operator.text("Tenant"), tenant);
    await operator.fill(operator.text("Name"), "too-large");
    await operator.fill(operator.text("Image"), "localhost/hostler-demo:latest");
    const refusal = page.getByRole("alert");
    await refusal.first().waitFor();
    const words = await refusal.first().innerText();
    check(/quota/i.test(words) && words.includes(tenant), `the refusal says which rule: ${words}`);
    equal((await cloud.api("GET", `/v1/instances?tenantID=${tenant}`)).items.length, 0, "nothing was made");

    await operator.click(page.getByRole("radio", { name: /demo in/ }).first());
    await refusal.first().waitFor({ state: "detached" });
    await operator.click(operator.button("Start"));
    await page.waitForURL(/\/console\/instances\/too-large\?/);
    await cloud.running("too-large", tenant);
    await page.getByText("running", { exact: true }).first().waitFor();
    await lookAtIt(stage, tenant);
    for (const name of ["too-large", "seen"]) await cloud.api("DELETE", `/gpu-instances/${name}?tenantID=${tenant}`);
}
