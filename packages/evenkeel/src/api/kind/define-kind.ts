/**
 * Defines kinds: `defineKind` for custom resources, with types from their schemas; `declareKind` for kinds that exist
 * already.
 */
import {
  checkDns1035Label,
  checkDnsSubdomain,
  deepFreeze,
  quote,
  type JsonObject,
  parseJson,
  stringifyJson,
} from '@evenkeel/cel/primitives'
import { formatApiVersion } from '../group-version.ts'
import type { KubeObject } from '../object.ts'
import type { Infer, SchemaSource } from './infer.ts'
import type { Kind, PrinterColumn, ScalePaths, Scope } from './kind.ts'
import { jsonSchemaOf } from './standard-schema.ts'
import { withStandardStatus, type VerbReport, type WithStandardStatus } from './status-schema.ts'

/** The names and properties of a kind; those with a default are optional. */
interface KindNames {
  /** The API group: a domain that you own. @example group: 'demo.example.com' */
  readonly group: string
  /** The version of the API: `v1`, `v1beta1`, `v2alpha1`. @example version: 'v1' */
  readonly version: string
  /** The name of the kind, in CamelCase. @example kind: 'Website' */
  readonly kind: string
  /**
   * The resource in URLs.
   *
   * @default the kind in lower case with an English plural: `Proxy` gives `proxies`, `Ingress` gives `ingresses`
   * @example plural: 'proxies'
   */
  readonly plural?: string
  /**
   * The name for one object: `kubectl get proxy web`.
   *
   * @default the kind in lower case
   * @example singular: 'proxy'
   */
  readonly singular?: string
  /**
   * The kind of a list of objects.
   *
   * @default the kind followed by `List`
   * @example listKind: 'WebsiteList'
   */
  readonly listKind?: string
  /**
   * Short names for kubectl.
   *
   * @default none
   * @example shortNames: ['ws'] // kubectl get ws
   */
  readonly shortNames?: readonly string[]
  /**
   * Groups of kinds that kubectl gets together.
   *
   * @default none
   * @example categories: ['all'] // kubectl get all
   */
  readonly categories?: readonly string[]
  /**
   * Whether objects are in a namespace.
   *
   * @default 'Namespaced'
   * @example scope: 'Cluster'
   */
  readonly scope?: Scope
  /**
   * Enables the scale subresource.
   *
   * @example scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } // kubectl scale
   */
  readonly scale?: ScalePaths
  /**
   * The columns of `kubectl get`.
   *
   * @default none, so that `kubectl get` shows name and age
   * @example printerColumns: [{ name: 'Image', type: 'string', jsonPath: '.spec.image' }]
   */
  readonly printerColumns?: readonly PrinterColumn[]
  /**
   * Fields that a field selector may use.
   *
   * @default none
   * @example selectableFields: ['.spec.color'] // kubectl get websites --field-selector spec.color=red
   */
  readonly selectableFields?: readonly string[]
}

interface KindDefinition<
  Spec extends SchemaSource | undefined,
  Status extends SchemaSource | undefined,
  Report extends VerbReport = never,
> extends KindNames {
  /** The desired state. @example spec: z.object({ image: z.string(), replicas: z.number().int().default(1) }) */
  readonly spec?: Spec
  /**
   * The observed state; a schema enables the status subresource. `conditions` and `observedGeneration` are added unless
   * the schema has its own; no field is required, because a controller writes a status step by step.
   *
   * @example status: z.object({ url: z.string() })
   */
  readonly status?: Status
  /**
   * The verbs of its controller that report in the status; see `VerbStatus`.
   *
   * @default none
   * @example reports: ['children', 'dependencies', 'actions', 'external']
   */
  readonly reports?: readonly Report[]
}

/** An object with the spec and status of its schemas, as it is read. */
type DefinedObject<Spec, Status, Report extends VerbReport = never> = KubeObject &
  SpecOf<Spec, 'stored'> &
  StatusOf<Status, Report>

/** An object with the spec and status of its schemas, as it is written. */
type DefinedInput<Spec, Status, Report extends VerbReport = never> = KubeObject &
  SpecOf<Spec, 'input'> &
  StatusOf<Status, Report>

/**
 * Defines a kind of your own. Its schemas give the types of its objects, and the server validates by the same schemas.
 *
 * A schema is a JSON Schema or one of a Standard Schema library (zod, arktype, typebox, valibot).
 *
 * @example
 * const Website = defineKind({
 *   group: 'demo.example.com',
 *   version: 'v1',
 *   kind: 'Website',
 *   spec: z.object({ image: z.string(), replicas: z.number().int().default(1) }),
 *   status: z.object({ url: z.string() }),
 * })
 *
 * @throws {RangeError} when a name is not allowed or a schema cannot be used; the message says what to change.
 */
export function defineKind<
  const Spec extends SchemaSource | undefined = undefined,
  const Status extends SchemaSource | undefined = undefined,
  const Report extends VerbReport = never,
>(
  definition: KindDefinition<Spec, Status, Report>,
): Kind<DefinedObject<Spec, Status, Report>, DefinedInput<Spec, Status, Report>> {
  const { group, kind, spec, status, reports = [] } = definition
  if (!group.includes('.')) {
    const better = quote(`${group || 'demo'}.example.com`)
    throw new RangeError(`group ${quote(group)} of ${kind} needs a dot: use a domain you own, such as ${better}`)
  }
  const schema: JsonObject = {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...(spec !== undefined && { spec: jsonSchemaOf(spec, `${kind}.spec`) }),
      ...(status !== undefined && { status: withStandardStatus(jsonSchemaOf(status, `${kind}.status`), reports) }),
    },
    ...(spec !== undefined && { required: ['spec'] }),
  }
  return declareKind({ ...definition, schema, statusSubresource: status !== undefined })
}

interface KindDeclaration extends KindNames {
  readonly schema?: JsonObject
  /** @default true */
  readonly statusSubresource?: boolean
}

/**
 * A kind that exists already, such as a Kubernetes built-in: the type is given, a schema need not be.
 *
 * @throws {RangeError} when a name is not allowed.
 */
export function declareKind<T extends KubeObject, Input extends KubeObject = T>(
  declaration: KindDeclaration,
): Kind<T, Input> {
  const { group, version, kind, schema, scope = 'Namespaced', scale } = declaration
  const {
    shortNames = [],
    categories = [],
    printerColumns = [],
    selectableFields = [],
    statusSubresource = true,
  } = declaration
  const { singular = kind.toLowerCase(), plural = pluralOf(kind.toLowerCase()), listKind = `${kind}List` } = declaration
  checkKindNames({ group, version, kind, listKind, plural, singular, shortNames, categories })
  const subresources = { status: statusSubresource, ...(scale && { scale: { ...scale } }) }
  return deepFreeze({
    group,
    version,
    kind,
    apiVersion: formatApiVersion({ group, version }),
    listKind,
    plural,
    singular,
    shortNames: [...shortNames],
    categories: [...categories],
    scope,
    ...(schema && { schema: ownCopy(schema) }),
    subresources,
    printerColumns: printerColumns.map((column) => ({ ...column })),
    selectableFields: [...selectableFields],
  })
}

type SpecOf<Source, D extends 'input' | 'stored'> = [Source] extends [undefined]
  ? unknown
  : { readonly spec: Infer<Source, D> }
type StatusOf<Source, Report extends VerbReport> = [Source] extends [undefined]
  ? unknown
  : { readonly status?: WithStandardStatus<Infer<Source, 'stored'>, Report> }

/** The English plural: `y` after a consonant becomes `ies`, sibilants take `es`. `plural` overrides it. */
function pluralOf(singular: string): string {
  if (singular.endsWith('endpoints')) return singular
  if (singular.endsWith('s') || singular.endsWith('x') || singular.endsWith('ch') || singular.endsWith('sh'))
    return `${singular}es`
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

interface CheckedNames extends Required<
  Pick<KindNames, 'group' | 'version' | 'kind' | 'listKind' | 'plural' | 'singular'>
> {
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

function checkKindNames({
  group,
  version,
  kind,
  listKind,
  plural,
  singular,
  shortNames,
  categories,
}: CheckedNames): void {
  if (group !== '')
    refuse(checkDnsSubdomain(group), 'group', { name: group, kind, advice: 'use a domain in lower case' })
  refuse(checkDns1035Label(version), 'version', { name: version, kind, advice: 'use v1, v1beta1 or v1alpha1' })
  for (const [part, name] of [
    ['kind', kind],
    ['listKind', listKind],
  ] as const) {
    refuse(checkDns1035Label(name.toLowerCase()), part, {
      name,
      kind,
      advice: 'use letters and digits, such as Website',
    })
  }
  if (listKind === kind)
    throw new RangeError(`listKind of ${kind} must differ from kind: leave it out to get ${kind}List`)
  const parts = [
    ['plural', [plural]],
    ['singular', [singular]],
    ['short name', shortNames],
    ['category', categories],
  ] as const
  for (const [part, names] of parts) {
    for (const name of names) refuse(checkDns1035Label(name), part, { name, kind, advice: 'use letters in lower case' })
  }
}

function refuse(
  complaints: readonly string[],
  part: string,
  { name, kind, advice }: { name: string; kind: string; advice: string },
): void {
  if (complaints.length > 0)
    throw new RangeError(
      `${part} ${quote(name)} of kind ${quote(kind)} is not allowed; ${advice}: ${complaints.join('; ')}`,
    )
}

/** A copy, so that freezing does not affect the schema object of the user. */
function ownCopy(schema: JsonObject): JsonObject {
  return parseJson(stringifyJson(schema)) as JsonObject
}
