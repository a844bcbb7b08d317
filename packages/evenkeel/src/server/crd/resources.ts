/**
 * The resources of a CRD: one record per served version, like any built-in resource.
 *
 * The paths of a scale subresource must hold numbers that a Scale can show. That is checked at every write, because
 * the schema need not say it.
 */
import {
  errorsOfEach,
  actionsAnnotation,
  checkDnsSubdomainName,
  checkPathSegmentName,
  defaultCustomObject,
  fieldError,
  FieldPath,
  getOwn,
  isJsonObject,
  lazyValidationRules,
  patternMatcher,
  readActionDefinitions,
  setOwn,
  validateCustomObject,
  type FieldError,
  type JsonObjectDraft,
  type JsonValue,
  type PrinterColumn,
  type Schema,
  type SchemaNode,
  type UnstructuredObject,
  type ValidateCustomOptions,
} from '#api'
import { assert } from '#base'
import type { ObjectDraft, Resource, ResourceStrategy, Subresource, Verb } from '@evenkeel/builtins'
import type { CustomResourceOptions, CustomResourceRules } from '../extensions/custom-resources.ts'
import type { Conversion } from './conversion.ts'
import type { CrdVersion, CustomResourceDefinition } from './crd.ts'
import { columnsFromPrinter } from './printer-columns.ts'
import { CrdVersions } from './versions.ts'

const verbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']
const actionVerbs: readonly Verb[] = ['create']
const streamVerbs: readonly Verb[] = ['get']
const connectVerbs: readonly Verb[] = ['create', 'get']

interface CrdResourceOptions {
  /** Objects written after this revision conform to the current CRD. */
  readonly since: number
  readonly retired: AbortSignal
  /** The converter between versions that differ in more than their name. */
  readonly conversion: Conversion | undefined
  /** Whether the CRD is being deleted, so that no instances may be created. */
  readonly isClosed: () => boolean
  /** What the embedding program adds to the kind. */
  readonly added: CustomResourceOptions | undefined
}

/** The resources of a CRD. */
export function crdResources(
  definition: CustomResourceDefinition,
  { since, retired, conversion, isClosed, added }: CrdResourceOptions,
): Resource[] {
  const {
    spec: { group, scope, versions },
  } = definition
  const names = definition.status?.acceptedNames ?? definition.spec.names
  const { plural, singular = '', kind, listKind = `${kind}List`, shortNames = [], categories = [] } = names
  const storage = { group, plural, kind, version: versions.find((version) => version.storage)?.name ?? '' }
  const actions = readActionDefinitions(definition.metadata.annotations?.[actionsAnnotation])
  const forms = new CrdVersions(definition, conversion)
  const reading = forms.reading(since)
  return versions
    .filter(({ served }) => served)
    .map((version) => {
      const schema = forms.schemaOf(version.name)
      assert(schema, 'every version has a form')
      return {
        group,
        version: version.name,
        kind,
        listKind,
        plural,
        singular,
        shortNames,
        categories,
        scope,
        verbs,
        storage,
        schema,
        retired,
        custom: true,
        subresources: [
          ...subresourcesOf(version, { group, kind }),
          ...actions.map((action) => ({
            name: action.name,
            role: 'action' as const,
            verbs: actionVerbs,
            group: 'evenkeel.dev',
            version: 'v1alpha1',
            kind: 'ActionRequest',
          })),
          ...addedSubresources(added, { group, version: version.name, kind }),
        ],
        actions,
        strategy: crdRules(version, { schema, warning: deprecationOf(version, definition), isClosed, added }),
        columns: printedColumns(version.additionalPrinterColumns ?? []),
        reading,
        ...(version.subresources?.scale && { scale: version.subresources.scale }),
      }
    })
}

/** Those that the embedding program serves. */
function addedSubresources(
  { streams = {}, connects = {} }: Partial<CustomResourceOptions> = {},
  own: Pick<Subresource, 'group' | 'version' | 'kind'>,
): Subresource[] {
  const options = { group: 'evenkeel.dev', version: 'v1alpha1', kind: 'ConnectOptions' }
  return [
    ...Object.keys(streams).map((name) => ({ name, role: 'stream' as const, verbs: streamVerbs, ...own })),
    ...Object.keys(connects).map((name) => ({ name, role: 'connect' as const, verbs: connectVerbs, ...options })),
  ]
}

function subresourcesOf(
  { name, subresources = {} }: CrdVersion,
  { group, kind }: { group: string; kind: string },
): Subresource[] {
  return [
    ...(subresources.status
      ? [{ name: 'status', role: 'part' as const, verbs: subresourceVerbs, group, version: name, kind }]
      : []),
    ...(subresources.scale
      ? [
          {
            name: 'scale',
            role: 'scale' as const,
            verbs: subresourceVerbs,
            group: 'autoscaling',
            version: 'v1',
            kind: 'Scale',
          },
        ]
      : []),
  ]
}

interface CrdRulesOptions {
  readonly schema: Schema
  readonly warning: string | undefined
  readonly isClosed: () => boolean
  readonly added: CustomResourceRules | undefined
}

function crdRules(
  { selectableFields = [], subresources: { scale } = {} }: CrdVersion,
  { schema, warning, isClosed, added: { names, deleteAnswers, statusOnCreate } = {} }: CrdRulesOptions,
): ResourceStrategy {
  const expressions = lazyValidationRules(schema.root)
  const check = (
    object: UnstructuredObject,
    old?: UnstructuredObject,
    options: Pick<ValidateCustomOptions, 'part' | 'warn'> = {},
  ): ReturnType<typeof validateCustomObject> => [
    ...validateCustomObject(object, schema.root, {
      matches: patternMatcher(),
      rules: expressions(),
      ...(old && { old: old }),
      ...options,
    }),
    ...scaleErrors(object, scale, options.part),
  ]
  return {
    checkName: names === 'path-segment' ? checkPathSegmentName : checkDnsSubdomainName,
    unconditionalUpdate: false,
    createOnUpdate: false,
    generation: true,
    returnsDeleted: deleteAnswers === 'object',
    ...(statusOnCreate === 'keep' && { statusOnCreate }),
    dependents: 'background',
    ratcheting: true,
    selectableFields: Object.fromEntries(
      selectableFields.map(({ jsonPath }) => [
        jsonPath.replace(/^\./, ''),
        (object: UnstructuredObject) => textAt(object, jsonPath),
      ]),
    ),
    default: (object: ObjectDraft) => {
      fillDefaults(object, schema.root)
    },
    validate: (object) => check(object),
    validateUpdate: (object, old, warn) => check(object, old, { warn }),
    validateStatusUpdate: (object, old, warn) => check(object, old, { part: 'status', warn }),
    ...(warning !== undefined && { deprecation: warning }),
    createForbidden: () =>
      isClosed() ? 'create not allowed while custom resource definition is terminating' : undefined,
  }
}

// Defaulting returns a new object, but the caller holds the old one.
function fillDefaults(object: JsonObjectDraft, schema: SchemaNode): void {
  const filled = defaultCustomObject(object, schema)
  if (filled !== object) for (const key of Object.keys(filled)) setOwn(object, key, filled[key])
}

// Fields are simple paths of names; a missing value is the empty text.
function textAt(object: UnstructuredObject, path: string): string {
  let value: unknown = object
  for (const name of path.split('.').filter((part) => part !== ''))
    value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

function deprecationOf(
  { deprecated, deprecationWarning, name }: CrdVersion,
  { spec: { group, names, versions } }: CustomResourceDefinition,
): string | undefined {
  if (!deprecated) return undefined
  if (deprecationWarning !== undefined && deprecationWarning !== '') return deprecationWarning
  const newer = versions
    .filter((version) => version.served && !version.deprecated)
    .map((version) => version.name)
    .at(0)
  return `${group}/${name} ${names.kind} is deprecated${newer === undefined ? '' : `; use ${group}/${newer} ${names.kind}`}`
}

/** If any path is invalid, all columns are dropped, as upstream does; the kind is still served. */
function printedColumns(columns: readonly PrinterColumn[]): Resource['columns'] {
  try {
    return columnsFromPrinter(columns)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return columnsFromPrinter([])
  }
}

type ScaleSubresource = NonNullable<NonNullable<CrdVersion['subresources']>['scale']>

const replicasMax = 2 ** 31 - 1

/** Errors at the paths of a scale; for a write to the status, those of the status only. */
export function scaleErrors(
  object: UnstructuredObject,
  scale: ScaleSubresource | undefined,
  part?: 'status',
): FieldError[] {
  if (scale === undefined) return []
  const { specReplicasPath, statusReplicasPath } = scale
  return errorsOfEach([...(part === 'status' ? [] : [specReplicasPath]), statusReplicasPath], (path) =>
    numberErrors(valueAt(object, path), path),
  )
}

/** The path is written as in the CRD, with its leading dot. */
function numberErrors(value: JsonValue | undefined, path: string): FieldError[] {
  if (typeof value !== 'number' && typeof value !== 'bigint') return []
  if (value < 0) return [fieldError.invalid(FieldPath.of(path), value, 'should be a non-negative integer')]
  return value > replicasMax
    ? [fieldError.invalid(FieldPath.of(path), value, `should be less than or equal to ${replicasMax}`)]
    : []
}

function valueAt(object: UnstructuredObject, path: string): JsonValue | undefined {
  let value: unknown = object
  for (const name of path.replace(/^\./, '').split('.')) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value as JsonValue | undefined
}
