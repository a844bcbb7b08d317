/**
 * Something that a rule found, and what a rule is.
 *
 * `error`: wrong whatever was meant. `warning`: differs from what the undisturbed run came to. `info`: worth knowing.
 */
import type { WireRequest } from '#wire'
import type { Interaction } from '../deviation.ts'
import type { SimulatedProcess } from '../process.ts'
import type { RequestInfo } from '../requests.ts'
import type { World } from '../world.ts'

export type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  /** The code of the rule: `idempotent`. */
  readonly rule: string
  readonly severity: Severity
  /** What it is about: `ConfigMap default/a`. With the rule, this is the identity of a failure. */
  readonly about: string
  /** One sentence. */
  readonly message: string
  /** What to do about it, in one line. */
  readonly hint?: string
  /** Expected and found, line by line. */
  readonly diff?: readonly string[]
  /** The step of the world at which it showed. */
  readonly step: number
}

/** Looks at a world while it runs. One is made for every schedule. */
export interface RuleWatcher {
  /** A request, before it waits to be carried out. */
  request?(life: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void
  /** Something is about to be carried out, if nothing goes wrong. */
  before?(point: Interaction): void
  /** Something was carried out. */
  done?(point: Interaction): void
  /** A rest while a wish is another one than in the undisturbed schedule. */
  between?(): void | Promise<void>
  /** Everything has come to rest for the first time in the undisturbed schedule: a rule may poke at it. */
  probe?(): Promise<void>
  /** Nothing happens any more; `isLast`: and nothing will. */
  quiet?(phase: { readonly index: number; readonly isLast: boolean; readonly isHealed: boolean }): void | Promise<void>
}

export interface Rule {
  /** A word: `idempotent`. */
  readonly code: string
  /** Of the nine golden rules, if it is one of them. */
  readonly number?: number
  /** What it says, in one line. */
  readonly says: string
  watch(world: World): RuleWatcher
}
