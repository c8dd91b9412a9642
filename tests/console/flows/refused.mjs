// A start is refused with a sentence and a remedy, and goes once what was wrong is mended.
import { check, equal } from "../flow.mjs";

export default async function (stage) {
    const { cloud } = stage;
    await cloud.api("POST", "/v1/tenants", { name: "refused" });
    await cloud.api("POST", "/v1/specs", { name: "giant", cpu: 1, memory: "64Mi", gpuType: "H100 SXM5 80GB", gpuNum: 8 });
    await cloud.api("PUT", "/v1/quotas", { tenantID: "refused", limits: [{ resource: "gpus", limit: "1" }] });
    const operator = await stage.person();
    const { page } = operator;
    await operator.signIn();
    stage.expectRefusal(409, "/gpu-instances");
    stage.expectRefusal(400, "/gpu-instances");

    await operator.go("/start?image=");
    await operator.heading("Start an instance");
    await page.getByRole("radio", { name: /giant/ }).first().click();
    await page.getByLabel("Tenant", { exact: false }).first().fill("refused");
    await page.getByLabel("Name", { exact: false }).first().fill("too-large");
    await page.getByLabel("Image", { exact: true }).fill("localhost/hostler-demo:latest");
    const refusal = page.getByRole("alert");
    await refusal.first().waitFor();
    const words = await refusal.first().innerText();
    check(/quota/i.test(words) && words.includes("refused"), `the refusal says which rule: ${words}`);
    equal((await cloud.api("GET", "/v1/instances?tenantID=refused")).items.length, 0, "nothing was made");

    await page.getByRole("radio", { name: /demo/ }).first().click();
    await refusal.first().waitFor({ state: "detached" });
    await operator.button("Start").click();
    await page.waitForURL(/\/console\/instances\/too-large\?/);
    await cloud.running("too-large", "refused");
    await page.getByText("running", { exact: true }).first().waitFor();
    await cloud.api("DELETE", "/gpu-instances/too-large?tenantID=refused");
}
