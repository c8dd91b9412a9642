// A GPU breaks: from the heat map to its evidence and remedy, and on its way back to service.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { check, equal } from "../stage.mjs";

// What the driver of a simulated host says of its GPUs (src/simulated_nvml/FORMAT.md).
class Driver {
    constructor(data, host) {
        this.file = `${data}/hosts/${host}/nvml.state`;
        this.healthy = readFileSync(this.file, "utf8");
    }
    replace(text) {
        writeFileSync(`${this.file}.new`, text);
        renameSync(`${this.file}.new`, this.file);
    }
    // XID 79: the GPU has fallen off the bus.
    breakGpu(index) {
        const head = `[gpu ${index}]\n`;
        check(this.healthy.includes(head), `${this.file} has no ${head}`);
        this.replace(this.healthy.replace(head, `${head}event = 1 xid 79\n`));
    }
    repair() {
        this.replace(this.healthy);
    }
}

export default async function (stage) {
    const { cloud } = stage;
    const operator = await stage.person();
    const { page } = operator;
    await operator.signIn();
    const [host] = (await cloud.api("GET", "/v1/hosts")).items;
    const gpus = (await cloud.api("GET", `/v1/gpus?host=${host.id}`)).items;
    const gpu = gpus.findLast(({ state, index }) => state === "healthy" && index > 0);
    const stateOf = async () => (await cloud.api("GET", `/v1/gpus/${gpu.id}`)).state;
    const driver = new Driver(cloud.data, host.name);
    driver.breakGpu(gpu.index);
    try {
        await cloud.until(async () => (await stateOf()) !== gpu.state, "the GPU is out of service");
        const seen = await operator.clicksOf(async () => {
            await operator.click(operator.link("Fleet", page.getByRole("main")));
            await operator.heading("Fleet");
            await operator.click(page.getByRole("link", { name: new RegExp(`${gpu.id}|GPU ${gpu.index}`) }).first());
        });
        equal(seen, 2, "presses from home to a GPU's evidence");
        await page.getByText("XID 79: the GPU has fallen off the bus").first().waitFor();
        await page.getByText(/reboot the host/).first().waitFor();
        // It is tested for some minutes, and then takes work.
        await operator.click(operator.button("Return to service"));
        await operator.click(operator.button("Return to service", page.getByRole("dialog")));
        await page.getByRole("main").getByText(/being tested/).first().waitFor();
    } finally {
        driver.repair();
    }
}
