// Ids of another tenant in every address that names something: a member and an admin see nothing of it.
import { routes } from "../routes.mjs";
import { check } from "../stage.mjs";

// Each of them has the word in what its address does not tell: in its name, or beside it.
async function makeObjects(cloud, tenantID, word) {
    const make = (path, body) => cloud.api("POST", path, { tenantID, ...body });
    const name = `${word}-one`;
    const summary = `of ${word}`;
    const instance = await make("/gpu-instances", {
        instanceID: name, tenantName: word, image: "localhost/hostler-demo:latest", specName: "demo", template: { ports: [], envs: [], cmd: "", volumes: [] },
    });
    await make("/v1/alert-rules", { name: "hot", metric: "gpu_memory_used_percent", threshold: -1, forSeconds: 0, summary });
    await make("/v1/projects", { name: "lab", displayName: summary });
    await make("/v1/roles", { name: "own", permissions: ["instance.read"], description: summary });
    await make("/v1/alert-receivers", { name: "box", type: "webhook", url: `https://${word}.example.com/` });
    await cloud.api("PATCH", `/v1/tenants/${tenantID}`, { displayName: summary });
    const made = {
        "/volumes": (await make("/v1/volumes", { name, size: "1Gi" })).id,
        "/secrets": (await make("/v1/secrets", { name, values: [{ key: word, value: word }] })).id,
        "/groups": (await make("/v1/groups", { name })).id,
        "/accounts": (await make("/v1/service-accounts", { name })).id,
        "/identity-providers": (await make("/v1/identity-providers", { name: "idp", issuer: `https://${word}.example.com`, clientID: word })).id,
        "/policies": (await cloud.api("PUT", "/v1/policies", { tenantID, images: [`${word}.example.com/*`] })).id,
        "/members": (await cloud.user(`${word}@${tenantID}`, "a horse that is right", [{ role: "member", tenantID }])).id,
        "/projects": "lab",
        "/roles": "own",
        "/alert-rules": "hot",
        "/receivers": "box",
        "/tenants": tenantID,
    };
    await cloud.running(name, tenantID);
    const alerts = async () => (await cloud.api("GET", `/v1/alerts?tenantID=${tenantID}`)).items[0];
    made["/alerts"] = (await cloud.until(alerts, "an alert of the tenant")).id;
    return { ...made, "/instances": (await cloud.api("GET", `/v1/instances/${name}?tenantID=${tenantID}`)).id, instance };
}

// Of the cloud, which a tenant does not see either.
async function addCloudObjects(cloud, made) {
    const first = async (path, key = "id") => (await cloud.api("GET", path)).items[0][key];
    made["/hosts"] = await first("/v1/hosts");
    made["/gpus"] = await first("/v1/gpus");
    made["/access-points"] = await first("/v1/access-points");
    made["/stock"] = await first("/v1/stocks", "specName");
    made["/consolidations"] = "co-0000000000"; // Its page asks nobody: its permission is the cloud's.
}

// Everyone sees them; they tell nothing of a tenant.
async function catalogue(cloud) {
    return {
        "/zones": (await cloud.api("GET", "/v1/zones")).items[0].name,
        "/specs": (await cloud.api("GET", "/v1/specs")).items[0].name,
    };
}

const tabs = ["overview", "terminal", "logs", "metrics", "events"];
