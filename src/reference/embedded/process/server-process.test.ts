import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { request } from "undici";
import { describe, expect, it } from "vitest";

import { startReferenceProcess } from "./server-process.ts";

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const isThere = (url: string): Promise<boolean> =>
  request(url).then(
    async ({ body }) => {
      await body.dump();
      return true;
    },
    () => false,
  );

async function gone(url: string): Promise<void> {
  while (await isThere(url)) await sleep(20);
}

describe("the embedded server in a child process", () => {
  it("issues new keys and accepts them", async () => {
    const served = await startReferenceProcess();
    const keys = [await served.issueKey("free"), await served.issueKey("pro")];
    expect(new Set(keys.map(({ key }) => key)).size).toBe(2);
    for (const { key } of keys) {
      const { statusCode, body } = await request(`${served.baseUrl}/usage`, { headers: bearer(key) });
      await body.dump();
      expect(statusCode).toBe(200);
    }
    expect(await served.rssBytes()).toBeGreaterThan(1_000_000);
    await served.close();
    expect(await isThere(served.baseUrl)).toBe(false);
  });

  it("has the given tiers, faults and speed", async () => {
    const enterprise = { perHour: 7, perMinute: 5, concurrent: 3, burst: 5, tokensPerMonth: 100 };
    const served = await startReferenceProcess({
      tiers: { enterprise },
      patches: [{ kind: "fault", name: "one-too-few-an-hour" }],
      speed: 1000,
    });
    expect(served.tiers.enterprise).toEqual(enterprise);
    const { key } = await served.issueKey("enterprise");
    // The clock may be close to the end of an hour, and so of a minute. It now moves to the beginning of the next hour.
    await served.toNextHour();
    const dates: number[] = [];
    for (let sent = 0; sent < 2; sent += 1) {
      const { headers, body } = await request(`${served.baseUrl}/usage`, { headers: bearer(key) });
      await body.dump();
      dates.push(Date.parse(String(headers["date"])));
      await sleep(100);
    }
    // 100 ms of real time are 100 s on the server's clock.
    expect((dates[1] ?? 0) - (dates[0] ?? 0)).toBeGreaterThan(60_000);
    await served.setSpeed(1);
    await served.toNextHour();
    const { headers, body } = await request(`${served.baseUrl}/usage`, { headers: bearer(key) });
    await body.dump();
    // The server's windows are whole hours and minutes: this minute has just begun.
    expect(Number(headers["x-ratelimit-reset-after"])).toBeGreaterThan(30);
    await served.close();
  });

  it("rejects with the reason if it does not start", async () => {
    await expect(startReferenceProcess({ patches: [{ kind: "fault", name: "no-such" }] })).rejects.toThrow(
      "no fault no-such",
    );
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("ends with a parent that is ended by %s", async (signal) => {
    const script = `import(${JSON.stringify(new URL("./server-process.ts", import.meta.url).href)})
      .then(({ startReferenceProcess }) => startReferenceProcess()).then(({ baseUrl }) => console.log(baseUrl));`;
    const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [baseUrl] = (await once(createInterface(parent.stdout), "line")) as [string];
    expect(await isThere(baseUrl)).toBe(true);
    parent.kill(signal);
    await gone(baseUrl);
    expect(await isThere(baseUrl)).toBe(false);
  });
});
