// Runs action.yml on a checkout as GitHub would: `node tools/run-action.mjs CHECKOUT`.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { capture } from "./process.mjs";

/**
 * Runs the steps of action.yml one after the other, until a step fails.
 *
 * @param {{ checkout: string, cwd: string, inputs: Record<string, string>, env: NodeJS.ProcessEnv }} options
 * `checkout`: folder of the action; `cwd`: folder in which the steps run; `env`: environment of the steps
 * @returns {Promise<{ code: number, output: string, outputs: Record<string, string> }>}
 */
export async function runAction({ checkout, cwd, inputs, env }) {
  const action = parse(readFileSync(join(checkout, "action.yml"), "utf8"));
  for (const name of Object.keys(inputs))
    if (!(name in action.inputs)) throw new Error(`action.yml has no input ${name}.`);
  const given = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? input.default ?? ""]),
  );
  const folder = mkdtempSync(join(tmpdir(), "action-"));
  const steps = {};
  let output = "";
  let code = 0;
  try {
    for (const step of action.runs.steps) {
      if (step.shell !== "bash" || step.uses !== undefined) throw new Error(`A step is no bash script: ${step.name}.`);
      const file = join(folder, "output");
      writeFileSync(file, "");
      const own = mapValues(step.env ?? {}, (text) => resolveExpressions(text, { inputs: given, steps }));
      const ran = await capture("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
        cwd,
        env: { ...env, GITHUB_ACTION_PATH: checkout, GITHUB_OUTPUT: file, ...own },
      });
      output += ran.output;
      code = ran.code;
      steps[step.id ?? ""] = outputsIn(readFileSync(file, "utf8"));
      if (code !== 0) break;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return {
    code,
    output,
    outputs: mapValues(action.outputs, ({ value }) => resolveExpressions(value, { inputs: given, steps })),
  };
}

const mapValues = (record, map) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** Replaces `${{ inputs.NAME }}` and `${{ steps.ID.outputs.NAME }}`, the only expressions in action.yml. */
const resolveExpressions = (text, { inputs, steps }) =>
  String(text).replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, path) => {
    const [context, name, , output] = path.split(".");
    if (context === "inputs") return inputs[name];
    if (context === "steps") return steps[name]?.[output] ?? "";
    throw new Error(`An expression cannot be resolved: ${path}.`);
  });

const outputsIn = (text) =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const cwd = mkdtempSync(join(tmpdir(), "action-user-"));
  const { code, output, outputs } = await runAction({
    checkout: resolve(process.argv[2] ?? "."),
    cwd,
    inputs: {},
    env: process.env,
  });
  process.stdout.write(`${output}\n${JSON.stringify(outputs)}\n`);
  process.exitCode = code === 0 && outputs.verdict === "conformant" ? 0 : 1;
  rmSync(cwd, { recursive: true });
}
