// Runs before each test file. Sets the default seed and number of cases of property tests.
import { configureGlobal } from "fast-check";

import { runsOf, testSeed } from "../src/base/testing/test-scope.ts";

configureGlobal({ seed: testSeed, numRuns: runsOf({ quick: 50, full: 1000 }) });
