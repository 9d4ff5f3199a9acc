import { setTimeout as sleep } from "node:timers/promises";

import { commands, numberBetween, quickCommands, randomItem, type Stage, type Trouble } from "./trouble.ts";
import type { LinkMode } from "./link.ts";

/** For trouble that ends. The exit code is 3 if the results are incomplete, and 0 if the target came back in time. */
const temporary = { codes: [0, 3] } as const;

/** Switches the proxy to a mode for some seconds. */
async function setModeFor(stage: Stage, mode: LinkMode, seconds: number): Promise<void> {
  await stage.link.setMode(mode);
  await sleep(seconds * 1000);
  await stage.link.setMode({ kind: "open" });
}

export const targetTroubles: readonly Trouble[] = [
  {
    name: "target killed",
    summary: "The target is killed and stays away.",
    commands,
    codes: [3],
    maxSeconds: 40,
    act: async ({ target, link }) => {
      target.signal("SIGKILL");
      await link.setMode({ kind: "refusing", cutsOpen: true });
    },
  },
  {
    name: "target restarted",
    summary: "The target is killed, and starts again after 0.1 to 2 s with the same keys and webhooks.",
    commands: quickCommands,
    ...temporary,
    act: async ({ target, link, numbers }) => {
      target.signal("SIGKILL");
      await link.setMode({ kind: "refusing", cutsOpen: true });
      await sleep(numberBetween(numbers, 100, 2000));
      await target.restart();
      await link.setMode({ kind: "open" });
    },
  },
  {
    name: "target stopped for a while",
    summary: "The target gets SIGSTOP, and SIGCONT after 0.5 to 8 s.",
    commands: quickCommands,
    ...temporary,
    act: async ({ target, numbers }) => {
      target.signal("SIGSTOP");
      await sleep(numberBetween(numbers, 500, 8000));
      target.signal("SIGCONT");
    },
  },
  {
    name: "slow target",
    summary: "The target gets a fifth of its processor time for 2 to 8 s.",
    commands: quickCommands,
    ...temporary,
    act: async ({ target, numbers }) => {
      for (const until = performance.now() + numberBetween(numbers, 2000, 8000); performance.now() < until;) {
        target.signal("SIGSTOP");
        await sleep(80);
        target.signal("SIGCONT");
        await sleep(20);
      }
    },
  },
];

export const networkTroubles: readonly Trouble[] = [
  {
    name: "gateway without a server",
    summary: "For 0.3 to 6 s, a gateway answers 502, 503 or 504 in the target's place.",
    commands: quickCommands,
    ...temporary,
    act: async (stage) => {
      const status = randomItem(stage.numbers, [502, 503, 504] as const);
      await setModeFor(stage, { kind: "gateway", status }, numberBetween(stage.numbers, 0.3, 6));
    },
  },
  {
    name: "gateway that stays",
    summary: "A gateway answers 502, 503 or 504 in the target's place until the end.",
    commands: quickCommands,
    ...temporary,
    act: async ({ numbers, link }) => {
      await link.setMode({ kind: "gateway", status: randomItem(numbers, [502, 503, 504] as const) });
    },
  },
  {
    name: "connections refused",
    summary: "New connections are refused for 0.2 to 4 s; open ones are cut in half of the trials.",
    commands: quickCommands,
    ...temporary,
    act: async (stage) => {
      const cutsOpen = stage.numbers() < 0.5;
      await setModeFor(stage, { kind: "refusing", cutsOpen }, numberBetween(stage.numbers, 0.2, 4));
    },
  },
  {
    name: "connections reset",
    summary: "For 0.5 to 5 s, 2 to 50 % of all pieces of data reset their connection.",
    commands: quickCommands,
    ...temporary,
    act: async (stage) => {
      const share = numberBetween(stage.numbers, 0.02, 0.5);
      await setModeFor(stage, { kind: "resetting", share }, numberBetween(stage.numbers, 0.5, 5));
    },
  },
  {
    name: "connections delayed",
    summary: "For 1 to 6 s, each piece of data comes up to 0.05 to 2 s late.",
    commands: quickCommands,
    ...temporary,
    act: async (stage) => {
      const maxMs = numberBetween(stage.numbers, 50, 2000);
      await setModeFor(stage, { kind: "delaying", maxMs }, numberBetween(stage.numbers, 1, 6));
    },
  },
  {
    name: "key revoked",
    summary: "The target does not know one of the used keys any more.",
    commands: quickCommands,
    ...temporary,
    act: async ({ numbers, link, keys }) => {
      // Only keys that the target has accepted before. The harness would take any other key for a wrong one.
      const used = keys.filter((key) => link.hasPassed(key));
      if (used.length > 0) await link.setMode({ kind: "revoking", key: randomItem(numbers, used) });
    },
  },
];
