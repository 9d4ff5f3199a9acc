#!/usr/bin/env bash
# The last step of action.yml: runs the command with the inputs of the action, and gives its outputs.
set -uo pipefail

arguments=("$INPUT_COMMAND")
if [ -n "$INPUT_TARGET" ]; then arguments+=(--target "$INPUT_TARGET"); fi
if [ -n "$INPUT_BASE_URL" ]; then arguments+=(--base-url "$INPUT_BASE_URL"); fi
case $INPUT_COMMAND in
  run | load)
    report=$INPUT_OUT
    # What an earlier step left there is not this one's.
    rm -f "$report/report.json"
    arguments+=(--out "$report")
    ;;
  *) report="" ;;
esac
while IFS= read -r line; do
  line=${line%$'\r'}
  if [ -n "$line" ]; then arguments+=("$line"); fi
done <<<"$INPUT_ARGS"

node "$GITHUB_ACTION_PATH/bin/conformance.js" "${arguments[@]}"
code=$?

{
  echo "exit-code=$code"
  if [ -n "$report" ] && [ -f "$report/report.json" ]; then
    echo "report=$report"
    echo "verdict=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).verdict' "$report/report.json")"
  fi
} >>"$GITHUB_OUTPUT"
exit "$code"
