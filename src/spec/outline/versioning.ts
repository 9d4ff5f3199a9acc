import { type Section, stated } from "./item.ts";

export const versioningSections: readonly Section[] = [
  {
    heading: "Versioning",
    items: [
      stated("1", "`v1` in the path", "VER-1", "SVC-3"),
      stated("2", "12 months of support", "VER-2"),
      stated("3", "deprecation announced 6 months before", "VER-3"),
      stated("4", "each agent has a version", "VER-4"),
      stated("4", "in `metadata.agent_version` of invoke", "VER-4", "INV-5"),
      stated("4", "in `version` of the health report", "VER-4", "HLT-7"),
    ],
  },
];
