/**
 * `evenkeel rules`: which golden rules a running manager was seen to break.
 */
import type { Command } from '../command.ts'
import { Failure } from '../failure.ts'
import { managerOptions, readRules, type RuleFinding } from '../managers.ts'
import { safeText } from '../terminal.ts'

export const rules: Command = {
  name: 'rules',
  about: 'list what a running manager does against the golden rules',
  options: managerOptions,
  details:
    'Shows what single requests give away: writes that overwrite others, permissions that nobody declared. evenkeel up looks by itself; any other manager does with rules: liveRules(). What needs faults to show is found by evenkeel explore. Ends with 1 when there is something.',
  examples: ['evenkeel rules', 'evenkeel rules --manager http://127.0.0.1:8080 --json'],
  async run({ values, io, json }) {
    const findings = await readRules(values, io)
    if (!findings)
      throw new Failure('no-server', 'no manager runs in this folder', {
        hint: 'evenkeel up MODULE runs one; --manager URL names another',
      })
    if (json) io.stdout.write(`${JSON.stringify(findings)}\n`)
    else
      io.stdout.write(
        findings.length === 0
          ? 'Nothing so far. evenkeel explore finds what needs a fault to show.\n'
          : safeText(findings.map(textOf).join('\n')),
      )
    return findings.some(({ severity }) => severity !== 'info') ? 1 : 0
  },
}

function textOf({ rule, severity, about, message, hint, seen }: RuleFinding): string {
  return `${severity === 'error' ? '✗' : '!'} ${rule}: ${message}\n  about ${about}, seen ${seen === 1 ? 'once' : `${seen} times`}\n${hint === undefined ? '' : `  try: ${hint}\n`}`
}
