/**
 * What the server knows of one served resource: a record, the same for built-in kinds and custom resources.
 *
 * Everything the pipeline does differently for different kinds is said here, as data or as one of the named hooks
 * of {@link ResourceStrategy}. The pipeline itself never asks what a kind is called.
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
} from '#api'
import type { TableColumns } from './columns/column.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** The names of a resource and where it is served. */
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
 * `unavailable`: known to discovery, but only a node could serve it; the others name the document that is read or written.
 */
export type SubresourceRole = 'part' | 'scale' | 'eviction' | 'binding' | 'token' | 'action' | 'unavailable'

/** A path below an object, such as `status` or `scale`. */
export interface Subresource {
  readonly name: string
  readonly role: SubresourceRole
  readonly verbs: readonly Verb[]
  /** What is read and written there, when it is not the object itself (`autoscaling/v1 Scale`). */
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface Resource extends ResourceNames {
  readonly verbs: readonly Verb[]
  readonly subresources: readonly Subresource[]
  /** Where objects are kept: versions and groups that show the same objects share this. */
  readonly storage: ResourceStorage
  readonly schema: Schema
  /** Made from a definition at run time: JSON only, no strategic merge, type in list items, no missing kind. */
  readonly custom: boolean
  /** Nothing is stored: requests are answered at once (reviews, bindings, component statuses). */
  readonly virtual?: true
  /** Its objects are the namespaces of all other objects. */
  readonly isNamespace?: true
  readonly strategy: ResourceStrategy
  readonly columns: TableColumns
  /** For custom resources: how objects are read that were written under an earlier definition, or are of another version. */
  readonly reading?: StoredObjectReader
  /** Aborts when this record no longer holds: whoever watches has to look again. */
  readonly retired?: AbortSignal
  /** What can be done to its objects beside changing them. */
  readonly actions?: readonly ActionDefinition[]
  /** Where the replicas are, when there is a scale and they are not in the usual places. */
  readonly scale?: ScalePaths
}

/** Objects of a custom kind, in any of its versions, as one of them has them. */
export interface StoredObjectReader {
  /** Objects written after this revision are as the definition has them. */
  readonly since: number
  /** How objects of the stored version begin; absent when there is no other version. */
  readonly type?: Uint8Array
  /** The schema of a version, also of one that is not served; undefined when there is none of that name. */
  schemaOf(version: string): Schema | undefined
  /**
   * Prunes, fills in defaults and sets another `apiVersion`. Never changes what it is given. Where there is a
   * `convert`, only for objects of the version they shall have.
   */
  read(object: UnstructuredObject, version: string, options?: ReadOptions): UnstructuredObject
  /** What `read` cannot do because somebody has to be asked: versions that differ in more than their name. */
  readonly convert?: ConvertObjects
}

interface ReadOptions {
  /** The object is as its own version has it: only the way to another is left. */
  readonly isTidy?: boolean
}

interface ConvertOptions {
  /** What was converted for a list or a watch before will do. */
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
  /** The form objects are kept in; a resource of another version converts. */
  readonly version: string
  readonly kind: string
}

/** What a hook may want to know about the write it takes part in. */
export interface WriteContext {
  /** Now, as RFC 3339 text with seconds. */
  readonly now: string
  /** Something worth a `Warning` header. */
  warn(text: string): void
  /** The subresource that is written, if any. */
  readonly subresource?: string
  /** All other objects of the resource, when its rules say that they look at them. */
  readonly others?: readonly UnstructuredObject[]
  /** Something that is wrong and that only shows beside the others: the write is refused with it. */
  refuse?(error: FieldError): void
  /** Who writes, as objects name users. */
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
 * Behaviour of a kind that is not data. Hooks run in this order on a write:
 * `default` (right after decoding, and on the result of a patch), `prepareCreate` or `prepareUpdate` (system fields:
 * what clients may not say is set back), `validate`, and for updates `validateUpdate` as well.
 */
export interface ResourceStrategy {
  readonly checkName: NameRule
  /** An update without resourceVersion is taken as "whatever is there". */
  readonly unconditionalUpdate: boolean
  /** PUT on a missing object creates it. */
  readonly createOnUpdate: boolean
  /** metadata.generation is kept: 1 at first, one more with every change outside metadata and status. */
  readonly generation: boolean
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean
  /** What happens to dependents when nobody says; `none`: the kind cannot have any (Events). */
  readonly dependents: 'background' | 'orphan' | 'none'
  /** Said to who deletes without saying what shall become of the dependents. */
  readonly orphanWarning?: string
  /** How long an object lives after its last write (Events: one hour). */
  readonly ttlMs?: number
  /** Fields that field selectors may name beside metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: UnstructuredObject) => string>>
  /** Adds what a client left out. Must be idempotent. */
  readonly default?: (object: ObjectDraft) => void
  /** Sets fields clients may not choose when an object is made; status has been dropped already if it is a subresource. */
  readonly prepareForCreate?: (object: ObjectDraft, context: WriteContext) => void
  /** Sets back what an update may not change. For writes to the main resource the old status is in place already. */
  readonly prepareForUpdate?: (object: ObjectDraft, old: UnstructuredObject, context: WriteContext) => void
  /** Loads what judging this object needs, if that is not there yet; awaited before `validate` and `validateUpdate`. */
  readonly loadValidators?: (object: UnstructuredObject) => Promise<void>
  readonly validate?: (object: UnstructuredObject) => FieldError[]
  readonly validateUpdate?: ValidateUpdate
  /** As validateUpdate, for writes to the status subresource. */
  readonly validateStatusUpdate?: ValidateUpdate
  /** Whether an update of the object counts as a change of its spec; default: anything outside metadata and status differs. */
  readonly changesGeneration?: (object: UnstructuredObject, old: UnstructuredObject) => boolean
  /** Most kinds lose the status a client sends with a new object; Nodes come with one. */
  readonly statusOnCreate?: 'keep'
  /** What a write to the status leaves as it was, beside the spec. Default: metadata passes. */
  readonly statusKeeps?: 'metadata' | 'labels' | 'ownerReferences'
  /** Said to everybody who uses the kind: what to use instead. */
  readonly deprecation?: string
  /** `validateUpdate` and `validateStatusUpdate` judge the whole object: what was wrong before and is unchanged passes. */
  readonly ratcheting?: true
  /** Objects define resources: a write is answered once these are served. */
  readonly definesResources?: true
  /** Why nothing new may be made at present. */
  readonly createForbidden?: () => string | undefined
  /** Objects share something that each may have only once (addresses and ports of Services): hooks are shown all of them. */
  readonly needsOtherObjects?: true
  /** Kinds that hold on to themselves while they are deleted, beside `metadata.finalizers` (Namespaces). */
  readonly deletion?: DeletionStrategy
  /** Seconds of grace a deletion gives; absent or 0 deletes at once. `asked` is what the client wants. */
  readonly graceSeconds?: (object: UnstructuredObject, asked: number | undefined) => number
}

/** Judges an object beside the one it replaces; `warn` hears of mistakes that were there before and pass. */
type ValidateUpdate = (
  object: UnstructuredObject,
  old: UnstructuredObject,
  warn?: (text: string) => void,
) => FieldError[]

interface DeletionStrategy {
  /** Whether the object must stay although nothing else keeps it. */
  blocksDeletion(object: UnstructuredObject): boolean
  /** Notes in the object that it is being deleted. */
  markDeleting(object: ObjectDraft): void
}
