#!/usr/bin/env node
// Starts the built command on a suitable Node. Uses only old syntax, so that an old Node can print that it is too old.
import { existsSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath, pathToFileURL } from "url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = join(root, "dist", "cli", "main.js");
const setup = join(root, "tools", "setup.mjs");
const installedNode = join(root, "node_modules", ".bin", "node");
// Only a checkout of the source contains the setup script. The published package does not.
const isCheckout = existsSync(setup);
const nodeMajor = Number(process.versions.node.split(".")[0]);

function giveUp(message) {
  process.stderr.write(message + "\n");
  process.exitCode = 2;
}

function setUp() {
  return import(pathToFileURL(join(root, "tools", "current.mjs")).href).then((current) =>
    current.isCurrent(root) ? true : import(pathToFileURL(setup).href).then(setUpWith),
  );
}

function setUpWith(tools) {
  return tools.setUp().then(
    () => true,
    (error) => {
      tools.reportSetupError(error);
      process.exitCode = 2;
      return false;
    },
  );
}

function runHere() {
  if (!existsSync(main)) {
    giveUp("conformance: " + main + " is missing: install the package again.");
    return Promise.resolve();
  }
  return import(pathToFileURL(main).href);
}

function runOnInstalledNode() {
  return Promise.all([import("child_process"), import("os")]).then(([{ spawn }, { constants }]) => {
    const child = spawn(installedNode, process.argv.slice(1), { stdio: "inherit" });
    ["SIGINT", "SIGTERM", "SIGHUP"].forEach((signal) => {
      process.on(signal, () => {
        // On Ctrl-C, the terminal also signals the child. A second SIGINT would end the child without results.
        if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
      });
    });
    child.on("error", (error) => giveUp("conformance: " + installedNode + " does not start: " + error.message));
    child.on("exit", (code, signal) => {
      process.exitCode = signal ? 128 + constants.signals[signal] : code;
    });
  });
}

function start() {
  if (nodeMajor >= 24) {
    return isCheckout ? setUp().then((ready) => (ready ? runHere() : undefined)) : runHere();
  }
  if (!isCheckout || nodeMajor < 20) {
    const needed = isCheckout ? "20" : "24";
    giveUp(
      "conformance: Node " + needed + " or newer is needed, this is " + process.version + ": install it and try again.",
    );
    return Promise.resolve();
  }
  return setUp().then((ready) => (ready ? runOnInstalledNode() : undefined));
}

start().catch((error) => {
  process.stderr.write("conformance: it cannot start: " + ((error && error.stack) || error) + "\n");
  process.exitCode = 4;
});
