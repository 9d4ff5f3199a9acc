// Before each test file: every property draws its cases by the one seed of the run, and so many of them.
import { configureGlobal } from "fast-check";

import { runsOf, testSeed } from "../src/base/testing/test-scope.ts";

configureGlobal({ seed: testSeed, numRuns: runsOf({ quick: 50, full: 1000 }) });
