/**
 * From words on a command line to a call; what cannot be meant is said with what could have been.
 */
import { parseArgs } from 'node:util'
import { globalOptions } from './command.ts'
import type { Command, OptionSpec, OptionSpecs, OptionValues } from './command.ts'
import { Failure } from './failure.ts'
import { nearest } from './nearest.ts'

interface ParsedInvocation {
  readonly values: OptionValues
  readonly words: readonly string[]
}

/** @throws {Failure} `usage` */
export function parseInvocation(command: Command, words: readonly string[]): ParsedInvocation {
  const options = optionsOf(command)
  const hint = `evenkeel ${command.name} --help`
  let parsed: { values: Record<string, unknown>; positionals: string[] }
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      strict: true,
      options: toNode(options),
    }) as typeof parsed
  } catch (error) {
    throw new Failure('usage', describeUnknownOption((error as Error).message, options), { cause: error, hint })
  }
  const values = new ParsedValues(parsed.values)
  checkChoices(options, values, hint)
  if (!values.flag('help')) checkWords(command, parsed.positionals, hint)
  return { values, words: parsed.positionals }
}

/** Its own options and those of every command. */
function optionsOf(command: Command): OptionSpecs {
  return { ...command.options, ...globalOptions }
}

class ParsedValues implements OptionValues {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return Array.isArray(value) ? (value.at(-1) as string) : typeof value === 'string' ? value : undefined
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? (value as string[]) : typeof value === 'string' ? [value] : []
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }
}

function toNode(
  options: OptionSpecs,
): Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short !== undefined && { short }) },
    ]),
  )
}

/** Node says which option it does not know; we add the one that was meant. */
function describeUnknownOption(message: string, options: OptionSpecs): string {
  const unknown = /Unknown option '--?([^']+)'/.exec(message)?.[1]
  if (unknown === undefined) return (message.split('\n')[0] ?? message).replace(/\.? To specify.*$/, '')
  const meant = nearest(unknown, Object.keys(options))
  return `there is no option --${unknown}${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

function checkChoices(options: OptionSpecs, values: OptionValues, hint: string): void {
  for (const [name, { choices }] of Object.entries(options) as [string, OptionSpec][]) {
    const wrong = choices && values.texts(name).find((value) => !choices.includes(value))
    if (wrong !== undefined)
      throw new Failure('usage', `--${name} is one of ${choices?.join(', ')}, got ${JSON.stringify(wrong)}`, { hint })
  }
}

function checkWords(
  { name, usage = '', words: { least, most } = { least: 0, most: 0 } }: Command,
  given: readonly string[],
  hint: string,
): void {
  if (given.length < least) throw new Failure('usage', `evenkeel ${name} needs ${usage}`, { hint })
  if (given.length > most)
    throw new Failure(
      'usage',
      `evenkeel ${name} does not take ${JSON.stringify(given[most])}${most === 0 ? '' : `: it takes ${usage}`}`,
      { hint },
    )
}
