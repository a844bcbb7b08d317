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
    throw optionFailure(error as Error, options, hint)
  }
  const values = new ParsedValues(parsed.values)
  checkChoices(options, values, hint)
  if (!values.flag('help')) checkWords(command, parsed.positionals, hint)
  return { values, words: parsed.positionals }
}

/** The options that may precede a command. */
const leadingOptions: OptionSpecs = { ...globalOptions, ...namespaceOptions }

/**
 * Options before the command belong to it: `evenkeel --json get pods` is `evenkeel get --json pods`.
 *
 * Only global options and the namespace may stand there: of others it is not known whether a value follows.
 *
 * @throws {Failure} `usage`, with the name of another option, or when no command follows
 */
export function commandFirst(words: readonly string[]): readonly string[] {
  let at = 0
  for (let word = words[at]; word?.startsWith('-') === true && word !== '--version'; word = words[at])
    at += leadingWidth(word, words[at + 1])
  const command = words[at]
  if (command !== undefined) return [command, ...words.slice(0, at), ...words.slice(at + 1)]
  if (words.length === 0 || words.includes('--help') || words.includes('-h'))
    return words.length === 0 ? [] : ['--help']
  throw new Failure('usage', 'no command is given', { hint: 'evenkeel --help' })
}

/** How many words an option before the command takes: 1, or 2 with its value. @throws {Failure} `usage` */
function leadingWidth(word: string, next: string | undefined): number {
  const [name = ''] = word.split('=')
  const found = Object.entries(leadingOptions).find(
    ([long, { short, type }]) =>
      name === `--${long}` ||
      (short !== undefined && (type === 'string' ? /^-[^-]/.test(word) && word[1] === short : name === `-${short}`)),
  )
  if (!found) {
    const meant = nearest(name.replace(/^-+/, ''), Object.keys(leadingOptions))
    throw new Failure('usage', `unknown option ${name} before the command`, {
      hint: [
        ...(meant === undefined ? [] : [`--${meant}`]),
        `evenkeel COMMAND ${name}: the options of a command follow its name`,
      ],
    })
  }
  const [long, { type, short }] = found
  const hasValue = word.includes('=') || (!word.startsWith('--') && word !== `-${short ?? ''}`)
  if (type === 'boolean' || hasValue) return 1
  if (next === undefined) throw new Failure('usage', `--${long} needs a value`, { hint: 'evenkeel --help' })
  return 2
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

/** The failure for what Node says about an option; for an unknown one with the most similar options. */
function optionFailure(error: Error, options: OptionSpecs, hint: string): Failure {
  const { message } = error
  const unknown = /Unknown option '(--?)([^']+)'/.exec(message)
  if (unknown) {
    const [, dashes = '', name = ''] = unknown
    const meant = nearestWords(name, Object.keys(options)).map((each) => `--${each}`)
    return new Failure('usage', `unknown option ${dashes}${name}`, {
      cause: error,
      hint: [...(meant.length === 0 ? [] : [meant.join(', ')]), hint],
    })
  }
  const name = /Option '(?:-\w, )?(--?[\w-]+)/.exec(message)?.[1] ?? ''
  if (/argument is ambiguous/.test(message))
    return new Failure('usage', `the value of ${name} begins with a dash`, { cause: error, hint: `${name}=VALUE` })
  if (/argument missing/.test(message)) return new Failure('usage', `${name} needs a value`, { cause: error, hint })
  if (/does not take an argument/.test(message))
    return new Failure('usage', `${name} takes no value`, { cause: error, hint })
  return new Failure('usage', message.split('\n')[0] ?? message, { cause: error, hint })
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
  return nearestWords(typed, words)[0]
}

const suggestionsMax = 3

/** A few similar words, the most similar first. A word that begins with the typed one is similar too. */
export function nearestWords(typed: string, words: readonly string[]): readonly string[] {
  const most = Math.max(1, Math.floor(typed.length / 3))
  return [...new Set(words)]
    .map((word) => {
      const [from, to] = [typed.toLowerCase(), word.toLowerCase()]
      const changes = editDistance(from, to)
      return { word, changes: from.length > 1 && to.startsWith(from) ? Math.min(changes, most) : changes }
    })
    .filter(({ changes }) => changes <= most)
    .sort((a, b) => a.changes - b.changes)
    .slice(0, suggestionsMax)
    .map(({ word }) => word)
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

/** `500ms`, `60s`, `1.5m`, `1h30m`, in milliseconds. @throws {Failure} `usage` */
export function durationOf(name: string, text: string): number {
  const isValid = /^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h)){1,4}$/.test(text)
  const parts = isValid ? [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)] : []
  const ms = parts.reduce((sum, [, number = '', unit = '']) => sum + Number(number) * (units[unit] ?? 0), 0)
  if (ms > 0) return ms
  throw new Failure('usage', `--${name} must be a time with its unit, got ${JSON.stringify(text)}`, {
    hint: `--${name} 60s`,
  })
}
