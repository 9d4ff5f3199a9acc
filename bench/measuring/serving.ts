import { cpuMsSince } from "./timed.ts";

// The process of a server: first it is told how to start, and from then on it is asked what it has used.

/** What a module of `bench/servers` exports. */
interface ServerModule {
  readonly start: (told: unknown) => Promise<{ readonly url: string; readonly key: string }>;
}

const [, , url = ""] = process.argv;
const { start } = (await import(url)) as ServerModule;
const begin = { user: 0, system: 0 };
let isStarted = false;

process.on("disconnect", () => process.exit(0));
process.on("message", ({ told }: { readonly told: unknown }) => {
  if (isStarted) return void process.send?.({ cpuMs: cpuMsSince(begin) });
  isStarted = true;
  start(told).then(
    (started) => process.send?.(started),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
