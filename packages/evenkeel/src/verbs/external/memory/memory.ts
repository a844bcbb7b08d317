/**
 * What must not be forgotten about the thing of an object: that somebody began to make it, and its id.
 *
 * `write` resolves when it cannot be lost any more, and refuses when somebody else has written in between: whoever has
 * written that a thing is about to be made is the only one to make it. `note` may be lost: what it says can be found again.
 */
import type { KubeObject } from '#api'

/** What became of the last attempt to have a thing. */
type AttemptOutcome =
  /** Begun; if nobody is at it any more, nobody knows. */
  | 'Pending'
  | 'Created'
  /** It was there, and was taken over. */
  | 'Adopted'
  /** The system said no: nothing was made. Only in records; a status stays at `Pending`, as each change would wake its object. */
  | 'Refused'
  /** No answer, or one that says nothing. Only in records. */
  | 'Unknown'

export interface CreateAttempt {
  /** Counts the things that were made, or begun to be made, for the object. */
  readonly number: number
  /** The same as long as it is about the same thing. */
  readonly key: string
  readonly time: string
  readonly outcome: AttemptOutcome
}

export interface ResourceRecord {
  readonly id?: string | undefined
  readonly attempt?: CreateAttempt | undefined
  /** The generation to which the thing was last brought. */
  readonly observedGeneration?: number | undefined
  /** There should be a record, and there is none: what is said here is hearsay. */
  readonly isLost?: boolean | undefined
  /** It is on its way out. */
  readonly isDeleting?: boolean | undefined
}

export interface RecordStore {
  /** Whether it is kept beside the object: writing there wakes nobody. */
  readonly isSeparate: boolean
  /** `live`: asked of the server itself. That there is nothing to remember is only believed then. */
  read(options?: { readonly live?: boolean }): Promise<ResourceRecord>
  write(next: ResourceRecord): Promise<void>
  /** Says it with the status, or wherever it costs least. */
  note(next: ResourceRecord): Promise<void>
  /** Nothing is left to remember. */
  forget(): Promise<void>
}

/** Whose thing it is, for records that outlive the object. */
export interface RecordOwner {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function recordOwnerOf({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): RecordOwner {
  return { namespace, name, uid }
}

const outcomes: ReadonlySet<string> = new Set<AttemptOutcome>(['Pending', 'Created', 'Adopted', 'Refused', 'Unknown'])

/** An attempt as somebody wrote it down; undefined when that is none. */
export function readAttempt({
  number,
  key,
  time,
  outcome,
}: { readonly number?: unknown; readonly key?: unknown; readonly time?: unknown; readonly outcome?: unknown } = {}):
  | CreateAttempt
  | undefined {
  if (typeof key !== 'string' || typeof outcome !== 'string' || !outcomes.has(outcome)) return undefined
  return {
    number: typeof number === 'number' ? number : 1,
    key,
    time: typeof time === 'string' ? time : '',
    outcome: outcome as AttemptOutcome,
  }
}
