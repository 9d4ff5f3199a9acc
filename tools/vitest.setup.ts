// Runs before each test file. Property tests draw their cases by the seed of the run, and as many as the run asks for.
import { configureGlobal } from "fast-check";

import { runsOf, testSeed } from "../src/base/testing/test-scope.ts";

configureGlobal({ seed: testSeed, numRuns: runsOf({ quick: 50, full: 1000 }) });
