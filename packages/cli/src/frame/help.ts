/**
 * What `--help` prints, made from the same declarations that the parser reads.
 */
import type { Command, OptionSpec, OptionSpecs } from './command.ts'
import { globalOptions } from './command.ts'

/** A group of commands, under its heading. */
export interface Section {
  readonly title: string
  readonly commands: readonly Command[]
}

/** The first page. */
export function helpOfAll(sections: readonly Section[]): string {
  const width = Math.max(...sections.flatMap(({ commands }) => commands.map(({ name }) => name.length)))
  const lines = sections.flatMap(({ title, commands }) => [
    title,
    ...commands.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
    '',
  ])
  return `evenkeel: a control plane you can npm install

Usage: evenkeel COMMAND [options]

${lines.join('\n')}
evenkeel COMMAND --help says more about one. --json works everywhere.
`
}

/** The page of one command. */
export function helpOf({ name, about, usage, options = {}, details, examples = [] }: Command): string {
  const parts = [
    `${about}\n\nUsage: evenkeel ${name}${usage === undefined ? '' : ` ${usage}`} [options]`,
    details,
    optionLines({ ...options, ...globalOptions }),
    examples.length === 0 ? undefined : `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}`,
  ]
  return `${parts.filter((part) => part !== undefined).join('\n\n')}\n`
}

function optionLines(options: OptionSpecs): string {
  const rows = Object.entries(options).map(
    ([name, option]) =>
      [
        nameOf(name, option),
        option.choices === undefined ? option.about : `${option.about}: ${option.choices.join(', ')}`,
      ] as const,
  )
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, about]) => `  ${left.padEnd(width)}  ${about}`).join('\n')
}

function nameOf(name: string, { short, value, type, multiple = false }: OptionSpec): string {
  const long = `--${name}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}${multiple ? ' ...' : ''}`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}
