/**
 * A command, as data and one function: what it is called, what it takes, and what it does.
 *
 * Help, completion and the parser all read the same declaration, so none of them can be out of date.
 */
import type { Client } from 'evenkeel/client'

/** Where a command reads and writes; tests give their own. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: AsyncIterable<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal
}

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  /** One line, for people. */
  readonly about: string
  /** What a text stands for, in the help: `FILE`. */
  readonly value?: string
  /** The values there are, for help, checks and completion. */
  readonly choices?: readonly string[]
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export interface ConnectOptions {
  /** Whether warnings of the server are shown: not by commands that look at everything. @default true */
  readonly warnings?: boolean
}

/** What was typed, understood. */
export interface Invocation {
  readonly values: OptionValues
  /** What is neither an option nor the command. */
  readonly words: readonly string[]
  readonly io: Io
  /** A client of the server that the options, the environment or this folder name. Closed by whoever runs the command. */
  connect(options?: ConnectOptions): Promise<Client>
  /** Whether one JSON document (or one per line) is wanted instead of text. */
  readonly json: boolean
}

export interface OptionValues {
  text(name: string): string | undefined
  texts(name: string): readonly string[]
  flag(name: string): boolean
}

export interface Command {
  readonly name: string
  /** One line. */
  readonly about: string
  /** What follows the name: `KIND [NAME]`. @default nothing */
  readonly usage?: string
  /** How many words it takes. @default none */
  readonly words?: { readonly least: number; readonly most: number }
  /** @default none beside those of every command */
  readonly options?: OptionSpecs
  /** More to know, below the options. */
  readonly details?: string
  readonly examples?: readonly string[]
  /** What the words of its first place can be, for completion: kinds of the server, names, or these. */
  readonly completes?: 'kinds' | 'files' | readonly string[]
  /** Gives the exit code; what it throws is told by `failureOf`. */
  run(call: Invocation): Promise<number>
}

/** What every command takes. */
export const globalOptions: OptionSpecs = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    about: 'how to reach the server (default: KUBECONFIG, ./data/kubeconfig, ~/.kube/config)',
  },
  context: { type: 'string', value: 'NAME', about: 'which context of the kubeconfig' },
  json: { type: 'boolean', about: 'print JSON for programs' },
  help: { type: 'boolean', short: 'h', about: 'print this' },
}

/** What commands about objects of a namespace take. */
export const namespaceOptions: OptionSpecs = {
  namespace: { type: 'string', short: 'n', value: 'NAME', about: 'the namespace (default: that of the context)' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'objects of all namespaces' },
}

/*
 * What `--help` prints, made from the same declarations that the parser reads.
 */

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
