/**
 * Hooks of whoever embeds the server: functions that complete or judge writes, in this process.
 *
 * They have the contract of webhooks without the network: what is written for one serves as the other. Objects are
 * frozen; a hook gives back a new one, or the steps of a JSON patch. It refuses by throwing an `ApiError`, or by giving
 * back what is wrong with which field; anything else it throws is a mistake of its own and refuses the write with 500.
 */
import type { FieldError, JsonObject, JsonPatchOperation, Kind, KubeObject, LabelSelector } from '#api'
import type { Logger } from '#base'
import type { AdmissionOperation } from '../admission.ts'

export interface AdmissionHook<T extends KubeObject = KubeObject> {
  /** Named in refusals and in the log. */
  readonly name: string
  /**
   * A kind it is about: objects are shown in its version, whichever one the client wrote.
   *
   * @default what `rules` say
   */
  readonly kind?: Kind<T>
  /**
   * What it is about, as the rules of webhooks say it; one of them has to match.
   *
   * @default the kind; without one, every write
   */
  readonly rules?: readonly AdmissionHookRule[]
  /** @default objects in every namespace, and in none */
  readonly namespaceSelector?: LabelSelector
  /**
   * Labels of the object as it is wanted or as it was.
   *
   * @default every object
   */
  readonly objectSelector?: LabelSelector
  /**
   * Gives the object as it should be, or nothing when it is fine. Runs before defaults, system fields and validation
   * are settled, and once more when webhooks changed something: it has to be idempotent. Not asked about deletions.
   */
  mutate?(
    object: T,
    context: AdmissionHookContext<T>,
  ): T | readonly JsonPatchOperation[] | undefined | Promise<T | readonly JsonPatchOperation[] | undefined>
  /** Judges what would be written; for a deletion, what is to go. */
  validate?(
    object: T,
    context: AdmissionHookContext<T>,
  ): readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>
}

export interface AdmissionHookRule {
  /** @default all */
  readonly operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE' | '*')[]
  /** @default all */
  readonly apiGroups?: readonly string[]
  /** @default all */
  readonly apiVersions?: readonly string[]
  /** `pods`, `pods/status`, `pods/*`, `*`: resources without subresources, or all with the star on both sides of a slash. */
  readonly resources: readonly string[]
  /** @default '*' */
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

/** What a hook is given beside the object. */
export interface AdmissionHookContext<T extends KubeObject = KubeObject> {
  readonly request: AdmissionHookRequest<T>
  /** The object as it is stored; absent when it is new. */
  readonly oldObject: T | undefined
  /** Nothing will be stored. */
  readonly dryRun: boolean
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Tells the caller something; the object is taken all the same. */
  warn(text: string): void
  /** Puts something into the audit log. */
  annotate(key: string, value: string): void
}

/** What is asked for. */
export interface AdmissionHookRequest<T extends KubeObject = KubeObject> {
  readonly uid: string
  readonly operation: AdmissionOperation
  readonly apiVersion: string
  readonly kind: string
  /** Absent when the server makes the name. */
  readonly name?: string
  readonly namespace?: string
  readonly subresource?: string
  readonly user: AdmissionHookUser
  readonly dryRun: boolean
  /** How it would be; absent when it is to be deleted. */
  readonly object?: T
  /** How it is; absent when it is to be created. */
  readonly oldObject?: T
  readonly options?: JsonObject
}

/** Who is asking. */
export interface AdmissionHookUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}
