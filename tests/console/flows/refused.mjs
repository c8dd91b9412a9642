// A start is refused with a sentence and a remedy, and goes once what was wrong is mended.
import { check, equal } from "../stage.mjs";

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
    await cloud.api("DELETE", `/gpu-instances/too-large?tenantID=${tenant}`);
}
