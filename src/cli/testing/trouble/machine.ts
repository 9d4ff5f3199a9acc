import { chmodSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type CommandName, commands, numberBetween, quickCommands, randomItem, type Trouble } from "./trouble.ts";

// Trouble of the machine concerns limits, files, clocks, the terminal, signals and other processes.

/** Commands that run only Node. k6 is another program, in which the module that causes this trouble cannot be loaded. */
const nodeCommands: readonly CommandName[] = ["run", "load autocannon", "nightly"];

/** For trouble that must not change the exit code. */
const unaffected = { codes: [0] } as const;
/** For trouble that makes the command lose a file. The command still shows the verdict. */
const losesFile = { codes: [2, 4] } as const;

/** First bytes of connections that never send a whole request: nothing, half a header, or bytes that are not HTTP. */
const floodTexts = ["", "POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ", "\u0016\u0003\u0001\u0002 garbage"] as const;

function openIdle(port: number, text: string): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.write(text);
  return socket;
}

export const fileTroubles: readonly Trouble[] = [
  {
    name: "few open files",
    summary: "`ulimit -n` of 24 to 256.",
    commands: quickCommands,
    codes: [0, 4],
    setUp: ({ numbers }) => {
      const limit = randomItem(numbers, [24, 32, 40, 48, 64, 96, 128, 256]);
      return { prefix: ["sh", "-c", `ulimit -n ${limit} && exec "$0" "$@"`] };
    },
  },
  ...(["ENOSPC", "EIO"] as const).map((code): Trouble => ({
    name: `writes that fail with ${code}`,
    summary: `A write of the first twelve fails with ${code}, and half of its data is written; in half of the trials all later ones too.`,
    commands: nodeCommands,
    ...losesFile,
    setUp: ({ numbers, folder }) => ({
      interference: {
        kind: "failing writes",
        from: 1 + Math.floor(numbers() * 12),
        lasts: numbers() < 0.5,
        code,
        below: folder,
        log: join(folder, "..", "failed-writes"),
      },
    }),
  })),
  {
    name: "folder read-only from the start",
    summary: "The output folder cannot be written by the user.",
    commands: quickCommands,
    codes: [2],
    setUp: ({ folder }) => {
      chmodSync(folder, 0o555);
      return { asNobody: true };
    },
  },
  {
    name: "folder read-only later",
    summary: "The output folder cannot be written any more, from a random instant on.",
    commands: quickCommands,
    ...losesFile,
    leavesFiles: true,
    setUp: () => ({ asNobody: true }),
    act: ({ folder }) => chmodSync(folder, 0o555),
  },
  {
    name: "reader that has enough",
    summary: "The reader of standard output goes away after the first data.",
    commands: quickCommands,
    ...unaffected,
    setUp: () => ({ stdout: "closed" }),
  },
  {
    name: "standard output is full",
    summary: "Standard output is `/dev/full`.",
    commands: quickCommands,
    codes: [4],
    setUp: () => ({ stdout: "/dev/full" }),
  },
  {
    name: "a requested file is full",
    summary: "`--junit /dev/full`; for `nightly`, `--markdown /dev/full`.",
    commands: quickCommands,
    codes: [4],
    setUp: ({ command }) => ({
      args: [command.startsWith("nightly") ? "--markdown" : "--junit", "/dev/full"],
    }),
  },
];

export const processTroubles: readonly Trouble[] = [
  {
    name: "clock that jumps",
    summary: "The wall clock of the harness jumps by up to two hours, forward or back.",
    commands: nodeCommands,
    codes: [0, 3],
    setUp: ({ numbers, atMs }) => {
      const byMs = numberBetween(numbers, 5000, 7_200_000) * (numbers() < 0.5 ? -1 : 1);
      return { interference: { kind: "jumping clocks", atMs, byMs, isMonotonicToo: false } };
    },
  },
  {
    name: "machine that slept",
    summary: "All clocks of the harness jump forward by 5 s to two hours.",
    commands: nodeCommands,
    codes: [0, 3],
    setUp: ({ numbers, atMs }) => {
      const byMs = numberBetween(numbers, 5000, 7_200_000);
      return { interference: { kind: "jumping clocks", atMs, byMs, isMonotonicToo: true } };
    },
  },
  {
    name: "harness stopped for a while",
    summary: "The harness gets SIGSTOP, and SIGCONT after 1 to 12 s.",
    commands: quickCommands,
    codes: [0, 3],
    act: async ({ signal, numbers }) => {
      signal("SIGSTOP");
      await sleep(numberBetween(numbers, 1000, 12_000));
      signal("SIGCONT");
    },
  },
  ...(["SIGINT", "SIGTERM"] as const).map((name): Trouble => ({
    name,
    summary: `The harness gets ${name}.`,
    commands,
    codes: [130],
    deaths: [name],
    maxSeconds: 30,
    act: ({ signal }) => signal(name),
  })),
  {
    name: "two signals",
    summary: "The harness gets SIGINT twice, 0.6 s apart.",
    commands: quickCommands,
    codes: [130],
    deaths: ["SIGINT"],
    maxSeconds: 15,
    act: async ({ signal }) => {
      signal("SIGINT");
      await sleep(600);
      signal("SIGINT");
    },
  },
  {
    name: "SIGKILL",
    summary: "The harness gets SIGKILL. The same command follows in the same folder.",
    commands,
    codes: [],
    deaths: ["SIGKILL"],
    isFollowed: true,
    secondCodes: [0, 3],
    maxSeconds: 10,
    act: ({ signal }) => signal("SIGKILL"),
  },
  {
    name: "second process, same folder",
    summary: "The same command starts with the same output folder.",
    commands: ["run", "load autocannon"],
    ...unaffected,
    secondCodes: [2],
    act: ({ startSecond }) => startSecond({ sharesFolder: true }),
  },
  {
    name: "second process, same target",
    summary: "The same command starts with the same keys on the same target.",
    commands: ["run", "load autocannon", "nightly"],
    codes: [0, 3],
    act: ({ startSecond }) => startSecond({ sharesFolder: false }),
  },
  {
    name: "flooded receiver",
    summary: "300 to 800 connections to the receiver: idle, with slow headers, with garbage, or all of them.",
    commands: ["run"],
    ...unaffected,
    act: ({ numbers, receiverPort, onEnd }) => {
      const texts = numbers() < 0.4 ? floodTexts : [randomItem(numbers, floodTexts)];
      const sockets = Array.from({ length: numberBetween(numbers, 300, 800) }, (_, at) =>
        openIdle(receiverPort, texts[at % texts.length] ?? ""),
      );
      onEnd(() => sockets.forEach((each) => each.destroy()));
    },
  },
];
