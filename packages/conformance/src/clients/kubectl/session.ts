/**
 * What a session with kubectl is: data, so that the same one is played by every kubectl there is.
 *
 * A session has a namespace and a folder of its own. `$NS` stands for the namespace's name wherever a step says
 * something; names outside namespaces begin with it, so that sessions do not meet. What a step writes can be kept under
 * another such word, for the steps after it.
 */

export interface Session {
  /** Also the beginning of the namespace's name. */
  readonly name: string
  /** The files in its folder, by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

export interface Step {
  /** kubectl's arguments, as one would type them in a shell: quotes work, nothing else does. */
  readonly run: string
  readonly stdin?: string
  /** What `kubectl edit` starts; the file to edit is its last argument. */
  readonly editor?: string
  /** The first version of kubectl that can do this: `1.26`. */
  readonly since?: string
  /** The first version of kubectl that does it in another way. */
  readonly until?: string
  /** Why this server answers otherwise than a real one, where the step is left out. */
  readonly differs?: string
  /** The word that stands for what it writes, in what later steps run and read: `$UID`. */
  readonly keep?: `$${string}`
  /** Steps that are played while this one runs. */
  readonly during?: During
  /** Without it: the exit code is 0 and nothing is complained about. */
  readonly expect?: Expected
}

export interface During {
  /** What the running step writes on either output once it is ready for the others. */
  readonly ready: RegExp
  readonly steps: readonly Step[]
  /** What its output must have before it is interrupted. Without it, the step ends by itself. */
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
 * Found somewhere in the text; or the text itself, line by line: a line `...` stands for any lines, `<age>`, `<time>`,
 * `<word>` and `<any>` for what their names say, and spaces between words count as one.
 */
export type Text = RegExp | string | readonly string[]
