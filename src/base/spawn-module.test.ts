import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, it } from "vitest";

it("sendToParent drops messages to a parent that was killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parent-"));
  const child = join(folder, "child.mjs");
  const parent = join(folder, "parent.mjs");
  writeFileSync(
    child,
    `import { sendToParent } from ${JSON.stringify(new URL("spawn-module.ts", import.meta.url).href)};
     process.on("disconnect", () => process.exit(0));
     sendToParent("ready");
     process.on("message", () => {
       // Blocks the event loop until the parent has died, so that the channel is closed when the message is sent.
       for (const end = performance.now() + 500; performance.now() < end; );
       sendToParent("too late");
     });`,
  );
  writeFileSync(
    parent,
    `import { fork } from "node:child_process";
     const child = fork(${JSON.stringify(child)});
     child.once("message", () => child.send("go", () => process.kill(process.pid, "SIGKILL")));`,
  );
  const { stderr } = spawn(process.execPath, [parent], { stdio: ["ignore", "ignore", "pipe"] });
  // The child inherits this stream, so it ends only when the child has ended.
  expect(await text(stderr)).toBe("");
});
