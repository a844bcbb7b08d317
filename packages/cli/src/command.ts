/**
 * A command as data and one function: its name, its options, and what it does. And the help pages.
 *
 * Help, completion and the parser read the same declaration, so that they always agree.
 */
import type { Client } from 'evenkeel/client'
import type { Clock } from 'evenkeel/unstable/base'

/** Where a command reads and writes; tests pass their own. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: AsyncIterable<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Calls back at the second Ctrl-C, which then does not end the program at once; the third one does. */
  readonly onSecondSignal?: (call: () => void) => void
  /** A person's terminal; absent when stdin or stdout is something else. */
  readonly terminal?: Terminal
}

/** The terminal that this program runs in. */
export interface Terminal {
  /** Keys as they are pressed, Ctrl-C too. Returns a function that ends this. */
  readKeys(call: (bytes: Uint8Array) => void): () => void
  /** Stops the program as Ctrl-Z does, and calls back when it goes on. */
  suspend(onContinue: () => void): void
  /** Whether every key is passed on as it is, Ctrl-C as well. */
  setRaw(isRaw: boolean): void
  /** Calls back when the terminal has another size. Returns a function that stops it. */
  onResize(call: () => void): () => void
}

export interface Output {
  write(text: string): unknown
  /** Bytes as they are; resolves when there is room for more. @default as text */
  writeBytes?(bytes: Uint8Array): Promise<void>
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  /** One line for the help. */
  readonly about: string
  /** The placeholder of the value in the help: `FILE`. */
  readonly value?: string
  /** The allowed values, for help, checks and completion. */
  readonly choices?: readonly string[]
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export interface ConnectOptions {
  /** Print warnings of the server; off for commands that read all kinds. @default true */
  readonly warnings?: boolean
}

/** A parsed command line. */
export interface Invocation {
  readonly values: OptionValues
  /** The words that are neither options nor the command. */
  readonly words: readonly string[]
  readonly io: Io
  /** A client of the server that the options, the environment or this directory name. The runner of the command closes it. */
  connect(options?: ConnectOptions): Promise<Client>
  /** Print one JSON document, or one per line, instead of text. */
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
  /** The words after the name: `KIND [NAME]`. @default none */
  readonly usage?: string
  /** How many words the command takes. @default none */
  readonly words?: { readonly least: number; readonly most: number }
  /** @default only the options of every command */
  readonly options?: OptionSpecs
  /** Text below the options. */
  readonly details?: string
  readonly examples?: readonly string[]
  /** Completions of the first word: kinds of the server, files, or these words. */
  readonly completes?: 'kinds' | 'files' | readonly string[]
  /** Returns the exit code. `failureOf` describes what it throws. */
  run(call: Invocation): Promise<number>
}

/** The options of every command. */
export const globalOptions: OptionSpecs = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    about: 'the kubeconfig file (default: KUBECONFIG, ./data/kubeconfig, ~/.kube/config)',
  },
  context: { type: 'string', value: 'NAME', about: 'the context of the kubeconfig' },
  json: { type: 'boolean', about: 'print JSON' },
  help: { type: 'boolean', short: 'h', about: 'print this help' },
}

/** The option of commands for objects of one namespace. */
export const oneNamespaceOption: OptionSpecs = {
  namespace: { type: 'string', short: 'n', value: 'NAME', about: 'the namespace (default: that of the context)' },
}

/** The options of commands for namespaced objects. */
export const namespaceOptions: OptionSpecs = {
  ...oneNamespaceOption,
  'all-namespaces': { type: 'boolean', short: 'A', about: 'objects of all namespaces' },
}

/** The options that select objects. */
export const selectorOptions: OptionSpecs = {
  selector: {
    type: 'string',
    short: 'l',
    value: 'LABELS',
    about: 'only objects with these labels: app=web,tier!=db',
  },
  'field-selector': {
    type: 'string',
    value: 'FIELDS',
    about: 'only objects with these field values: metadata.name=web',
  },
}

/** A group of commands under a heading of the help. */
export interface Section {
  readonly title: string
  readonly commands: readonly Command[]
}

/** The first page of the help. */
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
Use evenkeel COMMAND --help for more about a command. --json works everywhere. evenkeel version prints the version.
`
}

/** The help of one command. */
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
