import { cpuMsSince } from "./measurement.ts";

// Runs a benchmark server in a child process. The parent can ask for the server's CPU time.

interface ServerModule {
  readonly start: (options: unknown) => Promise<{ readonly url: string; readonly key: string }>;
}

const [, , url = ""] = process.argv;
const { start } = (await import(url)) as ServerModule;
const begin = { user: 0, system: 0 };
let isStarted = false;

process.on("disconnect", () => process.exit(0));
process.on("message", ({ options }: { readonly options: unknown }) => {
  if (isStarted) return void process.send?.({ cpuMs: cpuMsSince(begin) });
  isStarted = true;
  start(options).then(
    (started) => process.send?.(started),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
