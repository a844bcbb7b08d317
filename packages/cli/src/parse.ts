/**
 * Parses a command line. An unknown word is an error that names the most similar known word.
 */
import { parseArgs } from 'node:util'
import {
  globalOptions,
  namespaceOptions,
  type Command,
  type OptionSpec,
  type OptionSpecs,
  type OptionValues,
} from './command.ts'
import { Failure } from './failure.ts'

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

/**
 * Options before the command belong to it: `evenkeel --json get pods` is `evenkeel get --json pods`.
 *
 * Only global options and the namespace may stand there: of others it is not known whether a value follows.
 */
export function commandFirst(words: readonly string[]): readonly string[] {
  const leading = { ...globalOptions, ...namespaceOptions }
  let at = 0
  while (words[at]?.startsWith('-') === true) {
    const name = words[at] ?? ''
    const option = Object.entries(leading).find(
      ([long, { short }]) => name === `--${long}` || name === `-${short ?? ''}`,
    )
    at += option?.[1].type === 'string' ? 2 : 1
  }
  const command = words[at]
  return command === undefined ? words : [command, ...words.slice(0, at), ...words.slice(at + 1)]
}

/** The options of the command and those of every command. */
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

/** The message of Node about an unknown option, with the most similar option. */
function describeUnknownOption(message: string, options: OptionSpecs): string {
  const unknown = /Unknown option '--?([^']+)'/.exec(message)?.[1]
  if (unknown === undefined) return (message.split('\n')[0] ?? message).replace(/\.? To specify.*$/, '')
  const meant = nearest(unknown, Object.keys(options))
  return `unknown option --${unknown}${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

function checkChoices(options: OptionSpecs, values: OptionValues, hint: string): void {
  for (const [name, { choices }] of Object.entries(options) as [string, OptionSpec][]) {
    const wrong = choices && values.texts(name).find((value) => !choices.includes(value))
    if (wrong !== undefined)
      throw new Failure('usage', `--${name} must be one of ${choices?.join(', ')}, got ${JSON.stringify(wrong)}`, {
        hint,
      })
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

/** The most similar word, if it needs few enough edits for its length. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const word of words) {
    const changes = editDistance(typed.toLowerCase(), word.toLowerCase())
    if (changes < fewest) [best, fewest] = [word, changes]
  }
  return best
}

/** How many insertions, deletions, replacements and swaps of neighbours lead from one word to the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwap ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      )
    }
  }
  return at(a.length, b.length)
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A positive integer. @throws {Failure} `usage` */
export function countOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text)
  throw new Failure('usage', `--${name} must be a whole number above 0, got ${JSON.stringify(text)}`, {
    hint: `--${name} 2`,
  })
}

/** `500ms`, `60s`, `1.5m`, `1h`, in milliseconds. @throws {Failure} `usage` */
export function durationOf(name: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text) ?? []
  const ms = Number(number) * (units[unit] ?? 0)
  if (ms > 0) return ms
  throw new Failure('usage', `--${name} must be a time with its unit, got ${JSON.stringify(text)}`, {
    hint: `--${name} 60s`,
  })
}
