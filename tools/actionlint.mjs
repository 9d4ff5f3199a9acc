// Lints GitHub workflows by a pinned version of actionlint: `node tools/actionlint.mjs FILE…`.
import { binaryFrom, buildFrom } from "./go-tool.mjs";
import { capture } from "./process.mjs";
import { root } from "./setup.mjs";

const module = "tools/actionlint";
const failure = await buildFrom(module, "actionlint", "github.com/rhysd/actionlint/cmd/actionlint");
if (failure === null) {
  // Turns off shellcheck and pyflakes, so that the result does not depend on whether they are installed.
  const args = ["-shellcheck=", "-pyflakes=", "-no-color", ...process.argv.slice(2)];
  const { code, output } = await capture(binaryFrom(module, "actionlint"), args, { cwd: root });
  process.stdout.write(output);
  process.exitCode = code;
} else {
  process.stderr.write(
    `${failure}\nactionlint could not be built: Go's output above says why. It needs Go 1.25 or newer and the module proxy.\n`,
  );
  process.exitCode = 2;
}
