/**
 * A kubectl session as data, so that every available kubectl can play the same one.
 *
 * A session has its own namespace and folder. `$NS` in a step stands for the name of the namespace; names of
 * cluster-scoped objects start with it, so that sessions do not interfere. A step can store its output under another
 * placeholder for later steps.
 */

export interface Session {
  /** Also the prefix of the name of the namespace. */
  readonly name: string
  /** The files in its folder, by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

export interface Step {
  /** The arguments of kubectl as in a shell: quotes work, nothing else does. */
  readonly run: string
  readonly stdin?: string
  /** The editor of `kubectl edit`; the file to edit is its last argument. */
  readonly editor?: string
  /** The first kubectl version that supports this: `1.26`. */
  readonly since?: string
  /** The first kubectl version that behaves differently. */
  readonly until?: string
  /** The placeholder for the output, for later steps: `$UID`. */
  readonly keep?: `$${string}`
  /** Steps that run while this one runs. */
  readonly during?: During
  /** Without it: the exit code is 0 and stderr is empty. */
  readonly expect?: Expected
}

export interface During {
  /** The output of the running step, on stdout or stderr, when it is ready for the other steps. */
  readonly ready: RegExp
  readonly steps: readonly Step[]
  /** The output to wait for before the interrupt. Without it, the step ends by itself. */
  readonly enough?: RegExp
}

interface Expected {
  /** @default 0 */
  readonly code?: number
  /** @default anything */
  readonly out?: Text
  /** @default nothing, when the exit code is 0 */
  readonly err?: Text
}

/**
 * A pattern to find in the text, or the whole text, line by line: a line `...` stands for any lines, `<age>`, `<time>`,
 * `<word>` and `<any>` match what their names say, and runs of spaces between words count as one.
 */
export type Text = RegExp | string | readonly string[]
