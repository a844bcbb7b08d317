/**
 * A kind as one value: its names, its scope, its schema, how it is printed, and its TypeScript type.
 *
 * Invariants: a kind is frozen; its type is a phantom (`~types` never has a value at run time).
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { ActionDefinition } from '../actions.ts'
import type { KubeObject } from '../object.ts'

export type Scope = 'Namespaced' | 'Cluster'

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly description?: string
  readonly format?: string
  /** Above 0: shown only with `-o wide`. */
  readonly priority?: number
}

/** Where the scale subresource finds its numbers. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

interface Subresources {
  /** Whether status is written through its own endpoint, apart from spec. */
  readonly status: boolean
  readonly scale?: ScalePaths
}

/**
 * A kind whose objects have the type `T` when read and `Input` when written.
 *
 * `Object` and `Input` differ in defaults only.
 */
export interface Kind<T extends KubeObject = KubeObject, Input extends KubeObject = T> {
  /** The API group: `apps`, or empty for the core group. */
  readonly group: string
  /** The version of the group: `v1`. */
  readonly version: string
  /** The name of the kind in CamelCase: `Deployment`. */
  readonly kind: string
  /** `group/version`, or the version alone in the core group. */
  readonly apiVersion: string
  /** The kind of its lists: `DeploymentList`. */
  readonly listKind: string
  /** Its name in paths and RBAC rules: `deployments`. */
  readonly plural: string
  /** Its name for one object in commands: `deployment`. */
  readonly singular: string
  /** Abbreviations for commands: `deploy`. */
  readonly shortNames: readonly string[]
  /** Groups of kinds that commands can list together: `all`. */
  readonly categories: readonly string[]
  /** Whether its objects live in namespaces. */
  readonly scope: Scope
  /** The JSON Schema of a whole object, as its source gives it; absent when the server already has it. */
  readonly schema?: JsonObject
  /** The parts with a path of their own: `status`, `scale`. */
  readonly subresources: Subresources
  /** The columns that `kubectl get` shows. */
  readonly printerColumns: readonly PrinterColumn[]
  /** JSON paths that field selectors may use beside name and namespace. */
  readonly selectableFields: readonly string[]
  /** The actions on its objects; written into its CRD. */
  readonly actions?: readonly ActionDefinition[]
  readonly '~types'?: { readonly object: T; readonly input: Input }
}

/** The type of a kind's objects as they are read. */
export type ObjectOf<K> = K extends { readonly '~types'?: { readonly object: infer T } } ? T : never

/** The type of a kind's objects as they are written. */
export type InputOf<K> = K extends { readonly '~types'?: { readonly input: infer Input } } ? Input : never
