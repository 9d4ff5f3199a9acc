// Runs before each test file. Sets the seed and the number of cases of all property tests.
import { configureGlobal } from "fast-check";

import { runsOf, testSeed } from "../src/base/testing/test-scope.ts";

configureGlobal({ seed: testSeed, numRuns: runsOf({ quick: 50, full: 1000 }) });
