/**
 * The record of one served resource, the same for built-in kinds and custom resources.
 *
 * Every difference between kinds is in this record, as data or as one of the named hooks
 * of {@link ResourceStrategy}. The request pipeline never compares the names of kinds.
 */
import type {
  ActionDefinition,
  FieldError,
  JsonObject,
  JsonObjectDraft,
  JsonValue,
  NameRule,
  ObjectMeta,
  ScalePaths,
  Schema,
  Scope,
  UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import type { TableColumns } from './columns/column.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** The names of a resource, and its group, version and scope. */
interface ResourceNames {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly scope: Scope
}

/**
 * How a subresource is served. `part`: reads and writes a part of the object itself; `action`: an action of the kind;
 * `stream`: read as a stream of bytes, which the embedding program makes; `connect`: a WebSocket, which it serves; `unavailable`: known to discovery, but only a
 * node could serve it; the others name the document that is read or written.
 */
export type SubresourceRole =
  | 'part'
  | 'scale'
  | 'eviction'
  | 'binding'
  | 'token'
  | 'action'
  | 'stream'
  | 'connect'
  | 'unavailable'

/** A subresource, such as `status` or `scale`. */
export interface Subresource {
  readonly name: string
  readonly role: SubresourceRole
  readonly verbs: readonly Verb[]
  /** The kind that is read and written, when it is not the object itself (`autoscaling/v1 Scale`). */
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface Resource extends ResourceNames {
  readonly verbs: readonly Verb[]
  readonly subresources: readonly Subresource[]
  /** The storage location; versions and groups that serve the same objects share it. */
  readonly storage: ResourceStorage
  readonly schema: Schema
  /** Created from a CRD at run time: JSON only, no strategic merge patch, apiVersion and kind in list items, kind required. */
  readonly custom: boolean
  /** Nothing is stored; requests are answered directly (reviews, bindings, component statuses). */
  readonly virtual?: true
  /** Its objects are the namespaces of all other objects. */
  readonly isNamespace?: true
  readonly strategy: ResourceStrategy
  readonly columns: TableColumns
  /** For custom resources: reads objects that were written under an earlier schema or in another version. */
  readonly reading?: StoredObjectReader
  /** Aborts when this record is replaced: watches end, and clients list again. */
  readonly retired?: AbortSignal
  /** The actions of the kind. */
  readonly actions?: readonly ActionDefinition[]
  /** The paths of the replica counts, when the kind has a scale subresource with other paths than the default. */
  readonly scale?: ScalePaths
}

/** Reads stored objects of a custom resource in the form of one of its versions. */
export interface StoredObjectReader {
  /** Objects written after this revision match the current schema. */
  readonly since: number
  /** The first bytes of an object in the storage version; absent when there is only one version. */
  readonly type?: Uint8Array
  /** The schema of a version, served or not; undefined for an unknown version. */
  schemaOf(version: string): Schema | undefined
  /**
   * Prunes, sets defaults and sets the `apiVersion`, without changing its argument. With a
   * `convert`, only for objects that have the target version already.
   */
  read(object: UnstructuredObject, version: string, options?: ReadOptions): UnstructuredObject
  /** Conversion by a webhook, for versions that differ in more than their name. */
  readonly convert?: ConvertObjects
}

interface ReadOptions {
  /** The object already matches the schema of its own version: convert only. */
  readonly isTidy?: boolean
}

interface ConvertOptions extends ReadOptions {
  /** A cached conversion of an earlier list or watch is acceptable. */
  readonly reuse?: boolean
}

type ConvertObjects = (
  objects: readonly UnstructuredObject[],
  version: string,
  options?: ConvertOptions,
) => Promise<UnstructuredObject[]>

export interface ResourceStorage {
  readonly group: string
  readonly plural: string
  /** The storage version; a resource of another version converts. */
  readonly version: string
  readonly kind: string
}

/** Values that one object at a time can have: cluster IPs and node ports of Services. */
export interface AllocatedValues {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

/** The allocated values of all objects but the written one. */
export interface Allocations {
  /** The ranges of addresses, as CIDRs. The first one has the default family. */
  readonly ranges: readonly string[]
  isTaken(address: string): boolean
  isPortTaken(port: number): boolean
}

/** The context of a write, for hooks. */
export interface WriteContext {
  /** The current time in RFC 3339 with seconds. */
  readonly now: string
  /** Adds a `Warning` header. */
  warn(text: string): void
  /** The written subresource, if any. */
  readonly subresource?: string
  /** What is free to allocate, if its strategy allocates. */
  readonly allocations?: Allocations
  /** Refuses the write before validation, because of what cannot be allocated. */
  refuse?(error: FieldError): void
  /** The user who writes. */
  readonly user?: JsonObject
}

/** The metadata of an {@link ObjectDraft}. */
export type ObjectMetaDraft = { -readonly [Field in keyof ObjectMeta]: ObjectMeta[Field] } & JsonObjectDraft

/**
 * An object in flight, before it is stored: hooks and handlers may change it. Its read-only view is
 * {@link UnstructuredObject}. The fields of metadata have their types; all others any JSON type that the schema allows.
 */
export interface ObjectDraft {
  apiVersion: string
  kind: string
  metadata: ObjectMetaDraft
  [field: string]: JsonValue | undefined
}

/**
 * The behavior of a kind that is not data. Hooks run in this order on a write:
 * `default` (after decoding, and on the result of a patch), `prepareCreate` or `prepareUpdate` (system fields:
 * fields that clients cannot set are reset), `validate`, and for updates `validateUpdate` too.
 */
export interface ResourceStrategy {
  readonly checkName: NameRule
  /** An update without a resourceVersion overwrites any version. */
  readonly unconditionalUpdate: boolean
  /** PUT on a missing object creates it. */
  readonly createOnUpdate: boolean
  /** metadata.generation is maintained: 1 at first, incremented by every change outside metadata and status. */
  readonly generation: boolean
  /** DELETE returns the object instead of a Status. */
  readonly returnsDeleted: boolean
  /** The default propagation policy; `none`: the kind has no dependents (Events). */
  readonly dependents: 'background' | 'orphan' | 'none'
  /** The warning for a delete without a propagation policy. */
  readonly orphanWarning?: string
  /** The time to live after the last write (Events: one hour). */
  readonly ttlMs?: number
  /** Fields for field selectors, in addition to metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: UnstructuredObject) => string>>
  /** Sets defaults. Must be idempotent. */
  readonly default?: (object: ObjectDraft) => void
  /** Sets fields that clients cannot choose on create; the status is already dropped if it is a subresource. */
  readonly prepareForCreate?: (object: ObjectDraft, context: WriteContext) => void
  /** Resets fields that an update cannot change. For writes to the main resource the old status is already restored. */
  readonly prepareForUpdate?: (object: ObjectDraft, old: UnstructuredObject, context: WriteContext) => void
  /** Loads the modules that validation needs; awaited before `validate` and `validateUpdate`. */
  readonly loadValidators?: (object: UnstructuredObject) => Promise<void>
  readonly validate?: (object: UnstructuredObject) => FieldError[]
  readonly validateUpdate?: ValidateUpdate
  /** Like validateUpdate, for writes to the status subresource. */
  readonly validateStatusUpdate?: ValidateUpdate
  /** Whether an update changes the spec; default: anything outside metadata and status differs. */
  readonly changesGeneration?: (object: UnstructuredObject, old: UnstructuredObject) => boolean
  /** Keeps the status of a new object (Nodes); most kinds drop it. */
  readonly statusOnCreate?: 'keep'
  /** The metadata that a status update cannot change. Default: metadata can be changed. */
  readonly statusKeeps?: 'metadata' | 'labels' | 'ownerReferences'
  /** The deprecation warning, with the replacement. */
  readonly deprecation?: string
  /** `validateUpdate` and `validateStatusUpdate` validate the whole object; unchanged old errors are ignored (ratcheting). */
  readonly ratcheting?: true
  /** Objects define resources (CRDs): a write is answered once these are served. */
  readonly definesResources?: true
  /** The reason why objects cannot be created at present. */
  readonly createForbidden?: () => string | undefined
  /** Objects allocate from shared ranges: the values that an object has. */
  readonly allocated?: (object: UnstructuredObject) => AllocatedValues
  /** Finalizers outside `metadata.finalizers` (Namespaces). */
  readonly deletion?: DeletionStrategy
  /** The grace period of a delete in seconds; absent or 0 deletes at once. `asked` is the grace period of the client. */
  readonly graceSeconds?: (object: UnstructuredObject, asked: number | undefined) => number
}

/** Validates an object against the old one; `warn` gets old errors that are ignored. */
type ValidateUpdate = (
  object: UnstructuredObject,
  old: UnstructuredObject,
  warn?: (text: string) => void,
) => FieldError[]

interface DeletionStrategy {
  /** Whether the object must not be removed yet. */
  blocksDeletion(object: UnstructuredObject): boolean
  /** Marks the object as terminating. */
  markDeleting(object: ObjectDraft): void
}
