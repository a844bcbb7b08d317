/**
 * `evenkeel rules`: lists the golden rules that a running manager breaks.
 */
import type { Command } from '../command.ts'
import { Failure } from '../failure.ts'
import { managerOptions, readRules, type RuleFinding } from '../managers.ts'
import { safeText } from '../terminal.ts'

export const rules: Command = {
  name: 'rules',
  about: 'list the golden rules that a running manager breaks',
  options: managerOptions,
  details:
    'Checks single requests: writes that overwrite other clients, permissions that no declaration requests. evenkeel up checks by default, other managers with rules: liveRules(). evenkeel explore finds failures that need a fault. Exit code 1: there are findings.',
  examples: ['evenkeel rules', 'evenkeel rules --manager http://127.0.0.1:8080 --json'],
  async run({ values, io, json }) {
    const findings = await readRules(values, io)
    if (!findings)
      throw new Failure('no-server', 'no manager is running in this directory', {
        hint: 'evenkeel up MODULE starts one; --manager URL names another',
      })
    if (json) io.stdout.write(`${JSON.stringify(findings)}\n`)
    else
      io.stdout.write(
        findings.length === 0
          ? 'No findings. evenkeel explore finds failures that need a fault.\n'
          : safeText(findings.map(textOf).join('\n')),
      )
    return findings.some(({ severity }) => severity !== 'info') ? 1 : 0
  },
}

function textOf({ rule, severity, about, message, hint, seen }: RuleFinding): string {
  return `${severity === 'error' ? '✗' : '!'} ${rule}: ${message}\n  about ${about}, ${seen === 1 ? 'once' : `${seen} times`}\n${hint === undefined ? '' : `  try: ${hint}\n`}`
}
