/**
 * What an author says about a child beside the child itself.
 */
import type { KubeObject } from '#api'
import type { ReadyRule } from '../readiness/ready-rule.ts'

/**
 * What happens when somebody else's object has the name: nothing, or it is taken over if it has no controller
 * (`ifOrphan`), or if it has none and these labels.
 */
export type AdoptPolicy = 'never' | 'ifOrphan' | { readonly ifLabelled: Readonly<Record<string, string>> }

/** What happens when a child cannot be changed into what it shall be: the run fails, or it is deleted and made again. */
export type RecreatePolicy = 'never' | 'onImmutable'

export interface ChildOptions<T = KubeObject> {
  /** A word of yours by which `children.get` finds it. @default none */
  readonly key?: string
  /** @default 'never' */
  readonly adopt?: AdoptPolicy
  /** When it is ready: a function, or an expression about `object`. @default what its kind says: see `readinessOf` */
  readonly ready?: ReadyRule<T>
  /** @default 'never' */
  readonly recreate?: RecreatePolicy
  /** Whether it goes when it is no longer declared. It goes with its parent in any case. @default true */
  readonly prune?: boolean
}
