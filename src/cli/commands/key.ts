import { Command } from "commander";

import { keyListJson, type KeyAlgorithm, keyAlgorithms, createKeyPair } from "../../app/signing-keys.ts";
import { line, UsageError } from "../../base/line.ts";
import { printResult, withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { printLine } from "../print-line.ts";
import { signingKeyVariable } from "../report/report-flags.ts";

/** `conformance key`: makes keys that sign statements, and the list of public keys that a vendor publishes. */
export const keyCommand = (): Command =>
  new Command("key")
    .addCommand(newCommand())
    .addCommand(listCommand())
    .addHelpText("after", `\nExamples:\n  conformance key new acme\n  conformance key list acme.pub.pem`);

const newExamples = `
The private key is PKCS#8. \`--sign-key NAME.key.pem\` signs with it, and so does its text in ${signingKeyVariable}.

Examples:
  conformance key new acme
  conformance key new secrets/acme --algorithm p256

Exit codes: 0 written; 2 wrong usage, or a file exists or cannot be written.`;

const newCommand = (): Command =>
  withSteps(
    new Command("new")
      .description("Make a key pair: NAME.key.pem, which signs, and NAME.pub.pem, to publish.")
      .argument("<name>", "path of the files, without their endings")
      .option("--algorithm <name>", `${keyAlgorithms.join(" or ")} (ECDSA)`, keyAlgorithms[0])
      .addHelpText("after", newExamples),
    {
      prepare: (name: string, { algorithm }: { readonly algorithm: string }) => ({
        name,
        algorithm: readAlgorithm(algorithm),
      }),
      act: ({ name, algorithm }) => createKeyPair(name, algorithm),
      present: ({ keyId, privateFile, publicFile }) => {
        printLine(line`Written: ${privateFile} signs, and only you can read it. ${publicFile} is to be published.`);
        process.stdout.write(`${keyId}\n`);
        return exitCodes.fine;
      },
    },
  );

const listExamples = `
Publish the list at an address of your own: it is how others know that a key is yours. To revoke a key, leave it in the list, and add
"revoked": "2026-05-01" to it.

Examples:
  conformance key list acme.pub.pem --vendor Acme > conformance-keys.json
  conformance verify acme-statement.json --keys https://acme.example/conformance-keys.json

Exit codes: 0 printed; 2 wrong usage, or a key cannot be used.`;

const listCommand = (): Command =>
  withSteps(
    new Command("list")
      .description("Print the list of keys to publish, as JSON. Of a private key, it has the public one.")
      .argument("<file...>", "keys (PEM)")
      .requiredOption("--vendor <name>", "whose keys they are")
      .addHelpText("after", listExamples),
    {
      prepare: (files: readonly string[], { vendor }: { readonly vendor: string }) => ({ files, vendor }),
      act: ({ files, vendor }) => keyListJson(files, vendor),
      present: printResult,
    },
  );

function readAlgorithm(text: string): KeyAlgorithm {
  const found = keyAlgorithms.find((name) => name === text);
  if (found !== undefined) return found;
  throw new UsageError(line`--algorithm is ${JSON.stringify(text)}; there are ${keyAlgorithms.join(" and ")}.`);
}
