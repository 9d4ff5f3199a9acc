import { percentOf } from "../behaviour/alerting.ts";
import { faults } from "../patch.ts";
import { fieldTrouble } from "../trouble.ts";

export const alertFaults = faults("Endpoints / 8. Create a usage alert", {
  "alert-answers-202": [
    ["ALR-1"],
    "Creating an alert answers 202.",
    (base) => ({
      successStatus: (operation, health) => (operation === "createAlert" ? 202 : base.successStatus(operation, health)),
    }),
  ],
  "alert-refused": [
    ["ALR-1"],
    "Every alert is refused.",
    () => ({ alertTrouble: () => fieldTrouble("invalid-input", "type", "is not supported") }),
  ],
  "alert-missing": [
    ["ALR-1"],
    "There are no alerts.",
    () => ({ servedPath: (path) => path.replace(/^\/v1\/alerts/, "/v1/nothing") }),
  ],
  "alert-never-fires": [["ALR-3"], "An alert never fires.", () => ({ firesAlert: () => false })],
  "alert-fires-at-the-end": [
    ["ALR-3"],
    "An alert fires when nothing is left, whatever its threshold.",
    () => ({
      firesAlert: (_threshold, { before, after }) => percentOf(before) < 100 && percentOf(after) >= 100,
    }),
  ],
  "alert-threshold-as-fraction": [
    ["ALR-3"],
    "The threshold is compared with hundred times the percentage that was used.",
    () => ({
      firesAlert: (threshold, { before, after }) =>
        percentOf(before) < threshold * 100 && percentOf(after) >= threshold * 100,
    }),
  ],
});
