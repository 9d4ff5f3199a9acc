// Counts false alarms on correct servers, with a noisy network and a busy machine:
// `node tools/noise.ts [RUNS] [AT ONCE] [FIRST SEED] [SERVER…]`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";

import { hasGo, hasPython } from "../src/base/testing/test-scope.ts";
import { startFormBServer } from "../src/run/testing/form-b-server.ts";
import {
  falseAlarmsUnder,
  type Noise,
  noises,
  type CorrectServer,
  startLegalServer,
} from "../src/selftest/noise/noisy-run.ts";
import { startVendor } from "../src/selftest/third-party/testing/vendor.ts";

const servers: Readonly<
  Record<string, { readonly isHere: () => boolean; readonly start: (seed: number) => Promise<CorrectServer> }>
> = {
  python: {
    isHere: hasPython,
    start: async () => ({ ...(await startFormBServer(null)), notes: [] }),
  },
  go: {
    isHere: hasGo,
    start: async () => {
      const { target, close } = await startVendor([]);
      // Leaves out the keys of large tiers, because a run takes minutes to use up their hourly limits.
      const keys = Object.fromEntries(
        Object.entries(target.keys).filter(([name]) => name !== "pro" && name !== "team"),
      );
      return { target: { ...target, keys }, notes: [], close };
    },
  },
  "legal variants": { isHere: () => true, start: startLegalServer },
};

async function tryOne(name: string, seed: number): Promise<void> {
  const server = servers[name];
  if (server === undefined) throw new Error(`there is no server ${name}`);
  const alarms = await falseAlarmsUnder(noiseForSeed(seed), await server.start(seed), seed);
  process.stdout.write(JSON.stringify(alarms), () => process.exit(0));
}

const noiseForSeed = (seed: number): Noise => noises[seed % noises.length] as Noise;

async function tryAll(runs: number, atOnce: number, first: number, chosen: readonly string[]): Promise<number> {
  const names = chosen.filter((name) => servers[name]?.isHere() === true);
  const left = Array.from({ length: runs }, (_, at) => first + at)[Symbol.iterator]();
  let red = 0;
  const work = async (): Promise<void> => {
    for (const seed of left) {
      // Consecutive seeds try all kinds of noise on one server, then all kinds on the next server.
      const name = names[Math.floor(seed / noises.length) % names.length] ?? "";
      const began = performance.now();
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--one", name, String(seed)], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
      const alarms =
        code === 0 ? (JSON.parse(out) as string[]) : [`it ended with code ${String(code)}: ${err.slice(-300)}`];
      if (alarms.length > 0) red += 1;
      const seconds = ((performance.now() - began) / 1000).toFixed(0).padStart(4);
      process.stdout.write(
        `${alarms.length === 0 ? "ok " : "RED"} ${seconds} s  seed ${seed}  ${name}, ${noiseForSeed(seed).name}\n`,
      );
      for (const alarm of alarms) process.stdout.write(`      ${alarm}\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  process.stdout.write(`${runs} runs against ${names.join(", ")}: ${red} red\n`);
  return red;
}

const [first = "50", second = "2", third = "1", ...named] = process.argv.slice(2);
const chosen = named.length > 0 ? named : Object.keys(servers);
if (first === "--one") await tryOne(second, Number(third));
else process.exitCode = (await tryAll(Number(first), Number(second), Number(third), chosen)) === 0 ? 0 : 1;
