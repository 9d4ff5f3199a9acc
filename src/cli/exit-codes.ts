export { decisiveExitCode, exitCodes } from "../base/exit-codes.ts";
