// Before each test file: every property draws its cases by the one seed of the run.
import { configureGlobal } from "fast-check";

import { testSeed } from "../src/base/testing/extent.ts";

configureGlobal({ seed: testSeed });
