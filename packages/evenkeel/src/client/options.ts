/**
 * What the calls of a client can be told. Everything is optional; what is left out is not sent.
 */
import type { AbortOptions } from '#base'
import type { LabelSelector, Owner } from '#api'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** What every call takes. */
export interface CallOptions extends AbortOptions {
  /**
   * How long to wait for the answer, retries included; for a watch, until it begins.
   *
   * @default the client's
   */
  readonly timeoutMs?: number
}

/** Which object of a kind. An `ObjectKey` will do. */
export interface ObjectName {
  readonly name: string
  /** Ignored for kinds without namespaces. */
  readonly namespace?: string
}

export interface GetOptions extends CallOptions {
  /** `'0'`: whatever the server has at hand, which may be old. */
  readonly resourceVersion?: string
}

/** Which objects of a kind. */
export interface Selection {
  /** @default all namespaces */
  readonly namespace?: string
  /** `app=web,tier!=db`, or the selector of a spec. */
  readonly labelSelector?: string | LabelSelector
  /** `status.phase=Running`, or values by field. */
  readonly fieldSelector?: string | Readonly<Record<string, string>>
}

export interface ListOptions extends Selection, CallOptions {
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /**
   * How many objects are asked for at a time; 0 asks for all at once.
   *
   * @default 500
   */
  readonly pageSize?: number
}

/** One page: as many objects as wanted, and where to go on. */
export interface PageOptions extends ListOptions {
  /** From `metadata.continue` of the page before. */
  readonly continue?: string
}

export interface WatchOptions extends Selection, CallOptions {
  /** Where to begin: what comes after this version. Without it the watch begins with all objects, in any order. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /**
   * The objects that are there first, then a bookmark with `initialEventsEnd`, then changes.
   *
   * @default false
   */
  readonly sendInitialEvents?: boolean
  /** @default true */
  readonly allowWatchBookmarks?: boolean
  /** When the server shall end the watch, in seconds; watches are begun again, not kept for ever. */
  readonly timeoutSeconds?: number
  /**
   * Objects may come without managed fields. Servers that know how leave them out; others send them.
   *
   * @default false
   */
  readonly mayOmitManagedFields?: boolean
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /** Everything is checked and answered, and nothing is stored. */
  readonly dryRun?: boolean
  /**
   * Who owns the fields that are written.
   *
   * @default the client's
   */
  readonly fieldManager?: string
  /**
   * What happens to fields that the kind does not have.
   *
   * @default the client's, or the server's (`Warn`)
   */
  readonly fieldValidation?: FieldValidation
  /** Which reconcile writes; the server's log has it in the user agent. */
  readonly reconcileId?: string
}

export interface CreateOptions extends WriteOptions {
  /**
   * Who the object belongs to: the owner becomes its controller. An owner that is being deleted is refused: the child
   * would be born to die, or worse, stay.
   */
  readonly owner?: Owner
}

/**
 * How a patch is meant: `merge` replaces what it names (`null` deletes), `json` is a list of operations, `strategic`
 * merges lists by key and works for built-in kinds only.
 */
export type PatchType = 'merge' | 'json' | 'strategic'

export interface PatchOptions extends WriteOptions {
  /** @default 'merge' */
  readonly type?: PatchType
}

export interface PatchFromOptions extends WriteOptions {
  /**
   * Refuse with `Conflict` when the object has changed since it was read.
   *
   * @default true
   */
  readonly optimisticLock?: boolean
}

export interface ApplyOptions extends CreateOptions {
  /**
   * Take fields from whoever owns them.
   *
   * @default false
   */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Only if it is still this very object, or still in this state; `Conflict` otherwise. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** What happens to the objects it owns. @default what the kind says, mostly `Background` */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
  readonly reconcileId?: string
}

export interface DeleteAllOptions extends Selection, Omit<DeleteOptions, 'preconditions'> {}
